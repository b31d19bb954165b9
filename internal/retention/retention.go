// Package retention removes what is too old: it archives the logs of contexts
// that ended long ago, removes the oldest contexts, and removes working copies
// that nobody needs any more. What a working copy holds that was never published
// is kept as a patch beside the log. It makes projection files again that could not
// be saved. `agent gc` calls it, and every run once a day.
package retention

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"agent/contexts"
	"agent/handlers/engine"
	"agent/internal/caches"
	"agent/internal/config"
	"agent/internal/container"
	"agent/internal/fsx"
	"agent/internal/redact"
	"agent/internal/workspace"
)

// Collect removes working copies first, while their contexts say whose they are.
// A dry run changes nothing, and tells would what it would do. progress and would may be nil. Contexts that are damaged or in
// use are left alone and counted; an error ends the collection. When ctx is done it ends after the thing at hand.
func Collect(ctx context.Context, cfg *config.Config, store *contexts.Store, dry bool, progress func(done, of int), would func(contexts.Planned)) (contexts.Collected, error) {
	var report contexts.Collected
	r := contexts.Retention{Now: time.Now(), ArchiveAfter: cfg.ContextStorage.ArchiveAfterDays,
		RemoveAfter: cfg.ContextStorage.CleanupDays, DryRun: dry, Progress: progress, Would: would}
	if cfg.ContextInheritance.Enabled {
		r.InheritFor = cfg.ContextInheritance.ContextExpiryDays
	}
	if err := collectClones(ctx, cfg, store, r, &report); err != nil {
		return report, err
	}
	if err := rebuildUnsaved(ctx, store, r, &report); err != nil {
		return report, err
	}
	if err := collectCaches(ctx, cfg, store, r, &report); err != nil {
		return report, err
	}
	if err := collectImages(ctx, cfg, r, &report); err != nil {
		return report, err
	}
	return report, store.Collect(ctx, r, &report)
}

// unusedDays is after how many days nobody is expected to need a repository's caches, or an image.
const unusedDays = 30

func unused(r contexts.Retention) func(time.Time) bool {
	return func(since time.Time) bool { return r.Now.Sub(since) > unusedDays*24*time.Hour }
}

// collectImages removes container images that no task ran in.
func collectImages(ctx context.Context, cfg *config.Config, r contexts.Retention, c *contexts.Collected) error {
	images := container.Images{Dir: cfg.Sandbox.Container.Dir}
	return images.Collect(r.Now, func(used time.Time) bool { return ctx.Err() == nil && unused(r)(used) }, r.DryRun, func(id string, size int64) {
		r.Plan(contexts.Planned{Action: "remove_image", TaskKey: id, Bytes: size})
		c.Images++
		c.ImageBytes += size
	})
}

// collectCaches removes the caches of repositories that nobody works on, and what contexts left of theirs.
func collectCaches(ctx context.Context, cfg *config.Config, store *contexts.Store, r contexts.Retention, c *contexts.Collected) error {
	unused := unused(r)
	return caches.Caches{Root: cfg.CachesDir}.Collect(ctx, caches.Rules{DryRun: r.DryRun,
		Over: func(uuid string, made time.Time) bool {
			info, err := store.Info(uuid)
			if errors.Is(err, contexts.ErrUnknown) {
				return unused(made) // it may be one of another store
			}
			return err == nil && info.Over()
		},
		Old: func(used time.Time) bool { return cfg.MaxCacheMB == 0 || unused(used) },
		Removed: func(gone caches.Removed) {
			r.Plan(contexts.Planned{Action: "remove_cache", UUID: gone.UUID, TaskKey: gone.Repository, Bytes: gone.Bytes})
			c.Caches++
			c.CacheBytes += gone.Bytes
		}})
}

// rebuildUnsaved makes the projection files that could not be written when there was no room.
func rebuildUnsaved(ctx context.Context, store *contexts.Store, r contexts.Retention, c *contexts.Collected) error {
	uuids, err := engine.Unsaved(store)
	if err != nil {
		return err
	}
	for _, uuid := range uuids {
		if err = ctx.Err(); err == nil && !r.DryRun {
			err = engine.RebuildUnsaved(store, uuid)
		}
		if code := contexts.ExitCode(err); ctx.Err() != nil || code == contexts.ExitTemporary || code == contexts.ExitIO {
			return err // a disk that is full or fails is no problem of one context
		}
		if err != nil {
			c.Problem(uuid, err)
			continue
		}
		r.Plan(contexts.Planned{Action: "rebuild", UUID: uuid})
		c.Rebuilt++
	}
	return nil
}

// collectClones removes the working copies of contexts that ended long ago, or
// whose work is published. Directories that are not ours, or that belong to a
// context of another store, stay.
func collectClones(ctx context.Context, cfg *config.Config, store *contexts.Store, r contexts.Retention, c *contexts.Collected) error {
	root := cfg.WorkspacesDir
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := workspace.ContextOf(e.Name())
		id, err := uuid.Parse(name)
		if err != nil || id.String() != name || !e.IsDir() {
			continue
		}
		dir := filepath.Join(root, name)
		if _, err := os.Lstat(dir); name != e.Name() && err == nil {
			continue // it goes with the clone
		}
		info, err := store.Info(name)
		if err != nil || !r.Old(info) && !published(store, info) {
			continue
		}
		if name != e.Name() && (r.DryRun || !r.Old(info)) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if name != e.Name() {
			if err := workspace.Remove(dir); err != nil {
				return err
			}
			continue
		}
		if err := removeClone(ctx, cfg, store, info, dir, r, c); err != nil {
			return err
		}
	}
	return nil
}

func removeClone(ctx context.Context, cfg *config.Config, store *contexts.Store, info contexts.Info, dir string, r contexts.Retention, c *contexts.Collected) error {
	size := fsx.TreeSize(dir)
	if !r.DryRun {
		if err := keepPatch(ctx, cfg, store, info.UUID, dir); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			c.Problems++
			c.ProblemsNamed = append(c.ProblemsNamed, fmt.Sprintf("the working copy %s: %v", info.UUID, err))
			return nil
		}
		if err := workspace.Remove(dir); err != nil {
			return err
		}
	}
	r.Plan(contexts.Planned{Action: "remove_clone", UUID: info.UUID, TaskKey: info.TaskKey, Bytes: size})
	c.Clones++
	c.CloneBytes += size
	return nil
}

// keepPatch stores what was never published beside the log: the context was stopped, or failed.
func keepPatch(ctx context.Context, cfg *config.Config, store *contexts.Store, uuid, dir string) error {
	state, err := engine.ReadState(store, uuid)
	if err != nil {
		return err
	}
	patch, err := workspace.Unpublished(ctx, state, dir)
	if err != nil || len(patch) == 0 {
		return err
	}
	held, err := store.Acquire(uuid, nil)
	if err != nil {
		return err
	}
	patch = []byte(redact.New(cfg.Secrets()).Exact(string(patch)))
	return errors.Join(held.KeepPatch(patch), held.Close())
}

// published reports whether all that a working copy holds was published, or kept as a patch.
func published(store *contexts.Store, info contexts.Info) bool {
	if info.State != contexts.StateCompleted {
		return false
	}
	state, err := engine.ReadState(store, info.UUID)
	return err == nil && workspace.Published(state)
}
