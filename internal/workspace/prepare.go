package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers"
	"agent/handlers/engine"
	"agent/internal/git"
	"agent/internal/snapshot"
	"agent/projections"
)

// Prepare takes the configured directory as it is, or clones the repository.
// Where no tool server works on a copy there is none, and nothing is cloned.
func (w *Copy) Prepare(ctx context.Context, s *projections.State) (event.WorkspacePrepared, error) {
	if w.c.InPlace != "" {
		return inPlace(ctx, w.c.InPlace), nil
	}
	if !w.c.Needed {
		return event.WorkspacePrepared{}, nil
	}
	prepared, err := w.clone(ctx, s)
	if err != nil {
		return notCloned(err)
	}
	return prepared, nil
}

// clone makes the working copy of a context, or takes the one that is there.
func (w *Copy) clone(ctx context.Context, s *projections.State) (prepared event.WorkspacePrepared, err error) {
	o, err := w.begins(ctx, s, &prepared)
	if err != nil {
		return prepared, err
	}
	clone, err := w.takeAhead(ctx, o)
	if clone == nil && err == nil {
		if err = clearPlace(o.Dir); err == nil {
			clone, err = git.Clone(ctx, o)
		}
	}
	if err != nil {
		if empty, lookErr := git.IsEmpty(ctx, o); empty && lookErr == nil {
			return event.WorkspacePrepared{Reason: "empty", Error: "the repository has no commit"}, nil
		}
		return prepared, err
	}
	prepared.Dir, prepared.Shallow = clone.Dir, clone.Shallow()
	if prepared.Commit, err = headOf(ctx, clone); err != nil {
		return prepared, err
	}
	prepared.Continued, err = w.takeOver(ctx, s, clone, prepared.Commit)
	if err == nil && clone.Made {
		w.cloned = s.Created.UUID
	}
	return prepared, err
}

// begins says what is cloned: the head of a pull or merge request, else the branch that the task names, the
// configured one, or the default branch.
func (w *Copy) begins(ctx context.Context, s *projections.State, prepared *event.WorkspacePrepared) (git.Options, error) {
	o, repo, err := w.options(ctx, s)
	if err != nil {
		return o, err
	}
	prepared.Base = repo.DefaultBranch
	switch wanted := cmp.Or(handlers.BaseOf(s.Task.Body.View()), s.Config.Change.Base); {
	case s.Task.Branch != "":
		prepared.Base = s.Task.Branch
	case s.Task.Fork:
		o.Ref = w.c.ChangeRef(s.Key.Number)
	case wanted != "" && wanted != repo.DefaultBranch:
		there, err := git.HasBranch(ctx, o, wanted)
		switch {
		case err != nil:
			return o, err
		case there:
			prepared.Base = wanted
		default:
			prepared.Missing = wanted
		}
	}
	o.Branch = prepared.Base
	return o, nil
}

// headOf is the commit that is checked out. git is asked only where the files of .git do not tell.
func headOf(ctx context.Context, clone *git.Repo) (string, error) {
	if commit := snapshot.Head(clone.Dir); commit != "" {
		return commit, nil
	}
	return clone.Head(ctx)
}

// options are those of a clone, less what is to be checked out.
func (w *Copy) options(ctx context.Context, s *projections.State) (o git.Options, repo forge.Repository, err error) {
	if s.Fork != nil && s.Fork.InPlace != "" { // what the origin has there may be nowhere else
		return git.Options{URL: s.Fork.InPlace, Dir: w.c.dirOf(s.Created.UUID), MaxBytes: w.c.MaxBytes,
			Author: author(w.c.Bot), Context: s.Created.UUID}, repo, nil
	}
	if repo, err = w.c.Forge.Repository(ctx, s.Key); err != nil {
		return o, repo, err
	}
	if w.c.Allow != nil {
		if err := w.c.Allow(repo.CloneURL); err != nil {
			return o, repo, &engine.Temporary{Err: err}
		}
	}
	token, err := w.c.Token(ctx)
	depth := w.c.Depth
	if depth == 0 {
		depth = -1
	}
	return git.Options{Depth: depth, Tags: w.c.Tags,
		URL: repo.CloneURL, Formerly: formerly(repo.CloneURL, s), Dir: w.c.dirOf(s.Created.UUID), Token: token, AllowHTTP: w.c.AllowHTTP, MaxBytes: w.c.MaxBytes,
		Author: author(w.c.Bot), Context: s.Created.UUID}, repo, err
}

// formerly are the addresses of a repository under the names that it had before.
func formerly(now string, s *projections.State) (before []string) {
	scheme, _, ok := strings.Cut(now, "://")
	for _, key := range append(s.Earlier, s.Key) {
		if ok {
			before = append(before, scheme+"://"+key.Host+"/"+key.Project+".git")
		}
	}
	return before
}

// existing takes the working copy that was prepared. A new one would not hold the work.
// It is there also where the repository is not any more.
func (w *Copy) existing(ctx context.Context, s *projections.State) (*git.Repo, error) {
	o, _, err := w.options(ctx, s)
	switch {
	case err != nil && !isTemporary(err) && ctx.Err() == nil && s.Workspace.Dir == w.c.dirOf(s.Created.UUID):
		if repo, openErr := git.Open(s.Workspace.Dir); openErr == nil {
			return repo, nil
		}
		return nil, err
	case err != nil:
		return nil, err
	}
	if _, err := os.Lstat(o.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("the working copy is gone, and what was not pushed with it; a new label on the task begins anew")
	}
	o.Branch = s.Workspace.Base
	if s.Task.Fork {
		o.Ref = w.c.ChangeRef(s.Key.Number)
	}
	return git.Clone(ctx, o)
}

func inPlace(ctx context.Context, dir string) event.WorkspacePrepared {
	prepared := event.WorkspacePrepared{Dir: dir, InPlace: true}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		prepared.Error = fmt.Sprintf("the configured workspace %s is not a directory", dir)
		return prepared
	}
	if repo, err := git.Open(dir); err == nil {
		prepared.Shallow = repo.Shallow()
		prepared.Commit, _ = repo.Head(ctx) // a directory without commits can be worked on as well
	}
	return prepared
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
	kinds := map[git.Kind]forge.ErrorKind{git.Gone: forge.NotFound, git.Refused: forge.Forbidden, git.Auth: forge.Auth, git.Certificate: forge.Certificate, git.Unreachable: forge.Transient}
	if kind, ok := kinds[failed.Kind]; ok {
		return &forge.Error{Kind: kind, Op: "git " + failed.Op, Message: failed.Text}
	}
	return err
}
