package workspace

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers/engine"
	"agent/internal/git"
	"agent/internal/sanitize"
	"agent/projections"
)

const (
	largestFile = 50 << 20 // bytes; forges warn from there on, and refuse twice that
	listedFiles = 500      // of a change, in its event
	longestPath = 512      // bytes of a path there
)

// Measure says what the working copy holds that was not there at the beginning.
func (w *Copy) Measure(ctx context.Context, s *projections.State) (m event.ChangeMeasured, err error) {
	m.Files = []event.ChangedFile{}
	thaw, err := w.freeze(ctx, s)
	if err != nil {
		return m, &engine.Temporary{Err: err} // a machine with much to do: the next run has new processes
	}
	defer thaw()
	err = w.measure(ctx, s, &m)
	if err != nil && !isTemporary(err) && !git.IsMachine(err) && s.Saved.Seq > 0 && !s.Workspace.InPlace {
		if reason, _ := w.unusable(ctx, s, false); reason != "" {
			err = fmt.Errorf("%w: %w", engine.ErrUnusable, err)
		}
	}
	return m, orLater(err)
}

func (w *Copy) measure(ctx context.Context, s *projections.State, m *event.ChangeMeasured) error {
	repo, err := w.existing(ctx, s)
	if err != nil {
		return asForge(err)
	}
	if m.Tree, m.LeftOut, m.ByProducts, err = tree(ctx, repo, s); err != nil {
		return err
	}
	changes, err := repo.Compare(ctx, s.Workspace.Commit, m.Tree)
	if err != nil {
		return err
	}
	secret, err := w.secrets(ctx, repo, changes)
	if err != nil {
		return err
	}
	for i, path := range m.LeftOut {
		m.LeftOut[i] = shortPath(path)
	}
	m.LeftOut = m.LeftOut[:min(len(m.LeftOut), listedFiles)]
	for i, b := range m.ByProducts {
		m.ByProducts[i].Path = shortPath(b.Path)
	}
	m.ByProducts = m.ByProducts[:min(len(m.ByProducts), listedFiles)]
	for _, c := range changes {
		m.Count++
		m.Added += c.Added
		m.Removed += c.Removed
		if len(m.Files) < listedFiles {
			m.Files = append(m.Files, event.ChangedFile{Path: shortPath(c.Path), Added: c.Added, Removed: c.Removed,
				Kind: w.kindOf(c, secret), New: strings.Trim(c.Before, "0") == ""})
		}
	}
	return nil
}

// shortPath is a path as text of bounded length.
func shortPath(path string) string {
	path = strings.ToValidUTF8(path, "\uFFFD")
	if len(path) > longestPath {
		path = strings.ToValidUTF8(path[:longestPath], "") + "…"
	}
	return path
}

// Publish makes commits of the tree that was measured and pushes them.
func (w *Copy) Publish(ctx context.Context, s *projections.State, in *event.ChangeRequested) (done engine.Published, err error) {
	thaw, err := w.freeze(ctx, s)
	if err != nil {
		return done, &engine.Temporary{Err: err}
	}
	defer thaw()
	repo, err := w.existing(ctx, s)
	tree := in.Tree
	if err == nil {
		if tree, err = w.toPublish(ctx, s, in, repo); tree == "" && err == nil {
			return done, nil
		}
	}
	spec := w.commits(s, in)
	spec.Tree = tree
	if err == nil && in.Branch != "" {
		spec.Base, err = repo.PublishedBase(ctx, spec.Base, in.Branch, s.Publishing.Pushed)
	}
	if err == nil {
		spec.Fit = w.fit(repo, spec)
		done.Commit, err = repo.Commit(ctx, spec)
	}
	if err == nil && in.Branch != "" {
		made := done.Commit
		done.Commit, err = w.push(ctx, s, in, repo, made)
		done.Rebased = done.Commit != made
	}
	if ctx.Err() != nil {
		return done, ctx.Err()
	}
	failed := err
	if repo != nil && done.Commit != "" && (err != nil || in.Branch == "") {
		done.Patch, err = repo.Patch(ctx, s.Workspace.Commit, done.Commit)
		if failed == nil {
			failed = err
		}
	}
	switch {
	case ctx.Err() != nil:
		return done, ctx.Err()
	case git.IsMachine(failed), git.IsFull(failed):
		return done, orLater(failed)
	case isTemporary(failed): // with the patch, for when it was the last try
		return done, asForge(failed)
	case failed != nil:
		done.Failed = unpublished(failed)
	}
	return done, nil
}

// toPublish is the tree that was measured, or what the files are at a pause; "" if that
// is nothing. A copy that was made again since does not have it until its files are added.
func (w *Copy) toPublish(ctx context.Context, s *projections.State, in *event.ChangeRequested, repo *git.Repo) (string, error) {
	if in.Paused {
		return w.changed(ctx, s, repo)
	}
	if repo.Has(ctx, in.Tree) {
		return in.Tree, nil
	}
	_, _, _, err := tree(ctx, repo, s)
	return in.Tree, err
}

// changed is the tree of the files as they are, "" if nothing differs.
func (w *Copy) changed(ctx context.Context, s *projections.State, repo *git.Repo) (string, error) {
	name, _, _, err := tree(ctx, repo, s)
	if err != nil {
		return "", err
	}
	if changes, err := repo.Compare(ctx, s.Workspace.Commit, name); err != nil || len(changes) == 0 {
		return "", err
	}
	return name, nil
}

// patchBranch is where commits stand in a working copy that are not to be pushed.
const patchBranch = "agent/patch"

func (w *Copy) commits(s *projections.State, in *event.ChangeRequested) git.CommitSpec {
	branch, when := in.Branch, s.Now
	if branch == "" {
		branch = patchBranch
	}
	if s.Open != nil {
		when = s.Open.Time // the same at every try
	}
	return git.CommitSpec{Branch: branch, Base: s.Workspace.Commit, Tree: in.Tree, Message: in.Title,
		Author: author(w.c.Bot), Trailer: trailer(s.Created.UUID), When: when.Truncate(time.Second), Clean: w.safeMessage(s, in.Title)}
}

// trailer ties a commit to the log that says how it came about.
func trailer(uuid string) string { return git.Trailer + ": " + uuid }

// safeMessage makes the words of a commit that a model wrote as harmless as its
// comments, and leaves our own.
func (w *Copy) safeMessage(s *projections.State, title string) func(string) string {
	return func(text string) string {
		if strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), trailer(s.Created.UUID))) == title {
			return title
		}
		plain, _ := w.c.Redact.String(text)
		return sanitize.Unclosing(sanitize.Output(plain, []string{s.Key.Host}))
	}
}

// push sends a commit to its branch. A request can have the default branch for its
// head, as one that brings it into a release: what is pushed there nobody reviews.
func (w *Copy) push(ctx context.Context, s *projections.State, in *event.ChangeRequested, repo *git.Repo, commit string) (string, error) {
	if s.Simulates() || s.Fork != nil && s.Fork.InPlace != "" {
		return commit, &git.Error{Op: "push", Kind: git.Refused, Text: "a fork pushes nothing from here"}
	}
	if s.Foreign { // others may see what is there
		return commit, &git.Error{Op: "push", Kind: git.Elsewhere, Text: "the item left the project of the working copy"}
	}
	if _, project, err := w.options(ctx, s); err != nil {
		return commit, err
	} else if in.Branch == project.DefaultBranch {
		return commit, &git.Error{Op: "push", Kind: git.Refused, Text: "the head of this request is the default branch, where nothing is pushed without a review"}
	}
	pushed, err := repo.Push(ctx, git.PushSpec{Branch: in.Branch, Commit: commit, Base: s.Workspace.Commit,
		Author: author(w.c.Bot), There: in.Existing})
	if err != nil {
		return commit, err
	}
	return pushed, nil
}

// orLater makes an error that git cannot be run here one that the next run may not
// meet: no work is given up for it.
func orLater(err error) error {
	if git.IsMachine(err) || git.IsFull(err) {
		return &engine.Temporary{Err: err}
	}
	return err
}

// isTemporary are errors after which the same may work later.
func isTemporary(err error) bool {
	var failed *forge.Error
	var later *engine.Temporary
	if !errors.As(asForge(err), &failed) {
		return errors.As(err, &later)
	}
	switch failed.Kind {
	case forge.Transient, forge.Ambiguous, forge.RateLimited, forge.Hidden, forge.Auth, forge.Certificate:
		return true
	default:
		return false
	}
}

func unpublished(err error) *engine.Unpublished {
	var failed *git.Error
	if errors.As(err, &failed) {
		return &engine.Unpublished{Kind: string(failed.Kind), Message: failed.Text}
	}
	kind := git.Other
	var refused *forge.Error
	if errors.As(err, &refused) && refused.Kind == forge.NotFound {
		kind = git.Gone
	}
	return &engine.Unpublished{Kind: string(kind), Message: err.Error()}
}
