package workspace

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// heavy are directories that are left out where no git says what belongs to the project.
var heavy = []string{"node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache", ".pytest_cache", ".gradle", ".cache"}

// maxPaths bounds the list of git, in bytes.
const maxPaths = 64 << 20

// paths lists what is not a directory below a path, or the path itself, as git
// knows it: what .gitignore names is left out, unless the path lies in it or all
// is asked for. Names are relative to the root, sorted.
func (w *workspace) paths(ctx context.Context, start string, all bool) ([]string, error) {
	if start == "" {
		start = "."
	}
	top, err := w.relative(start)
	if err != nil {
		return nil, err
	}
	info, err := w.root.Stat(top)
	switch {
	case err != nil && !isLink(w, top):
		return nil, plain(start, err)
	case err != nil || !info.IsDir():
		return []string{filepath.ToSlash(top)}, nil
	}
	if !all && isDir(w, top) {
		if list := w.known(ctx, top); len(list) > 0 {
			return list, nil
		}
	}
	return w.walk(ctx, start, top, all)
}

// isDir reports whether a path is a directory without a link on the way: git
// looks at no other.
func isDir(w *workspace, top string) bool {
	target, err := w.resolve(top)
	return err == nil && target == top
}

func isLink(w *workspace, name string) bool {
	info, err := w.root.Lstat(name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// known are the files that git knows, and those that it would add.
func (w *workspace) known(ctx context.Context, top string) []string {
	r, err := w.gitOutput(ctx, maxPaths, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "--", ":(literal)"+filepath.ToSlash(top))
	if err != nil || r.code != 0 || r.output.left() > 0 {
		return nil
	}
	list := strings.Split(strings.TrimSuffix(string(r.output.head), "\x00"), "\x00")
	list = slices.DeleteFunc(list, func(name string) bool {
		return name == "" || slices.ContainsFunc(strings.Split(name, "/"), isGit)
	})
	slices.Sort(list)
	return list
}

// walk visits what git does not list. Directories that cannot be read are left out.
func (w *workspace) walk(ctx context.Context, start, top string, all bool) (list []string, err error) {
	top = filepath.ToSlash(top)
	err = fs.WalkDir(w.root.FS(), top, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return errors.New("cancelled")
		case err != nil && name == top:
			return plain(start, err)
		case name != top && (isGit(path.Base(name)) || !all && entry.IsDir() && slices.Contains(heavy, path.Base(name))):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case err != nil || entry.IsDir():
			return nil
		}
		list = append(list, name)
		return nil
	})
	slices.Sort(list)
	return list, err
}

// below is a path relative to the one that was asked for, or its name if it is that one.
func below(name, top string) string {
	if top = filepath.ToSlash(filepath.Clean(top)); top == "." {
		return name
	}
	if rest, ok := strings.CutPrefix(name, top+"/"); ok {
		return rest
	}
	return path.Base(name)
}

// rank orders files by what is likely meant: what the words name, source, tests,
// other texts, and last what was generated or copied.
func rank(name string, word string) int {
	lower := strings.ToLower(name)
	base, ext := path.Base(lower), path.Ext(lower)
	switch {
	case generated(lower, base):
		return 4
	case word != "" && strings.Contains(lower, word):
		return 0
	case strings.Contains(lower, "test") || strings.Contains(lower, "spec.") || strings.Contains(lower, "example"):
		return 2
	case slices.Contains([]string{".md", ".rst", ".txt", ".json", ".yaml", ".yml", ".toml", ".xml", ".html", ".csv", ".po", ".svg", ".log"}, ext):
		return 3
	}
	return 1
}

func generated(lower, base string) bool {
	for _, dir := range []string{"vendor/", "third_party/", "node_modules/", "dist/", "build/", "generated/", "testdata/", "fixtures/", "__snapshots__/"} {
		if strings.HasPrefix(lower, dir) || strings.Contains(lower, "/"+dir) {
			return true
		}
	}
	for _, mark := range []string{".min.", ".pb.", "_pb2.", ".lock", "-lock.", "lock.json", ".sum", ".generated.", "_generated.", ".snap", ".map", "_string.go"} {
		if strings.Contains(base, mark) {
			return true
		}
	}
	return false
}
