package workspace

import (
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

type writeArgs struct {
	Path    *string `json:"path"`
	Content *string `json:"content"`
}

func (w *workspace) writeFile(ctx context.Context, args writeArgs) (string, error) {
	if err := required(map[string]*string{"path": args.Path, "content": args.Content}); err != nil {
		return "", err
	}
	path, text := *args.Path, *args.Content
	d, err := w.load(path)
	if err != nil { // a new file, or none of text: what cannot be written the write says
		d = document{path: path, name: path}
	}
	before := d.text
	var kept []string
	if d.name != path || d.text != "" {
		text, kept = d.keep(text)
	}
	d.text = text
	if err := w.save(d); err != nil {
		return "", err
	}
	said := fmt.Sprintf("wrote %d bytes to %s", len(*args.Content), path)
	if kept != nil {
		said += "; kept " + strings.Join(kept, " and ")
	}
	return said + w.syntaxHint(ctx, path, before, text), nil
}

// document is a text file as an edit sees it.
type document struct {
	path string // as given
	name string // relative to the root
	text string // without the byte order mark
	charset
}

// load reads a text file whole.
func (w *workspace) load(path string) (d document, err error) {
	f, info, err := w.openFile(path)
	if err != nil {
		return d, err
	}
	defer f.Close()
	if info.Size() > maxEdit {
		return d, fmt.Errorf("%q has %d bytes, too many for an edit", path, info.Size())
	}
	data, err := io.ReadAll(io.LimitReader(f, maxEdit))
	if err != nil {
		return d, plain(path, err)
	}
	d = document{path: path}
	if d.name, err = w.relative(path); err != nil {
		return d, err
	}
	d.text, d.charset, err = decodeText(data)
	if err != nil {
		return d, fmt.Errorf("%q is a binary file of %d bytes", path, info.Size())
	}
	return d, nil
}

// save puts the text into the place of the file, in its encoding.
func (w *workspace) save(d document) error {
	data, err := d.encode(d.text)
	if err != nil {
		return fmt.Errorf("%q: %w; write it with escapes, or delete the file first to write it anew as UTF-8", d.path, err)
	}
	return w.replace(d.path, data)
}

// keep gives a new text of the whole file the line ends of the old one, and says
// what stays as it was.
func (d document) keep(text string) (string, []string) {
	var kept []string
	if d.charset.name != "" {
		kept = append(kept, d.charset.name)
	}
	ends := strings.Count(d.text, "\n")
	if ends > 0 && strings.Count(d.text, crlf) == ends && strings.Contains(text, "\n") && !strings.Contains(text, crlf) {
		return strings.ReplaceAll(text, "\n", crlf), append(kept, "CRLF line ends")
	}
	return text, kept
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
	if err := w.makeParents(path, name); err != nil {
		return err
	}
	temporary := filepath.Join(filepath.Dir(name), ".agent-"+rand.Text()+".tmp")
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

// makeParents makes the directories that a file is to lie in.
func (w *workspace) makeParents(path, name string) error {
	err := w.root.MkdirAll(filepath.Dir(name), 0o777)
	switch {
	case errors.Is(err, fs.ErrExist):
		return plain(path, syscall.ENOTDIR) // it says "file exists" of a file in the way
	case err != nil:
		return plain(path, err)
	}
	return nil
}
