package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"agent/eventlog/event"
	"agent/internal/git"
	"agent/projections"
)

// deepenBy is how many commits are fetched when somebody looks at history.
const deepenBy = 500

// BeforeCall fetches more history for a tool of the built-in server that shows it: the
// server has no credentials, and often no network. It is tried once in a context, and
// needs the repository, not the work: where it fails, the tool says where history ends.
func (w *Copy) BeforeCall(ctx context.Context, s *projections.State, c *event.ToolRequested) error {
	if s.Workspace == nil || s.Workspace.InPlace || s.Workspace.Commit == "" || w.c.Own == nil || !w.c.Own(c.Server) || !looksBack(c) || w.deepened == s.Created.UUID {
		return nil
	}
	repo, err := git.Open(s.Workspace.Dir)
	if err != nil || !repo.Shallow() {
		return err
	}
	w.deepened = s.Created.UUID
	thaw, err := w.freeze(ctx, s)
	if err != nil {
		return err
	}
	defer thaw()
	if repo, err = w.existing(ctx, s); err != nil {
		return err
	}
	return errors.Join(repo.Deepen(ctx, s.Workspace.Commit, deepenBy, w.c.MaxBytes), ctx.Err())
}

// looksBack tells the tools that show history, and calls that name an older commit.
func looksBack(c *event.ToolRequested) bool {
	switch c.Tool {
	case "git_log", "git_blame":
		return true
	case "git_show", "git_diff", "git_restore":
		var args map[string]any
		_ = json.Unmarshal([]byte(c.Args.View()), &args) // what is malformed names nothing
		for _, name := range []string{"rev", "commit", "ref", "revision"} {
			if rev, _ := args[name].(string); rev != "" && rev != "HEAD" {
				return true
			}
		}
	}
	return false
}

// FilesAt reads files of a commit, without those that are not there or larger than most.
func FilesAt(ctx context.Context, dir, commit string, names []string, most int64) (map[string]string, error) {
	repo, err := git.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	found := map[string]string{}
	for _, name := range names {
		err := repo.Contents(ctx, []string{commit + ":" + name}, most, func(_, text string) { found[name] = text })
		if err != nil {
			return nil, fmt.Errorf("workspace: %w", err)
		}
	}
	return found, nil
}
