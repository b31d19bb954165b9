package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers"
	"agent/internal/app"
	"agent/internal/git"
	"agent/projections"
)

// workingCopy gives contexts their working copies: the configured repository in
// place, or a clone per context.
type workingCopy struct {
	system *system
	site   app.Site
}

func (w *workingCopy) Prepare(ctx context.Context, s *projections.State) (event.WorkspacePrepared, error) {
	if dir := w.site.Config.Workspace; dir != "" {
		return inPlace(ctx, dir), nil
	}
	if !w.system.needsWorkspace() {
		return event.WorkspacePrepared{}, nil
	}
	place, err := w.clone(ctx, s)
	if err != nil {
		return notCloned(err)
	}
	return place, nil
}

// clone makes the working copy of a context, or takes the one that is there. It
// begins at the head of a pull or merge request, else at the branch that the
// task names, the configured one, or the default branch.
func (w *workingCopy) clone(ctx context.Context, s *projections.State) (place event.WorkspacePrepared, err error) {
	o, repo, err := w.options(ctx, s)
	if err != nil {
		return place, err
	}
	place.Base = repo.DefaultBranch
	switch wanted := cmp.Or(handlers.BaseOf(s.Task.Body.View()), s.Config.Change.Base); {
	case s.Task.Branch != "":
		place.Base = s.Task.Branch
	case s.Task.Fork:
		o.Ref = headRef(s.Key)
	case wanted != "" && wanted != repo.DefaultBranch:
		there, err := git.HasBranch(ctx, o, wanted)
		switch {
		case err != nil:
			return place, err
		case there:
			place.Base = wanted
		default:
			place.Missing = wanted
		}
	}
	o.Branch = place.Base
	clone, err := git.Clone(ctx, o)
	if err != nil {
		return place, err
	}
	place.Dir = clone.Dir
	place.Commit, err = clone.Head(ctx)
	return place, err
}

// headRef is where a forge shows the head of a request that comes from a fork.
func headRef(key forge.TaskKey) string {
	if key.Kind == forge.GitLabMergeRequest {
		return fmt.Sprintf("refs/merge-requests/%d/head", key.Number)
	}
	return fmt.Sprintf("refs/pull/%d/head", key.Number)
}

// options are those of a clone, less what is to be checked out.
func (w *workingCopy) options(ctx context.Context, s *projections.State) (o git.Options, repo forge.Repository, err error) {
	if repo, err = w.site.Client.Repository(ctx, s.Key); err != nil {
		return o, repo, err
	}
	token, err := w.site.Token(ctx)
	return git.Options{URL: repo.CloneURL, Dir: w.system.cloneDir(s.Created.UUID), Token: token, AllowHTTP: w.system.Config.AllowHTTP, MaxBytes: int64(w.system.Config.MaxCloneMB) << 20,
		Author: author(w.site.Config.BotName), Context: s.Created.UUID}, repo, err
}

// reopen takes the working copy that was prepared. A new one would not hold the work.
func (w *workingCopy) reopen(ctx context.Context, s *projections.State) (*git.Repo, error) {
	o, _, err := w.options(ctx, s)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(o.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("the working copy is gone, and what was not pushed with it; a new label on the task begins anew")
	}
	o.Branch = s.Place.Base
	if s.Task.Fork {
		o.Ref = headRef(s.Key)
	}
	return git.Clone(ctx, o)
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
	var clone *git.Error
	if errors.As(err, &clone) && clone.Kind == git.TooLarge {
		return event.WorkspacePrepared{Error: clone.Error() + "; see max_clone_mb"}, nil
	}
	err = asForge(err)
	var failed *forge.Error
	if errors.As(err, &failed) && (failed.Kind == forge.NotFound || failed.Kind == forge.Forbidden) {
		return event.WorkspacePrepared{Error: failed.Error()}, nil
	}
	return event.WorkspacePrepared{}, err
}

// asForge gives errors of git that concern the forge the kinds of the forge's own.
func asForge(err error) error {
	var failed *git.Error
	if !errors.As(err, &failed) {
		return err
	}
	kinds := map[git.Kind]forge.ErrorKind{git.Gone: forge.NotFound, git.Refused: forge.Forbidden, git.Auth: forge.Auth, git.Unreachable: forge.Transient}
	if kind, ok := kinds[failed.Kind]; ok {
		return &forge.Error{Kind: kind, Op: "git " + failed.Op, Message: failed.Text}
	}
	return err
}

func author(bot string) string {
	if bot == "" {
		bot = "agent"
	}
	return bot + " <" + bot + "@users.noreply.invalid>"
}

// needsWorkspace reports whether any tool server works on a context's own copy.
func (s *system) needsWorkspace() bool {
	for _, m := range s.Config.MCPServers {
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

// published tells whether a context is done with its working copy: what it holds
// is pushed, is nothing, or is a patch beside the log.
func published(s *projections.State) bool {
	p := s.Publishing
	return s.Status == projections.Completed && (p.Opened != nil || p.Failed != nil && (p.Failed.Pushed || !p.Failed.Patch.IsZero()) ||
		p.Measured != nil && p.Measured.Error == "" && p.Measured.Count == 0 && len(p.Measured.LeftOut) == 0)
}

// discard removes the working copy of a context whose work was published.
func (s *system) discard(state *projections.State) {
	if !published(state) || state.Place == nil || state.Place.Dir != s.cloneDir(state.Created.UUID) {
		return
	}
	if err := os.RemoveAll(state.Place.Dir); err != nil {
		s.Log.Warn("working copy could not be removed", "error", err)
	}
}

// sweep discards what a process left that was killed after the end of a
// context. Only logs of contexts that are done are read for it.
func (s *system) sweep() {
	left, err := os.ReadDir(s.Config.WorkspacesDir)
	if err != nil {
		return // none was made yet
	}
	for _, dir := range left {
		if place, err := s.Store.Place(dir.Name()); err != nil || place != contexts.Completed {
			continue
		}
		state, err := fold(s.Store, dir.Name())
		if err == nil && state.Created != nil {
			s.discard(state)
		}
	}
}

func (s *system) cloneDir(uuid string) string { return filepath.Join(s.Config.WorkspacesDir, uuid) }
