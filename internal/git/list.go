package git

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// Files returns the paths in the index, sorted, relative, with slashes.
// Submodules are one path each; untracked files are not among them.
func (r *Repo) Files(ctx context.Context) ([]string, error) {
	out, err := r.git(ctx, "ls-files", "-z")
	if err != nil || out == "" {
		return nil, err
	}
	paths := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	slices.Sort(paths)
	return slices.Compact(paths), nil // during a merge a path has several entries
}

// Entry is a file of a commit: its mode and the name of its content.
type Entry struct{ Mode, Name string }

// Entries are the files of a commit by their paths.
func (r *Repo) Entries(ctx context.Context, commit string) (map[string]Entry, error) {
	if !hexName(commit) {
		return nil, errors.New("git ls-tree: the commit must be the name of an object")
	}
	out, err := r.git(ctx, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return nil, err
	}
	entries := map[string]Entry{}
	for line := range strings.SplitSeq(out, "\x00") {
		meta, path, ok := strings.Cut(line, "\t")
		if field := strings.Fields(meta); ok && len(field) == 3 {
			entries[path] = Entry{field[0], field[2]}
		}
	}
	return entries, nil
}
