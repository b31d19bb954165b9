package workspace

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"sync"

	"agent/eventlog/event"
	"agent/internal/git"
	"agent/internal/scratch"
	"agent/projections"
)

// ahead is a clone that is made while it is not certain yet that it is needed. It becomes the working copy
// by a rename; what a process leaves that is killed before, [scratch.RemoveLeftIn] removes.
type ahead struct {
	drop    func()
	ended   chan struct{}
	options git.Options // of the working copy
	dir     string      // the clone
	err     error
}

// CloneAhead begins to make the clone that Prepare is going to want if s says by then what it says now. If not,
// Prepare makes another one. The caller calls drop in the end, whether it was taken or not.
func (w *Copy) CloneAhead(ctx context.Context, s *projections.State) (drop func()) {
	if w.c.InPlace != "" || !w.c.Needed {
		return func() {}
	}
	dir, remove, err := scratch.DirIn(w.c.Root, scratch.Clone)
	if err != nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	a := &ahead{dir: filepath.Join(dir, "clone"), ended: make(chan struct{})}
	a.drop = sync.OnceFunc(func() {
		cancel()
		<-a.ended
		remove()
	})
	w.ahead = a
	go func() {
		defer close(a.ended)
		if a.options, a.err = w.begins(ctx, s, &event.WorkspacePrepared{}); a.err == nil {
			o := a.options
			o.Dir = a.dir
			_, a.err = git.Clone(ctx, o)
		}
	}()
	return a.drop
}

// takeAhead moves the clone that was begun ahead to its place. It is nil without an error if there is none that
// fits. A repository that is too large is not fetched twice; other errors may be gone by now.
func (w *Copy) takeAhead(ctx context.Context, o git.Options) (*git.Repo, error) {
	a := w.ahead
	if a == nil {
		return nil, nil
	}
	w.ahead = nil
	defer a.drop()
	select {
	case <-a.ended:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	same := a.options
	if same.Token = o.Token; !reflect.DeepEqual(o, same) { // a token may be a new one by now
		return nil, nil
	}
	var failed *git.Error
	switch {
	case errors.As(a.err, &failed) && failed.Kind == git.TooLarge:
		return nil, a.err
	case a.err != nil:
		return nil, nil
	}
	clone, err := git.Adopt(o, a.dir)
	if err != nil {
		return nil, nil // something is in its place: what, Clone finds out
	}
	return clone, nil
}
