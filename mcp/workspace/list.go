package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// maxListed bounds the files in one answer.
const maxListed = 2000

// errEnough ends a walk early.
var errEnough = errors.New("enough")

type listArgs struct {
	Path string `json:"path"`
	Glob string `json:"glob"`
}

func (w *workspace) listFiles(ctx context.Context, args listArgs) (string, error) {
	var glob *regexp.Regexp
	if args.Glob != "" {
		var err error
		if glob, err = compileGlob(args.Glob); err != nil {
			return "", err
		}
	}
	var found []string
	err := w.walk(ctx, args.Path, func(name, below string, _ fs.DirEntry) error {
		switch {
		case glob != nil && !glob.MatchString(below):
		case len(found) == maxListed:
			return errEnough
		default:
			found = append(found, name)
		}
		return nil
	})
	switch {
	case errors.Is(err, errEnough):
		found = append(found, fmt.Sprintf("[more than %d files; narrow it down with path or glob]", maxListed))
	case err != nil:
		return "", err
	case len(found) == 0:
		return "no files", nil
	}
	return strings.Join(found, "\n"), nil
}

// walk visits all that is not a directory below path, or path itself, sorted,
// without .git and without following links. name is relative to the root,
// below is relative to path. Directories that cannot be read are left out.
func (w *workspace) walk(ctx context.Context, start string, visit func(name, below string, entry fs.DirEntry) error) error {
	if start == "" {
		start = "."
	}
	top, err := w.relative(start)
	if err != nil {
		return err
	}
	top = filepath.ToSlash(top)
	return fs.WalkDir(w.root.FS(), top, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return errors.New("cancelled")
		case err != nil && name == top:
			return plain(start, err)
		case name != top && isGit(path.Base(name)):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case err != nil || entry.IsDir():
			return nil
		}
		below := strings.TrimPrefix(strings.TrimPrefix(name, top), "/")
		if top == "." {
			below = name
		}
		if below == "" {
			below = path.Base(name)
		}
		return visit(name, below, entry)
	})
}
