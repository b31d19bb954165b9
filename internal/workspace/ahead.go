package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/google/uuid"

	"agent/eventlog/event"
	"agent/internal/git"
	"agent/internal/scratch"
	"agent/projections"
)

// Ahead is the working copy of a context that may be begun: its place, and a clone that is made beside it. What is
// in the clone moves into the place once the context has begun, so whoever opened the place before finds it there.
// A directory of the process holds the clone and names the context. By it [RemoveLeft] finds what was left.
type Ahead struct {
	Dir string // the place, an empty directory

	w      *Copy
	state  *projections.State
	own    string // the directory of the process
	remove func() // removes it

	cancel  context.CancelFunc
	ended   chan struct{} // the clone has; nil: none was begun
	options git.Options   // of the working copy
	err     error
}

// The files in the directory of the process.
const (
	ofContext = "context" // its uuid
	aClone    = "clone"
)

// Reserve makes the place of the working copy that Prepare is going to want if s says by then what it says now. It
// is nil if there is none. The caller drops it in the end, whether it was taken or not.
func (w *Copy) Reserve(s *projections.State) *Ahead {
	if w.c.InPlace != "" || !w.c.Needed {
		return nil
	}
	own, remove, err := scratch.DirIn(w.c.Root, scratch.Clone)
	if err != nil {
		return nil
	}
	place := w.c.dirOf(s.Created.UUID)
	err = os.WriteFile(filepath.Join(own, ofContext), []byte(s.Created.UUID), 0o600)
	if err == nil {
		err = os.Mkdir(place, 0o700)
	}
	if err != nil {
		remove()
		return nil
	}
	return &Ahead{Dir: place, w: w, state: s, own: own, remove: remove}
}

// Clone begins to make the clone. If Prepare wants another one by then, it makes that.
func (a *Ahead) Clone(ctx context.Context) {
	ctx, a.cancel = context.WithCancel(ctx)
	a.w.ahead, a.ended = a, make(chan struct{})
	go func() {
		defer close(a.ended)
		if a.options, a.err = a.w.begins(ctx, a.state, &event.WorkspacePrepared{}); a.err == nil {
			o := a.options
			o.Dir = filepath.Join(a.own, aClone)
			_, a.err = git.Clone(ctx, o)
		}
	}()
}

// Drop removes what was not taken.
func (a *Ahead) Drop() {
	_ = os.Remove(a.Dir) // one that holds anything stays
	a.end()
}

// end ends the clone, and removes it.
func (a *Ahead) end() {
	if a.ended != nil {
		a.cancel()
		<-a.ended
	}
	a.remove()
}

// takeAhead moves the clone that was begun ahead into its place. It is nil without an error if there is none that
// fits. A repository that is too large is not fetched twice; other errors may be gone by now.
func (w *Copy) takeAhead(ctx context.Context, o git.Options) (*git.Repo, error) {
	a := w.ahead
	if a == nil {
		return nil, nil
	}
	w.ahead = nil
	defer a.end()
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
	clone, err := git.Adopt(o, filepath.Join(a.own, aClone))
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

// RemoveLeft removes what processes that were killed left below the root of the clones. It names the contexts that
// they were about to begin and that never began.
func RemoveLeft(root string, now time.Time, began func(uuid string) bool) (never []string) {
	for _, dir := range scratch.LeftIn(root, now) {
		text, _ := os.ReadFile(filepath.Join(dir, ofContext)) // the probe of MakeRoot has none
		if id, err := uuid.Parse(string(text)); err == nil && !began(id.String()) {
			_ = os.Remove(filepath.Join(root, id.String())) // one that holds anything stays
			never = append(never, id.String())
		}
		_ = os.RemoveAll(dir)
	}
	return never
}
