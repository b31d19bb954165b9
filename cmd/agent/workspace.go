package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"agent/eventlog/event"
	"agent/forge"
	"agent/internal/git"
	"agent/projections"
)

// workingCopy gives contexts their working copies: the configured repository in
// place, or a clone per context.
type workingCopy struct {
	system *system
	site   site
}

func (w *workingCopy) Prepare(ctx context.Context, s *projections.State) (event.WorkspacePrepared, error) {
	if dir := w.site.config.Workspace; dir != "" {
		return inPlace(ctx, dir), nil
	}
	if !w.system.needsWorkspace() {
		return event.WorkspacePrepared{}, nil
	}
	clone, base, err := w.clone(ctx, s)
	if err != nil {
		return notCloned(err)
	}
	commit, err := clone.Head(ctx)
	return event.WorkspacePrepared{Dir: clone.Dir, Base: base, Commit: commit}, err
}

// clone makes the working copy of a context, or takes the one that is there. It
// begins at the head of a pull or merge request, else at the default branch.
func (w *workingCopy) clone(ctx context.Context, s *projections.State) (clone *git.Repo, base string, err error) {
	repo, err := w.site.client.Repository(ctx, s.Key)
	if err != nil {
		return nil, "", err
	}
	token, err := w.site.token(ctx)
	if err != nil {
		return nil, "", err
	}
	base = cmp.Or(s.Task.Branch, repo.DefaultBranch)
	clone, err = git.Clone(ctx, git.Options{URL: repo.CloneURL, Dir: w.system.cloneDir(s.Created.UUID),
		Branch: base, Token: token, AllowHTTP: w.system.config.AllowHTTP})
	return clone, base, err
}

func inPlace(ctx context.Context, dir string) event.WorkspacePrepared {
	place := event.WorkspacePrepared{Dir: dir, InPlace: true}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		place.Error = fmt.Sprintf("the configured workspace %s is not a directory", dir)
		return place
	}
	if repo, err := git.Open(dir); err == nil {
		place.Commit, _ = repo.Head(ctx) // a directory without commits can be worked on as well
	}
	return place
}

// notCloned tells a repository that is not there from a forge that does not answer.
func notCloned(err error) (event.WorkspacePrepared, error) {
	var failed *forge.Error
	if errors.As(err, &failed) && (failed.Kind == forge.NotFound || failed.Kind == forge.Forbidden) {
		return event.WorkspacePrepared{Error: failed.Error()}, nil
	}
	return event.WorkspacePrepared{}, err
}

func (w *workingCopy) Publish(ctx context.Context, s *projections.State, branch, message string) (string, []string, error) {
	repo, _, err := w.clone(ctx, s)
	if err != nil {
		return "", nil, err
	}
	commit, _, err := repo.CommitAll(ctx, branch, message, author(w.site.config.BotName))
	if err != nil {
		return "", nil, err
	}
	files, err := repo.Changed(ctx, s.Place.Commit)
	if err != nil || len(files) == 0 {
		return commit, nil, err
	}
	return commit, files, repo.Push(ctx, branch)
}

func author(bot string) string {
	if bot == "" {
		bot = "agent"
	}
	return bot + " <" + bot + "@users.noreply.invalid>"
}

// needsWorkspace reports whether any tool server works on a context's own copy.
func (s *system) needsWorkspace() bool {
	for _, m := range s.config.MCPServers {
		if strings.Contains(strings.Join(m.Command, "\x00"), "{workspace}") {
			return true
		}
		for _, v := range m.Env {
			if strings.Contains(v, "{workspace}") {
				return true
			}
		}
	}
	return false
}

// discard removes the working copy of a context whose work was published.
func (s *system) discard(state *projections.State) {
	if state.Status != projections.Completed || state.Change == nil || state.Place == nil || state.Place.Dir != s.cloneDir(state.Created.UUID) {
		return
	}
	if err := os.RemoveAll(state.Place.Dir); err != nil {
		s.log.Warn("working copy could not be removed", "error", err)
	}
}

// sweep discards what a process left that was killed after the end of a context.
func (s *system) sweep() {
	left, err := os.ReadDir(s.config.WorkspacesDir)
	if err != nil {
		return // none was made yet
	}
	for _, dir := range left {
		state, err := fold(s.store, dir.Name())
		if err == nil && state.Created != nil {
			s.discard(state)
		}
	}
}

func (s *system) cloneDir(uuid string) string { return filepath.Join(s.config.WorkspacesDir, uuid) }
