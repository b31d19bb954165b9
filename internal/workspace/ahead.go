package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"time"

	"github.com/google/uuid"

	"agent/eventlog/event"
	"agent/internal/git"
	"agent/internal/scratch"
	"agent/projections"
)

// Ahead is the working copy of a context that may be begun: its place, and a clone that is made beside it. What is
// in the clone moves into the place once the context has begun, so whoever opened the place before finds it there.
// What a process leaves that is killed before, [RemoveLeft] removes.
type Ahead struct {
	Dir string // the place, an empty directory

	w       *Copy
	state   *projections.State
	release func() // gives up the place
	remove  func() // ends and removes the clone

	ended   chan struct{}
	options git.Options // of the working copy
	clone   string
	err     error
}

// Reserve makes the place of the working copy that Prepare is going to want if s says by then what it says now. It
// is nil if there is none. The caller drops it in the end, whether it was taken or not.
func (w *Copy) Reserve(s *projections.State) *Ahead {
	if w.c.InPlace != "" || !w.c.Needed {
		return nil
	}
	a := &Ahead{Dir: w.c.dirOf(s.Created.UUID), w: w, state: s, remove: func() {}}
	var err error
	if a.release, err = scratch.Reserve(a.Dir); err != nil {
		return nil
	}
	return a
}

// Clone begins to make the clone. If Prepare wants another one by then, it makes that.
func (a *Ahead) Clone(ctx context.Context) {
	dir, remove, err := scratch.DirIn(a.w.c.Root, scratch.Clone)
	if err != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	a.clone, a.ended = filepath.Join(dir, "clone"), make(chan struct{})
	a.remove = sync.OnceFunc(func() {
		cancel()
		<-a.ended
		remove()
	})
	a.w.ahead = a
	go func() {
		defer close(a.ended)
		if a.options, a.err = a.w.begins(ctx, a.state, &event.WorkspacePrepared{}); a.err == nil {
			o := a.options
			o.Dir = a.clone
			_, a.err = git.Clone(ctx, o)
		}
	}()
}

// Drop removes what was not taken.
func (a *Ahead) Drop() {
	a.remove()
	a.release()
}

// takeAhead moves the clone that was begun ahead into its place. It is nil without an error if there is none that
// fits. A repository that is too large is not fetched twice; other errors may be gone by now.
func (w *Copy) takeAhead(ctx context.Context, o git.Options) (*git.Repo, error) {
	a := w.ahead
	if a == nil {
		return nil, nil
	}
	w.ahead = nil
	defer a.remove()
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
	clone, err := git.Adopt(o, a.clone)
	if err != nil {
		return nil, nil // what is wrong, Clone finds out
	}
	return clone, nil
}

// clearPlace removes what is in the place of a working copy that was never whole: a process was killed while it
// moved a clone there.
func clearPlace(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, ".git")); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(dir)
}

// RemoveLeft removes what processes that were killed left below the root of the clones: clones that were begun ahead
// of their contexts, and empty places.
func RemoveLeft(root string, now time.Time) {
	scratch.RemoveLeftIn(root, now)
	scratch.RemoveReserved(root, now, func(name string) bool {
		id, err := uuid.Parse(name)
		return err == nil && id.String() == name
	})
}
