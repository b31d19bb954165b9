package workspace

import (
	"context"
	"path/filepath"
	"reflect"

	"agent/eventlog/event"
	"agent/internal/git"
	"agent/internal/scratch"
	"agent/projections"
)

// ahead is a clone that is made while it is not certain yet that it is needed. It becomes the working copy
// by a rename; what a process leaves that is killed before, [scratch.RemoveLeftIn] removes.
type ahead struct {
	ended   chan struct{}
	options git.Options // of the working copy
	dir     string      // the clone; "": there is none
}

// CloneAhead begins to make the clone that Prepare is going to want if s says by then what it says now. If not,
// or if it cannot be made, Prepare makes one itself. The caller calls drop in the end.
func (w *Copy) CloneAhead(ctx context.Context, s *projections.State) (drop func()) {
	if w.c.InPlace != "" || !w.c.Needed {
		return func() {}
	}
	dir, remove, err := scratch.DirIn(w.c.Root, scratch.Clone)
	if err != nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	a := &ahead{ended: make(chan struct{})}
	w.ahead = a
	go func() {
		defer close(a.ended)
		o, err := w.begins(ctx, s, &event.WorkspacePrepared{})
		a.options = o
		if o.Dir = filepath.Join(dir, "clone"); err == nil {
			_, err = git.Clone(ctx, o)
		}
		if err == nil {
			a.dir = o.Dir
		}
	}()
	return func() {
		cancel()
		<-a.ended
		remove()
	}
}

// takeAhead waits for the clone that was begun ahead, and moves it to its place. It is nil if there is none.
func (w *Copy) takeAhead(ctx context.Context, o git.Options) *git.Repo {
	a := w.ahead
	if a == nil {
		return nil
	}
	w.ahead = nil
	select {
	case <-a.ended:
	case <-ctx.Done():
		return nil
	}
	same := a.options
	if same.Token = o.Token; a.dir == "" || !reflect.DeepEqual(o, same) { // a token may be a new one by now
		return nil
	}
	clone, err := git.Adopt(o, a.dir)
	if err != nil {
		return nil
	}
	return clone
}
