package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/handlers/engine"
	"agent/internal/git"
	"agent/internal/snapshot"
	"agent/projections"
)

// Directories beside a clone.
const (
	KeptSuffix  = ".kept"  // what was in the way when the files were made again
	foundSuffix = ".found" // a clone that cannot be used, until what it holds was looked through
)

// Open makes the files what the log says.
func (w *Copy) Open(ctx context.Context, s *projections.State, o *contexts.Objects, how engine.Opening) (body event.Body, err error) {
	start := time.Now()
	w.held = nil
	if s.Workspace.InPlace {
		body, err = w.openInPlace(ctx, s, o, how)
	} else {
		body, err = w.openClone(ctx, s, o, how, start)
	}
	var unread *snapshot.ReadError
	if errors.As(err, &unread) {
		return nil, &engine.Temporary{Err: err}
	}
	if err == nil && w.held != nil {
		w.held.remember(s, o)
	}
	return body, err
}

// openInPlace leaves the files as they are: they are a person's.
func (w *Copy) openInPlace(ctx context.Context, s *projections.State, o *contexts.Objects, how engine.Opening) (event.Body, error) {
	if s.Saved.Seq == 0 {
		return orNone(w.save(ctx, s, o, "start"))
	}
	found, err := w.differs(ctx, s, o)
	switch {
	case err != nil:
		return nil, err
	case w.held.unreadable:
		return w.openUnreadable(ctx, s, o, how, found)
	case len(found.Changes) == 0 && s.Saved.Failed == "":
		return nil, nil
	case how.Take:
		return orNone(w.save(ctx, s, o, "changed"))
	}
	files, count := listed(found, false)
	return &event.WorkspaceChanged{Files: files, Count: count}, nil
}

// openUnreadable goes on without what is stored. The copy has the same files if its tree has
// the same name; else a person has to say that it counts.
func (w *Copy) openUnreadable(ctx context.Context, s *projections.State, o *contexts.Objects, how engine.Opening, found snapshot.Found) (event.Body, error) {
	var r event.WorkspaceRestored
	if !s.Workspace.InPlace {
		if err := w.lookThrough(ctx, s, &r); err != nil {
			return nil, err
		}
	}
	if found.Tree == s.Saved.Tree || how.Take {
		w.held.unreadable = false
		return orNone(w.save(ctx, s, o, "changed"))
	}
	files, count := listed(found, false)
	w.held = nil
	return &event.WorkspaceChanged{Reason: "unreadable", Files: files, Count: count, Kept: r.Kept}, nil
}

// orNone is nil without a type where nothing was saved.
func orNone(saved *event.WorkspaceSaved, err error) (event.Body, error) {
	if saved == nil {
		return nil, err
	}
	return saved, err
}

func (w *Copy) differs(ctx context.Context, s *projections.State, o *contexts.Objects) (snapshot.Found, error) {
	thaw, err := w.freeze(ctx, s)
	if err != nil {
		return snapshot.Found{}, &snapshot.ReadError{Err: err}
	}
	defer thaw()
	h, err := w.hold(ctx, s, o)
	if err != nil {
		return snapshot.Found{}, err
	}
	return h.copy.Differs(ctx, h.without(s))
}

// openClone makes a clone what the log says. After a crash the log wins; what somebody
// changed while nobody worked counts.
func (w *Copy) openClone(ctx context.Context, s *projections.State, o *contexts.Objects, how engine.Opening, start time.Time) (event.Body, error) {
	reason, detail := w.unusable(ctx, s, how.Crashed)
	untouched := untouched(s)
	if s.Saved.Seq == 0 {
		if reason == "" && how.Crashed && untouched && s.Workspace.Continued.From == "" {
			reason = "damaged" // git does not sync what it checks out
		}
		if reason == "" {
			return orNone(w.save(ctx, s, o, "start"))
		}
		if !untouched {
			return nil, nil // a log of an earlier release: what was done is nowhere
		}
	}
	r := &event.WorkspaceRestored{Reason: reason, Detail: detail, Tree: s.Saved.Tree, Files: []event.SavedFile{}}
	if reason != "" {
		if err := w.remake(ctx, s, r); err != nil || r.Error != "" {
			w.salvage(s, o, r)
			r.TookMS = time.Since(start).Milliseconds()
			return orError(r, err)
		}
		if s.Saved.Seq == 0 { // nobody has worked in the one before: it holds nothing
			if err := os.RemoveAll(s.Workspace.Dir + foundSuffix); err != nil {
				return nil, &snapshot.ReadError{Err: err}
			}
			return orNone(w.save(ctx, s, o, "start"))
		}
	}
	found, err := w.differs(ctx, s, o)
	if err != nil {
		return nil, err
	}
	if w.held.unreadable {
		return w.openUnreadable(ctx, s, o, how, found)
	}
	if reason == "" {
		head := snapshot.Head(w.held.copy.Dir)
		switch {
		case len(found.Changes) == 0 && (head == s.Saved.Head || s.Saved.Head == "") && s.Saved.Failed == "":
			return nil, w.lookThrough(ctx, s, r)
		case !how.Crashed:
			return orNone(w.save(ctx, s, o, "changed"))
		}
		r.Reason = "differs"
		r.Files, r.Count = listed(found, false)
		if err := w.keep(s, found, r); err != nil {
			return nil, err
		}
	}
	missing, err := w.held.copy.Fill(ctx, found)
	if err != nil {
		return nil, &snapshot.ReadError{Err: err}
	}
	for _, path := range missing[:min(len(missing), listedFiles)] {
		r.Missing = append(r.Missing, shortPath(path))
	}
	r.TookMS = time.Since(start).Milliseconds()
	return r, w.lookThrough(ctx, s, r)
}

func orError(r *event.WorkspaceRestored, err error) (event.Body, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}

// unusable says what is wrong with a clone, empty if nothing is. git is not asked of one that it has just made.
func (w *Copy) unusable(ctx context.Context, s *projections.State, crashed bool) (reason, detail string) {
	dir := s.Workspace.Dir
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return "missing", ""
	}
	if w.fresh(s) || noRepository(s) {
		return "", ""
	}
	repo, err := w.existingClone(ctx, s)
	if err == nil {
		err = repo.Sound(ctx, s.Workspace.Commit)
	}
	if err == nil {
		_, err = baseTree(ctx, dir, s.Workspace.Commit)
	}
	_, left := os.Lstat(dir + foundSuffix)
	switch {
	case ctx.Err() != nil || git.IsMachine(err):
		return "", "" // that is said where it is needed
	case left == nil:
		return "damaged", "it was being made again when the process ended"
	case err != nil:
		return "damaged", strings.ReplaceAll(err.Error(), "\n", "; ")
	case crashed && s.Saved.Head != "" && snapshot.Head(dir) != s.Saved.Head:
		return "commit", ""
	}
	return "", ""
}

// fresh reports whether this process cloned the working copy, and nobody has worked in it.
func (w *Copy) fresh(s *projections.State) bool { return w.cloned == s.Created.UUID && untouched(s) }

// untouched reports whether no tool has been called.
func untouched(s *projections.State) bool { return s.Usage.ToolCalls == 0 && len(s.Setup) == 0 }

// noRepository is true for the copy of a directory that held no commit: all its files
// are saved.
func noRepository(s *projections.State) bool {
	return s.Fork != nil && s.Fork.InPlace != "" && s.Workspace.Commit == ""
}

// existingClone opens the clone, as far as the forge answers as one of the task's repository.
func (w *Copy) existingClone(ctx context.Context, s *projections.State) (*git.Repo, error) {
	o, _, err := w.options(ctx, s)
	if err != nil {
		return git.Open(s.Workspace.Dir)
	}
	return git.Clone(ctx, o)
}

// remake clones the commit that the work began on. What is in its place is put beside it.
func (w *Copy) remake(ctx context.Context, s *projections.State, r *event.WorkspaceRestored) error {
	dir := s.Workspace.Dir
	o, _, err := w.options(ctx, s)
	if err != nil {
		return asForge(err)
	}
	if dir != o.Dir {
		r.Error = "the working copy lies elsewhere: " + dir
		return nil
	}
	if r.Reason != "missing" {
		if err := os.Rename(dir, dir+foundSuffix); errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTEMPTY) {
			err = os.RemoveAll(dir) // one was put there before: this one was made since
			if err != nil {
				return &snapshot.ReadError{Err: err}
			}
		} else if err != nil {
			return &snapshot.ReadError{Err: err}
		}
	}
	if noRepository(s) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return &snapshot.ReadError{Err: err}
		}
		return nil
	}
	w.atBase(&o, s)
	_, err = git.Clone(ctx, o)
	switch {
	case err == nil:
		r.Base = s.Workspace.Commit
		return nil
	case ctx.Err() != nil || isTemporary(err) || git.IsMachine(err):
		return asForge(err)
	}
	r.Error = "the commit " + s.Workspace.Commit + " could not be cloned: " + reasonOf(err)
	return nil
}

// salvage writes what is stored beside the place of a clone that cannot be made again.
func (w *Copy) salvage(s *projections.State, o *contexts.Objects, r *event.WorkspaceRestored) {
	if r.Error == "" || s.Saved.Seq == 0 {
		return
	}
	store, err := snapshot.OpenStore(o)
	if err != nil {
		return
	}
	tree, err := store.Tree(s.Saved.Tree, nil)
	if err != nil {
		return
	}
	dir := w.keptDir(s)
	missing, err := store.WriteBelow(dir, tree)
	if err != nil {
		return
	}
	r.Kept = dir
	for _, path := range missing[:min(len(missing), listedFiles)] {
		r.Missing = append(r.Missing, shortPath(path))
	}
}

// keptDir is where contents go that are in the way of what the log says next.
func (w *Copy) keptDir(s *projections.State) string {
	return filepath.Join(s.Workspace.Dir+KeptSuffix, strconv.FormatUint(s.Seq+1, 10))
}

func (w *Copy) keep(s *projections.State, found snapshot.Found, r *event.WorkspaceRestored) error {
	kept, err := found.Put(w.keptDir(s))
	if err != nil {
		return &snapshot.ReadError{Err: err}
	}
	if r.Lost += kept.Lost; len(kept.Paths) > 0 {
		r.Kept = w.keptDir(s)
	}
	return nil
}

// lookThrough keeps what differs in a clone that could not be used, and removes it.
func (w *Copy) lookThrough(ctx context.Context, s *projections.State, r *event.WorkspaceRestored) error {
	dir := s.Workspace.Dir + foundSuffix
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	other, err := w.copyOf(dir, w.held, w.held.copy.Last(), s)
	if err == nil {
		var found snapshot.Found
		if found, err = other.Differs(ctx, w.held.without(s)); err == nil {
			r.Files, r.Count = listed(found, true)
			err = w.keep(s, found, r)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // it may hold anything: it is kept as it is
		if err := os.MkdirAll(w.keptDir(s), 0o700); err != nil {
			return &snapshot.ReadError{Err: err}
		}
		r.Kept = w.keptDir(s)
		if err := os.Rename(dir, filepath.Join(r.Kept, "copy")); err != nil {
			return &snapshot.ReadError{Err: err}
		}
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return &snapshot.ReadError{Err: fmt.Errorf("remove the old working copy: %w", err)}
	}
	return nil
}

// listed says how a copy differs from the log. present leaves out what is only gone.
func listed(found snapshot.Found, present bool) (files []event.SavedFile, count int) {
	files = []event.SavedFile{}
	for _, d := range found.Changes {
		if present && d.Now.Name == "" {
			continue
		}
		if count++; len(files) < listedFiles {
			files = append(files, event.SavedFile{Path: shortPath(d.Path), Change: changeOf(d.Before, d.Now)})
		}
	}
	return files, count
}
