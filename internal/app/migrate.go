package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"agent/contexts"
	"agent/internal/config"
	"agent/internal/fsx"
)

// errAlone is what import and export say where there is no cluster.
var errAlone = &config.Error{Problems: []config.Problem{{Where: "cluster", Text: "no cluster is configured: docs/cluster.md says how"}}}

// Import gives the cluster the contexts of a directory, by default those of this machine.
func Import(ctx context.Context, cfg *config.Config, dir string, warn func(error), progress func(done, of int)) (contexts.Imported, error) {
	if !cfg.Cluster.Shared() {
		return contexts.Imported{}, errAlone
	}
	store, err := OpenStore(cfg, warn)
	if err != nil {
		return contexts.Imported{}, err
	}
	from := store
	if dir != "" && !sameDir(dir, cfg.ContextsDir) {
		if from, err = openAside(dir, warn); err != nil {
			return contexts.Imported{}, err
		}
	}
	return store.Import(ctx, from, progress)
}

// openAside opens the contexts of another machine.
func openAside(dir string, warn func(error)) (*contexts.Store, error) {
	if _, err := os.Lstat(filepath.Join(dir, string(contexts.Completed))); err != nil {
		return nil, &StoreError{fmt.Errorf("%s holds no contexts: %w", dir, err)}
	}
	fsys, err := fsx.OpenOS(dir)
	if err != nil {
		return nil, &StoreError{err}
	}
	return contexts.Open(fsys, contexts.Options{Now: time.Now, Dir: dir, Warn: warn})
}

// Export writes the contexts of the cluster into a directory, which is made if need be.
func Export(ctx context.Context, cfg *config.Config, dir string, warn func(error), progress func(done, of int)) (contexts.Exported, error) {
	switch {
	case !cfg.Cluster.Shared():
		return contexts.Exported{}, errAlone
	case sameDir(dir, cfg.ContextsDir):
		return contexts.Exported{}, &StoreError{errors.New("this is contexts_dir itself: name another directory")}
	}
	store, err := OpenStore(cfg, warn)
	if err != nil {
		return contexts.Exported{}, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return contexts.Exported{}, &StoreError{err}
	}
	fsys, err := fsx.OpenOS(dir)
	if err != nil {
		return contexts.Exported{}, &StoreError{err}
	}
	return store.Export(ctx, fsys, dir, progress)
}

func sameDir(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}
