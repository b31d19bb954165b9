package git

import (
	"context"
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
