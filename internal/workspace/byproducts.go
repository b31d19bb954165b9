package workspace

import (
	"context"
	"slices"

	"agent/eventlog/event"
	"agent/internal/byproducts"
	"agent/internal/git"
	"agent/projections"
)

// tree names the tree of the work: what differs from the commit that it began on,
// without what is too large and without by-products.
func tree(ctx context.Context, repo *git.Repo, s *projections.State) (name string, leftOut []string, without []event.ByProduct, err error) {
	fresh, known, err := repo.New(ctx, s.Workspace.Commit)
	if err != nil {
		return "", nil, nil, err
	}
	var paths []string
	for _, e := range byproducts.Find(fresh, slices.Concat(known, named(s, fresh))) {
		paths = append(paths, e.Path)
		without = append(without, event.ByProduct{Path: e.Path, Kind: e.Kind})
	}
	name, leftOut, err = repo.Tree(ctx, largestFile, paths)
	return name, leftOut, without, err
}

// named are those of new paths, or the directories of them, that an edit or the
// task names.
func named(s *projections.State, fresh []string) (names []string) {
	task := s.TaskPaths()
	for _, path := range fresh {
		if s.Named(path) {
			names = append(names, path)
		}
		if prefix := task.Prefix(path); prefix != "" {
			names = append(names, prefix)
		}
	}
	return names
}
