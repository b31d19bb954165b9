package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/byproducts"
	"agent/internal/git"
	"agent/internal/snapshot"
	"agent/projections"
)

// held is the working copy of a context with the trees of its log.
type held struct {
	uuid  string
	copy  *snapshot.Copy
	store *snapshot.Store
	base  *snapshot.Tree
	head  string // the commit that was checked out at the latest save

	unreadable bool // what is stored of the latest save; the copy then starts from the base

	left []event.ByProduct // what the latest save left out
	said map[string]bool   // by-products that an event names
}

// hold opens what is stored of a context's files. errors are of the store, or of a
// working copy whose commit cannot be read.
func (w *Copy) hold(ctx context.Context, s *projections.State, o *contexts.Objects) (*held, error) {
	if w.held != nil && w.held.uuid == s.Created.UUID {
		return w.held, nil
	}
	h := &held{uuid: s.Created.UUID, head: s.Saved.Head, said: map[string]bool{}}
	var err error
	if h.store, err = snapshot.OpenStore(o); err != nil {
		return nil, err
	}
	dir := s.Workspace.Dir
	if s.Workspace.InPlace { // the operator may have named a link
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
	}
	if h.base, err = baseTree(ctx, dir, s.Workspace.Commit); err != nil {
		return nil, &snapshot.ReadError{Err: err}
	}
	last, err := h.latest(s)
	if err != nil {
		return nil, err
	}
	if h.copy, err = w.copyOf(dir, h, last, s); err != nil {
		return nil, err
	}
	if cache, fresh := strings.CutPrefix(string(o.Cache()), bootOf(s)+"\n"); fresh {
		h.copy.SetCache([]byte(cache))
	}
	w.held = h
	return h, nil
}

// latest is the tree of the latest save. If it cannot be read, it is the one that the work
// began on.
func (h *held) latest(s *projections.State) (*snapshot.Tree, error) {
	if s.Saved.Seq == 0 {
		return h.base, nil
	}
	tree, err := h.store.Tree(s.Saved.Tree, h.base)
	switch {
	case errors.Is(err, snapshot.ErrMissing) || err == nil && !tree.Whole():
		h.unreadable = true
		_, err = h.store.Salvage() // what is damaged is stored again by the next save
		return h.base, err
	case err != nil:
		return nil, err
	}
	return tree, nil
}

func (w *Copy) copyOf(dir string, h *held, last *snapshot.Tree, s *projections.State) (*snapshot.Copy, error) {
	var said []snapshot.NotSaved
	for n := range s.Saved.Not {
		said = append(said, snapshot.NotSaved(n))
	}
	return snapshot.NewCopy(dir, h.store, h.base, last, said, snapshot.Options{Largest: largestFile, Secret: w.c.Redact.Holds,
		Original: func(ctx context.Context, names []string, each func(string, []byte)) error {
			return originals(ctx, s.Workspace.Dir, names, each)
		}})
}

// remember keeps what the files held for the next process, if the machine goes on.
func (h *held) remember(s *projections.State, o *contexts.Objects) {
	if boot := bootOf(s); boot != "" {
		o.SetCache(append([]byte(boot+"\n"), h.copy.Cache()...))
	}
}

func bootOf(s *projections.State) string {
	if s.Process == nil {
		return ""
	}
	return s.Process.BootID
}

// baseTree is the tree of the commit that the work began on, the empty one without.
func baseTree(ctx context.Context, dir, commit string) (*snapshot.Tree, error) {
	if commit == "" {
		return snapshot.NewTree(snapshot.SHA1, nil), nil
	}
	r, err := snapshot.OpenRepository(dir)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	tree, err := r.Tree(commit)
	if err == nil {
		return tree, nil
	}
	repo, openErr := git.Open(dir) // a person's may borrow its objects
	if openErr != nil {
		return nil, err
	}
	entries, err := repo.Entries(ctx, commit)
	if err != nil {
		return nil, err
	}
	all := make(map[string]snapshot.Entry, len(entries))
	for path, e := range entries {
		all[path] = snapshot.Entry(e)
	}
	return snapshot.NewTree(len(commit), all), nil
}

// originals gives contents of the repository.
func originals(ctx context.Context, dir string, names []string, each func(string, []byte)) error {
	left := map[string]bool{}
	for _, n := range names {
		left[n] = true
	}
	if r, err := snapshot.OpenRepository(dir); err == nil {
		defer r.Close()
		if err := r.Blobs(ctx, names, largestFile, func(name string, data []byte) { delete(left, name); each(name, data) }); err != nil {
			return err
		}
	}
	if len(left) == 0 {
		return nil
	}
	repo, err := git.Open(dir)
	if err != nil {
		return nil // there is none: the rest is not known
	}
	var rest []string
	for n := range left {
		rest = append(rest, n)
	}
	return repo.Contents(ctx, rest, largestFile, func(name, content string) { each(name, []byte(content)) })
}

// Save stores what a call may have changed. The processes of the tools are stopped meanwhile.
func (w *Copy) Save(ctx context.Context, s *projections.State, o *contexts.Objects, call *event.ToolRequested) (*event.WorkspaceSaved, error) {
	reason := "tool"
	if call.Setup {
		reason = "setup"
	}
	freeze := w.freeze
	if w.c.FreezeOthers != nil && w.c.Own != nil && w.c.Own(call.Server) {
		freeze = func(ctx context.Context, s *projections.State) (thaw func(), err error) {
			return w.c.FreezeOthers(ctx, s.Workspace.Dir, call.Server)
		}
	}
	return w.saveFrozen(ctx, s, o, reason, w.written(call), freeze)
}

// Merge stores in less room what was saved.
func (w *Copy) Merge(o *contexts.Objects) error {
	store, err := snapshot.OpenStore(o)
	if err != nil {
		return err
	}
	return store.Merge()
}

func (w *Copy) save(ctx context.Context, s *projections.State, o *contexts.Objects, reason string) (*event.WorkspaceSaved, error) {
	return w.saveFrozen(ctx, s, o, reason, nil, w.freeze)
}

func (w *Copy) saveFrozen(ctx context.Context, s *projections.State, o *contexts.Objects, reason string, paths []string,
	freeze func(context.Context, *projections.State) (func(), error)) (*event.WorkspaceSaved, error) {
	start := time.Now()
	thaw, err := freeze(ctx, s)
	if err != nil {
		return unsaved(s, reason, err, start), nil
	}
	defer thaw()
	h, err := w.hold(ctx, s, o)
	if err != nil {
		return unsavedUnless(ctx, s, reason, err, start)
	}
	h.left = nil
	saved, err := h.copy.Save(ctx, snapshot.Request{Paths: paths, Without: h.without(s)})
	if err != nil {
		return unsavedUnless(ctx, s, reason, err, start)
	}
	head := snapshot.Head(h.copy.Dir)
	if s.Saved.Head == "" && s.Saved.Seq > 0 {
		h.head = head // it was published, which moves it
	}
	if saved.Nothing() && head == h.head && reason != "start" && len(h.left) == 0 {
		return nil, nil
	}
	h.head = head
	e := &event.WorkspaceSaved{Reason: reason, Tree: saved.Tree, From: saved.From, Base: s.Workspace.Commit, Head: head, Files: []event.SavedFile{},
		ByProducts: h.left[:min(len(h.left), listedFiles)]}
	for _, c := range saved.Changes {
		e.Count++
		e.Added += c.Added
		e.Removed += c.Removed
		if len(e.Files) < listedFiles {
			e.Files = append(e.Files, event.SavedFile{Path: shortPath(c.Path), Change: changeOf(c.Before, c.Now), Added: c.Added, Removed: c.Removed, Binary: c.Binary})
		}
	}
	for _, n := range saved.NotSaved[:min(len(saved.NotSaved), listedFiles)] {
		e.NotSaved = append(e.NotSaved, event.NotSaved{Path: shortPath(n.Path), Reason: n.Reason})
	}
	e.TookMS = time.Since(start).Milliseconds()
	return e, nil
}

func changeOf(before, now snapshot.Entry) string {
	switch {
	case before.Name == "":
		return "added"
	case now.Name == "":
		return "deleted"
	case (before.Mode == snapshot.ModeLink) != (now.Mode == snapshot.ModeLink):
		return "type"
	case before.Name == now.Name:
		return "mode"
	}
	return "changed"
}

// unsaved says why the files could not be read. The tree is the one before.
func unsaved(s *projections.State, reason string, err error, start time.Time) *event.WorkspaceSaved {
	return &event.WorkspaceSaved{Reason: reason, Tree: s.Saved.Tree, From: s.Saved.Tree, Base: s.Workspace.Commit, Head: s.Saved.Head,
		Files: []event.SavedFile{}, Error: strings.ReplaceAll(err.Error(), "\n", "; "), TookMS: time.Since(start).Milliseconds()}
}

func unsavedUnless(ctx context.Context, s *projections.State, reason string, err error, start time.Time) (*event.WorkspaceSaved, error) {
	var unread *snapshot.ReadError
	if ctx.Err() != nil || !errors.As(err, &unread) {
		return nil, fmt.Errorf("the files of the working copy: %w", cmp.Or(ctx.Err(), err))
	}
	return unsaved(s, reason, err, start), nil
}

// without finds the by-products among new files, as they are found before the work is
// published.
func (h *held) without(s *projections.State) func([]string) []string {
	return func(fresh []string) (paths []string) {
		if !slices.ContainsFunc(fresh, anyKnown) {
			return nil
		}
		var known []string
		h.base.Walk(func(path string, _ snapshot.Entry) { known = append(known, path) })
		for _, e := range byproducts.Find(fresh, append(known, named(s, fresh)...)) {
			paths = append(paths, e.Path)
			if !h.said[e.Path] {
				h.said[e.Path] = true
				h.left = append(h.left, event.ByProduct{Path: shortPath(e.Path), Kind: e.Kind})
			}
		}
		return paths
	}
}

// anyKnown reports whether a part of a path has a well-known name.
func anyKnown(path string) bool {
	parts := strings.Split(path, "/")
	for i, name := range parts {
		if byproducts.Known(name, i < len(parts)-1) != "" {
			return true
		}
	}
	return false
}

// written are the only files that a call may have changed, as far as its tool is known; nil: any.
func (w *Copy) written(call *event.ToolRequested) []string {
	if w.c.Own == nil || !w.c.Own(call.Server) || call.Tool != "write_file" && call.Tool != "edit_file" {
		return nil
	}
	var args struct {
		Path string `json:"path"`
	}
	if json.Unmarshal([]byte(call.Args.Inline), &args) != nil || args.Path == "" {
		return nil
	}
	return []string{args.Path}
}
