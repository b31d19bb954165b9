package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// maxLinks bounds the symbolic links followed in one path.
const maxLinks = 40

// maxPath is how many bytes of a path the system takes.
const maxPath = 4095

// relative makes a path relative to the root, "." for the root itself. It
// accepts absolute paths that lie inside.
func (w *workspace) relative(path string) (string, error) {
	if strings.ContainsRune(path, 0) {
		return "", errors.New("a path must not contain a NUL character")
	}
	if len(path) > maxPath {
		return "", fmt.Errorf("a path must not have more than %d bytes: no program could open the file", maxPath)
	}
	clean := filepath.Clean(path)
	if filepath.IsAbs(clean) {
		for _, base := range []string{w.dir, w.given} {
			if rel, err := filepath.Rel(base, clean); err == nil && filepath.IsLocal(rel) {
				return rel, nil
			}
		}
	}
	if !filepath.IsLocal(clean) {
		return "", fmt.Errorf("%q lies outside of the workspace", path)
	}
	return clean, nil
}

// target finds the file that a write to path would reach, links followed, and
// refuses what lies in .git.
func (w *workspace) target(path string) (string, error) {
	name, err := w.relative(path)
	if err != nil {
		return "", err
	}
	if name, err = w.resolve(name); err != nil {
		return "", plain(path, err)
	}
	if slices.ContainsFunc(strings.Split(name, string(filepath.Separator)), isGit) {
		return "", fmt.Errorf("%q lies in .git, which is not written to", path)
	}
	return name, nil
}

func isGit(name string) bool { return strings.EqualFold(name, ".git") }

var errOutside = errors.New("path escapes from parent")

// resolve follows the symbolic links of a relative path as far as it exists.
func (w *workspace) resolve(name string) (string, error) {
	done, rest := ".", strings.Split(name, string(filepath.Separator))
	for links := 0; len(rest) > 0; {
		next := filepath.Join(done, rest[0])
		rest = rest[1:]
		target, err := w.root.Readlink(next)
		if err != nil {
			if done = next; !filepath.IsLocal(done) {
				return "", errOutside
			}
			continue
		}
		if links++; links > maxLinks {
			return "", syscall.ELOOP
		}
		if filepath.IsAbs(target) {
			return "", errOutside // as the root itself would judge
		}
		rest = append(strings.Split(target, string(filepath.Separator)), rest...)
	}
	return done, nil
}

// openFile opens a regular file for reading, and never waits for a FIFO.
func (w *workspace) openFile(path string) (*os.File, fs.FileInfo, error) {
	name, err := w.relative(path)
	if err != nil {
		return nil, nil, err
	}
	f, err := w.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, plain(path, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
		if info.IsDir() {
			err = errors.New("a directory")
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, plain(path, err)
	}
	return f, info, nil
}

// plain says in one line what is wrong with a path.
func plain(path string, err error) error {
	var wrapped *fs.PathError
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if strings.Contains(err.Error(), errOutside.Error()) {
		return fmt.Errorf("%q leads outside of the workspace", path)
	}
	return fmt.Errorf("%q: %w", path, err)
}
