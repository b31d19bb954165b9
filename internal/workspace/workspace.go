// Package workspace is the working copy of a context: the adapter of
// [engine.Workspace] on top of git.
//
// A context works in a clone of its own, Root/UUID, or in place in a configured
// directory. [Copy.Prepare] makes or finds it, [Copy.Project] reads the rules and
// the list of files of the repository, [Copy.Measure] compares the files with the
// commit that the work began on, and [Copy.Publish] commits and pushes exactly the
// tree that was measured, or makes a patch of it. [Copy.Save] stores the files after
// each call that may have changed them, and [Copy.Open] makes them what the log says.
//
// Whoever can push to the repository chose what lies in it, and tools may have
// written anything there: links are not followed, git runs without the hooks and
// settings of the copy, and lines that look like a secret need a person's approval.
package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"agent/forge"
	"agent/handlers/engine"
	"agent/internal/git"
	"agent/internal/redact"
	"agent/internal/scratch"
	"agent/projections"
)

// Config says where the working copies of one forge are, and how to reach it.
type Config struct {
	Root      string // directory of the clones
	InPlace   string // directory that is worked on in place; "" for a clone per context
	Needed    bool   // a tool server works on the copy
	MaxBytes  int64  // of a clone
	Depth     int    // commits of history that a clone gets; 0: all
	Tags      bool   // with the tags on them
	AllowHTTP bool   // clone URLs may be http

	// Allow refuses clone URLs that lead somewhere else than to the forge. Such an
	// error is the operator's to mend, and nobody's task fails for it. nil: all may be.
	Allow func(url string) error

	// Freeze stops all processes that work on the copy in dir, until thaw is called.
	// An error means that some still run; nothing is read then. nil: there are none.
	Freeze func(ctx context.Context, dir string) (thaw func(), err error)

	// FreezeOthers is Freeze after a call of the built-in server, which has ended what it started. nil: as Freeze.
	FreezeOthers func(ctx context.Context, dir, server string) (thaw func(), err error)

	// Own reports whether a tool server is the built-in one, whose tools are known. nil: none is.
	Own func(server string) bool

	// Earlier gives unfinished work of the latest attempt at the task. nil: none is taken over.
	Earlier func(*projections.State) Unfinished

	Forge     forge.Client
	Token     func(context.Context) (string, error) // for git
	ChangeRef func(number int) string               // git ref of the head of a change from a fork
	Bot       string                                // author of commits, "" for agent
	Redact    *redact.Redactor
}

// Copy is the working copies of one forge.
type Copy struct {
	c    Config
	held *held // of the context that was opened last

	ahead    *Ahead // whose clone is made, until it is taken
	cloned   string // uuid of the context whose clone was made last
	deepened string // uuid of the context whose history was fetched last, or was to be
}

// New makes the adapter for one context at a time. Nothing is contacted, and no file touched.
func New(c Config) *Copy { return &Copy{c: c} }

// freeze keeps everybody from changing the copy while it is read.
func (w *Copy) freeze(ctx context.Context, s *projections.State) (thaw func(), err error) {
	if w.c.Freeze == nil || s.Workspace == nil || s.Workspace.Dir == "" {
		return func() {}, nil
	}
	if thaw, err = w.c.Freeze(ctx, s.Workspace.Dir); err != nil { // on a machine that is too busy, for one
		return nil, &engine.Temporary{Err: err}
	}
	return thaw, nil
}

func (c Config) dirOf(uuid string) string { return filepath.Join(c.Root, uuid) }

// MakeRoot makes the directory of the clones, and shows that it can be written.
func MakeRoot(root string) error {
	if err := os.MkdirAll(root, 0o700); err != nil {
		return err
	}
	_, remove, err := scratch.DirIn(root, scratch.Clone)
	if err != nil {
		return err
	}
	remove()
	return nil
}

// Needs reports whether a command or environment of a tool server names the working copy.
func Needs(command []string, env map[string]string) bool {
	const variable = "{workspace}"
	if strings.Contains(strings.Join(command, "\x00"), variable) {
		return true
	}
	for _, v := range env {
		if strings.Contains(v, variable) {
			return true
		}
	}
	return false
}

// Published reports whether a context no longer needs its working copy: what it
// holds was pushed, is nothing, or is a patch beside the log.
func Published(s *projections.State) bool {
	p := s.Publishing
	return s.Status == projections.Completed && (p.Opened != nil || p.Kept != nil || p.Failed != nil && (p.Failed.Pushed || !p.Failed.Patch.IsZero()) ||
		p.Measured != nil && p.Measured.Error == "" && p.Measured.Count == 0 && len(p.Measured.LeftOut) == 0)
}

// Discard removes the clone below root of a context whose work was published.
func Discard(root string, s *projections.State) error {
	if !Published(s) || s.Workspace == nil || s.Workspace.Dir != filepath.Join(root, s.Created.UUID) {
		return nil
	}
	return errors.Join(os.RemoveAll(s.Workspace.Dir), os.RemoveAll(s.Workspace.Dir+foundSuffix))
}

// Remove removes a clone, with what was kept beside it.
func Remove(dir string) error {
	return errors.Join(os.RemoveAll(dir), os.RemoveAll(dir+foundSuffix), os.RemoveAll(dir+KeptSuffix))
}

// ContextOf is the context that a name in the directory of the clones belongs to, as its
// clone or something beside it.
func ContextOf(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, foundSuffix), KeptSuffix)
}

// Unpublished makes a patch of what the clone in dir holds beyond the commit that
// the work began on. It is empty if there is nothing, or if it was published.
func Unpublished(ctx context.Context, s *projections.State, dir string) (patch []byte, err error) {
	if s.Workspace == nil || s.Workspace.InPlace || s.Workspace.Commit == "" || Published(s) || s.Publishing.Kept != nil {
		return nil, nil
	}
	repo, err := git.Open(dir)
	if err != nil {
		return nil, err
	}
	work, _, _, err := tree(ctx, repo, s)
	if err != nil {
		return nil, err
	}
	commit, err := repo.Commit(ctx, git.CommitSpec{Branch: patchBranch, Base: s.Workspace.Commit, Tree: work, Message: s.Created.Title,
		Author: author(s.Config.Bot), Trailer: trailer(s.Created.UUID), When: s.Now})
	if err != nil || commit == s.Workspace.Commit {
		return nil, err
	}
	return repo.Patch(ctx, s.Workspace.Commit, commit)
}

func author(bot string) string {
	if bot == "" {
		bot = "agent"
	}
	return bot + " <" + bot + "@users.noreply.invalid>"
}
