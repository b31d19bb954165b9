package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

type deleteArgs struct {
	Path *string `json:"path"`
}

func (w *workspace) deleteFile(_ context.Context, args deleteArgs) (string, error) {
	if err := required(map[string]*string{"path": args.Path}); err != nil {
		return "", err
	}
	return "deleted " + *args.Path, w.remove(*args.Path)
}

func (w *workspace) remove(path string) error {
	name, err := w.entry(path)
	if err != nil {
		return err
	}
	if err := w.root.Remove(name); err != nil {
		return plain(path, err)
	}
	return nil
}

type moveArgs struct {
	Path *string `json:"path"`
	To   *string `json:"to"`
}

func (w *workspace) moveFile(_ context.Context, args moveArgs) (string, error) {
	if err := required(map[string]*string{"path": args.Path, "to": args.To}); err != nil {
		return "", err
	}
	return fmt.Sprintf("moved %s to %s", *args.Path, *args.To), w.move(*args.Path, *args.To)
}

func (w *workspace) move(path, to string) error {
	from, err := w.entry(path)
	if err != nil {
		return err
	}
	name, err := w.free(to)
	if err != nil {
		return err
	}
	if err := w.makeParents(to, name); err != nil {
		return err
	}
	if err := w.root.Rename(from, name); err != nil {
		return plain(path, err)
	}
	return nil
}

// entry finds the directory entry of a file or a link, which is not followed: who
// deletes or moves a link means the link.
func (w *workspace) entry(path string) (string, error) {
	name, err := w.slot(path)
	if err != nil {
		return "", err
	}
	info, err := w.root.Lstat(name)
	switch {
	case err != nil:
		return "", plain(path, err)
	case info.IsDir():
		return "", fmt.Errorf("%q is a directory; use run_command for it", path)
	case !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0:
		return "", fmt.Errorf("%q is not a regular file", path)
	}
	return name, nil
}

// free finds the entry for a new file, and refuses one that is taken.
func (w *workspace) free(path string) (string, error) {
	name, err := w.slot(path)
	if err != nil {
		return "", err
	}
	switch _, err := w.root.Lstat(name); {
	case err == nil:
		return "", fmt.Errorf("%q exists already", path)
	case !errors.Is(err, fs.ErrNotExist):
		return "", plain(path, err)
	}
	return name, nil
}

// slot is where a path is, with the links of its directories followed, outside of .git.
func (w *workspace) slot(path string) (string, error) {
	name, err := w.relative(path)
	if err != nil {
		return "", err
	}
	dir, err := w.resolve(filepath.Dir(name))
	if err != nil {
		return "", plain(path, err)
	}
	name = filepath.Join(dir, filepath.Base(name))
	if slices.ContainsFunc(strings.Split(name, string(filepath.Separator)), isGit) {
		return "", fmt.Errorf("%q lies in .git, which is not written to", path)
	}
	return name, nil
}
