// Package trees shows the files of a context as its log has them: what they were at
// an event, and how they differ between two. It reads the log and the objects that
// lie beside it, and needs neither the clone nor the forge.
//
// Files that no step changed are not stored: of those only the names are known, or
// those of the directories that they lie in. What is shown passes a redactor.
package trees

import (
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/snapshot"
	"agent/projections"
)

// ErrNone says that a context has no saved files: nothing worked on files, or its
// log is of a release that did not save them.
var ErrNone = errors.New("no files are saved")

// NoEventError says that a log has no event with this number.
type NoEventError struct{ Seq, Last uint64 }

func (e *NoEventError) Error() string {
	return fmt.Sprintf("the log has no event %d: the last one that can be read is event %d", e.Seq, e.Last)
}

// Point is one save: an event that says what the files were.
type Point struct {
	Seq   uint64
	Time  time.Time
	Step  string // that call in one line, or why else they were saved
	Saved *event.WorkspaceSaved
}

// View is the saves of a context, in the order of the log.
type View struct {
	UUID   string
	Points []Point
	State  *projections.State // as far as the log can be read
	Clean  func(string) string
	store  *snapshot.Store
}

// stored are the saved files of a context, wherever they are.
func stored(s *contexts.Store, uuid string) (*snapshot.Store, error) {
	if err := s.FetchObjects(uuid); err != nil {
		return nil, fmt.Errorf("saved files: %w", err)
	}
	return snapshot.OpenStore(s.Objects(uuid))
}

// Open reads a log. clean redacts what is shown. The error joins what ended the
// reading of a damaged log; the view then has what could be read.
func Open(s *contexts.Store, uuid string, clean func(string) string) (*View, error) {
	store, err := stored(s, uuid)
	if err != nil {
		return nil, err
	}
	v := &View{UUID: uuid, State: projections.NewState(), Clean: clean, store: store}
	open := map[uint64]string{}
	var damage error
	for ev, err := range s.Events(uuid) {
		if err != nil {
			if !contexts.IsTorn(err) {
				damage = err
			}
			break
		}
		v.State.Apply(ev)
		switch b := ev.Body.(type) {
		case *event.ToolRequested:
			open[ev.Seq] = projections.Describe(ev)
		case *event.WorkspaceSaved:
			p := Point{Seq: ev.Seq, Time: ev.Time, Step: b.Reason, Saved: b}
			if step := open[ev.Cause]; step != "" {
				p.Step = step
			}
			v.Points = append(v.Points, p)
			clear(open)
		}
	}
	if len(v.Points) == 0 {
		return nil, errors.Join(fmt.Errorf("%s: %w", uuid, ErrNone), damage)
	}
	return v, damage
}

// Objects opens the files that are stored beside a log without reading it. The view has
// no points: whoever uses it knows the trees.
func Objects(s *contexts.Store, uuid string, clean func(string) string) (*View, error) {
	store, err := stored(s, uuid)
	if err != nil {
		return nil, err
	}
	return &View{UUID: uuid, Clean: clean, store: store}, nil
}

// Within is *[NoEventError] for a number beyond the last event.
func (v *View) Within(seq uint64) error {
	if seq > v.State.Seq {
		return &NoEventError{seq, v.State.Seq}
	}
	return nil
}

// At is the save that says what the files were after an event. 0 is the last event.
func (v *View) At(seq uint64) (Point, error) {
	last := Point{}
	if err := v.Within(seq); err != nil {
		return last, err
	}
	for _, p := range v.Points {
		if seq == 0 || p.Seq <= seq {
			last = p
		}
	}
	if last.Saved == nil {
		return last, fmt.Errorf("event %d is before the first save, event %d", seq, v.Points[0].Seq)
	}
	return last, nil
}

// Start is the tree that the work began on: of the first save.
func (v *View) Start() string { return v.Points[0].Saved.Tree }

// TreeAt is the tree after event seq, or at the beginning for 0.
func (v *View) TreeAt(seq uint64) (tree string, err error) {
	if seq == 0 {
		return v.Start(), nil
	}
	p, err := v.At(seq)
	if err != nil {
		return "", err
	}
	return p.Saved.Tree, nil
}

// End is the tree of the last save.
func (v *View) End() string { return v.Points[len(v.Points)-1].Saved.Tree }

// Unchanged means that files are those of the commit that the work began on, of which nothing is stored.
type Unchanged struct{ Commit string }

func (u *Unchanged) Error() string {
	return "no step had changed a file: the files are those of commit " + u.Commit
}
func (u *Unchanged) Unwrap() error { return snapshot.ErrMissing }

// Tree reads a saved tree. An error may be *[Unchanged].
func (v *View) Tree(name string) (*snapshot.Tree, error) {
	t, err := v.store.Tree(name, nil)
	if errors.Is(err, snapshot.ErrMissing) && len(v.Points) > 0 && name == v.Points[0].Saved.From {
		err = &Unchanged{v.Points[0].Saved.Base}
	}
	return t, err
}

// Content gives what a file of a saved tree held, redacted. It is not known of one that no step changed.
func (v *View) Content(tree *snapshot.Tree, path string) (snapshot.Entry, []byte, error) {
	e, ok := tree.Entry(path)
	if !ok {
		return e, nil, fmt.Errorf("%q is not a file of this tree, or it lies in a directory that no step changed", path)
	}
	data, ok := v.store.Blob(e.Name)
	if !ok {
		base := ""
		if len(v.Points) > 0 {
			base = "; commit " + v.Points[0].Saved.Base + " has it"
		}
		return e, nil, fmt.Errorf("the content of %q %w: no step changed it%s", path, snapshot.ErrMissing, base)
	}
	if utf8.Valid(data) {
		data = []byte(v.Clean(string(data)))
	}
	return e, data, nil
}

// Stored reports whether a content lies beside the log.
func (v *View) Stored(object string) bool { return object != "" && v.store.Has(object) }
