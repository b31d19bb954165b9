package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/internal/config"
	"agent/internal/git"
	"agent/internal/sanitize"
)

func (a *cli) gcCommand() *cobra.Command {
	dry, asJSON := false, false
	cmd := &cobra.Command{
		Use: "gc", Short: "Archive old contexts, and remove what is too old", Args: cobra.NoArgs,
		Long: `gc packs the logs of contexts that ended context_storage.archive_after_days ago (every
command still reads them), removes contexts that ended context_storage.cleanup_days ago,
lock files that nobody needs, working copies whose work is published, and those of contexts
that ended archive_after_days ago otherwise; what these hold stays as change.patch beside
the log. It never touches a context that runs or is paused, and keeps the one that the next
go at its task inherits from. run and loop do the same once a day.`,
		Example: `  agent gc --dry-run
  agent gc --json | jq .archived`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.loadConfig(config.Offline())
			if err != nil {
				return err
			}
			store, err := openAs(cfg, dry, func(err error) { fmt.Fprintln(a.err, "agent: warning: "+sanitize.Terminal(err.Error())) })
			if err != nil {
				return err
			}
			show := a.progress("contexts")
			report, err := collect(cmd.Context(), cfg, store, dry, show.step)
			show.end()
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(report)
			}
			a.printCollected(report)
			return nil
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be done")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return cmd
}

func (a *cli) printCollected(c contexts.Collected) {
	archived, removed := "archived", "removed"
	if c.DryRun {
		archived, removed = "would archive", "would remove"
	}
	fmt.Fprintf(a.out, "%s %d contexts, %s", archived, c.Archived, bytesText(c.ArchivedFrom))
	if !c.DryRun {
		fmt.Fprintf(a.out, " to %s", bytesText(c.ArchivedTo))
	}
	fmt.Fprintf(a.out, "\n%s %d contexts, %s\n", removed, c.Removed, bytesText(c.RemovedBytes))
	fmt.Fprintf(a.out, "%s %d working copies, %s\n", removed, c.Clones, bytesText(c.CloneBytes))
	fmt.Fprintf(a.out, "%s %d lock files\n", removed, c.Locks)
	if c.Inheritable > 0 {
		fmt.Fprintf(a.out, "kept %d contexts that the next go at their task inherits from\n", c.Inheritable)
	}
	if c.Busy > 0 {
		fmt.Fprintf(a.out, "left %d contexts that another process works on\n", c.Busy)
	}
	for _, p := range c.ProblemsNamed {
		fmt.Fprintln(a.out, "left "+sanitize.Line(p, 500))
	}
	if more := c.Problems - len(c.ProblemsNamed); more > 0 {
		fmt.Fprintf(a.out, "left %d more that are damaged\n", more)
	}
}

// bytesText shows a number of bytes in the largest unit that fits.
func bytesText(n int64) string {
	switch {
	case n < 10<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 10<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// collect removes working copies first, while their contexts say whose they are.
func collect(ctx context.Context, cfg *config.Config, store *contexts.Store, dry bool, progress func(done, of int)) (contexts.Collected, error) {
	var report contexts.Collected
	r := contexts.Retention{Now: time.Now(), ArchiveAfter: cfg.ContextStorage.ArchiveAfterDays,
		RemoveAfter: cfg.ContextStorage.CleanupDays, DryRun: dry, Progress: progress}
	if cfg.ContextInheritance.Enabled {
		r.InheritFor = cfg.ContextInheritance.ContextExpiryDays
	}
	if err := collectClones(ctx, cfg.WorkspacesDir, store, r, &report); err != nil {
		return report, err
	}
	return report, store.Collect(ctx, r, &report)
}

// collectClones removes the working copies of contexts that ended long ago, or
// whose work is published.
// What is none of ours, or of a context that is not known here, stays.
func collectClones(ctx context.Context, dir string, store *contexts.Store, r contexts.Retention, c *contexts.Collected) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		id, err := uuid.Parse(e.Name())
		if err != nil || id.String() != e.Name() || !e.IsDir() {
			continue
		}
		info, err := store.Info(e.Name())
		if err != nil || !r.Old(info) && !finished(store, info) {
			continue
		}
		name := filepath.Join(dir, e.Name())
		size := treeSize(name)
		if !r.DryRun {
			if err := keepPatch(ctx, store, e.Name(), name); err != nil {
				c.Problems++
				c.ProblemsNamed = append(c.ProblemsNamed, fmt.Sprintf("the working copy %s: %v", e.Name(), err))
				continue
			}
			if err := os.RemoveAll(name); err != nil {
				return err
			}
		}
		c.Clones++
		c.CloneBytes += size
	}
	return nil
}

// keepPatch puts what a working copy holds beyond the commit that it began on, and
// that went nowhere, beside the log: the context was stopped, or failed.
func keepPatch(ctx context.Context, store *contexts.Store, uuid, dir string) error {
	state, err := fold(store, uuid)
	if err != nil || state.Place == nil || state.Place.InPlace || state.Place.Commit == "" || published(state) {
		return err
	}
	repo, err := git.Open(dir)
	if err != nil {
		return err
	}
	tree, _, err := repo.Tree(ctx, largestFile)
	if err != nil {
		return err
	}
	commit, err := repo.Commit(ctx, git.CommitSpec{Branch: patchBranch, Base: state.Place.Commit, Tree: tree, Message: state.Created.Title,
		Author: author(state.Config.Bot), Trailer: trailer(uuid), When: state.Now})
	if err != nil || commit == state.Place.Commit {
		return err
	}
	patch, err := repo.Patch(ctx, state.Place.Commit, commit)
	if err != nil {
		return err
	}
	held, err := store.Acquire(uuid, nil)
	if err != nil {
		return err
	}
	return errors.Join(held.KeepPatch(patch), held.Close())
}

// finished tells whether all that a working copy holds was published, or kept as a patch.
func finished(store *contexts.Store, info contexts.Info) bool {
	if !info.Over() {
		return false
	}
	state, err := fold(store, info.UUID)
	return err == nil && published(state)
}

func treeSize(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				total += info.Size()
			}
		}
		return nil // for people only: what cannot be read does not count
	})
	return total
}

// collectDaily does what gc does, once a day. Nothing depends on it.
func (r *round) collectDaily(ctx context.Context) {
	if contexts.Day(time.Now()) == contexts.Day(r.Store.LastCollected().Time) {
		return
	}
	report, err := collect(ctx, r.Config, r.Store, false, nil)
	switch {
	case err == nil:
		r.Log.Info("old contexts were collected", "archived", report.Archived, "removed", report.Removed, "clones", report.Clones,
			"kept", report.Inheritable, "busy", report.Busy, "problems", report.Problems)
	case ctx.Err() == nil && !errors.Is(err, contexts.ErrBusy):
		r.Log.Warn("old contexts could not be collected", "error", err)
	}
}
