package workspace

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxEdit bounds the file that edit_file loads, in bytes.
const maxEdit = 16 << 20

type writeArgs struct {
	Path    *string `json:"path"`
	Content *string `json:"content"`
}

func (w *workspace) writeFile(_ context.Context, args writeArgs) (string, error) {
	if err := required(map[string]*string{"path": args.Path, "content": args.Content}); err != nil {
		return "", err
	}
	if err := w.replace(*args.Path, []byte(*args.Content)); err != nil {
		return "", err
	}
	return fmt.Sprintf("wrote %d bytes to %s", len(*args.Content), *args.Path), nil
}

type editArgs struct {
	Path *string `json:"path"`
	Old  *string `json:"old_text"`
	New  *string `json:"new_text"`
}

func (w *workspace) editFile(_ context.Context, args editArgs) (string, error) {
	if err := required(map[string]*string{"path": args.Path, "old_text": args.Old, "new_text": args.New}); err != nil {
		return "", err
	}
	switch {
	case *args.Old == "":
		return "", errors.New("old_text is empty")
	case *args.Old == *args.New:
		return "", errors.New("old_text and new_text are the same")
	}
	f, info, err := w.openFile(*args.Path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info.Size() > maxEdit {
		return "", fmt.Errorf("%q has %d bytes, too many for an edit", *args.Path, info.Size())
	}
	text, err := io.ReadAll(io.LimitReader(f, maxEdit))
	if err != nil {
		return "", plain(*args.Path, err)
	}
	edited, lines := replaceLines(text, *args.Old, *args.New)
	switch len(lines) {
	case 0:
		return "", fmt.Errorf("old_text is not in %q", *args.Path)
	case 1:
	default:
		return "", fmt.Errorf("old_text occurs %d times in %q, at lines %s; add surrounding text", len(lines), *args.Path, listed(lines))
	}
	if err := w.replace(*args.Path, edited); err != nil {
		return "", err
	}
	return fmt.Sprintf("edited %s at line %d", *args.Path, lines[0]), nil
}

// matches returns the line of every place where old begins, overlapping ones
// too: with them the choice would be ambiguous as well.
func matches(text, old []byte) []int {
	var lines []int
	line := 1
	for at := 0; ; {
		i := bytes.Index(text[at:], old)
		if i < 0 {
			return lines
		}
		line += bytes.Count(text[at:at+i], []byte("\n"))
		lines = append(lines, line)
		if text[at+i] == '\n' {
			line++
		}
		at += i + 1
	}
}

func listed(lines []int) string {
	const most = 10
	var all []string
	for i, line := range lines {
		if i == most {
			all = append(all, "…")
			break
		}
		all = append(all, fmt.Sprint(line))
	}
	return strings.Join(all, ", ")
}

// replace puts a file with this content in the place of path, in one step. An
// old file's permissions are kept; of links the target is replaced.
func (w *workspace) replace(path string, content []byte) error {
	name, err := w.target(path)
	if err != nil {
		return err
	}
	info, err := w.root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%q is not a regular file", path)
	}
	dir := filepath.Dir(name)
	if err := w.root.MkdirAll(dir, 0o777); errors.Is(err, fs.ErrExist) {
		return plain(path, syscall.ENOTDIR) // it says "file exists" of a file in the way
	} else if err != nil {
		return plain(path, err)
	}
	temporary := filepath.Join(dir, ".agent-"+rand.Text()+".tmp")
	if err = w.create(temporary, content, info); err == nil {
		err = w.root.Rename(temporary, name)
	}
	if err != nil {
		_ = w.root.Remove(temporary)
		return plain(path, err)
	}
	return nil
}

// create writes a new file with the permissions of old, if there is one.
func (w *workspace) create(name string, content []byte, old fs.FileInfo) error {
	f, err := w.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if old != nil && err == nil {
		err = f.Chmod(old.Mode().Perm())
	}
	return errors.Join(err, f.Close())
}
