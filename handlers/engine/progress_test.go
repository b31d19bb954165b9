package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/forge/forgetest"
)

const commentsPath = ".*/issues/(1/comments|comments/.*)"

// commentWrites are the outcomes of the comments of the only log, by purpose.
func (w *world) commentWrites() (posted, failed []string) {
	store, err := contexts.Open(w.disk, contexts.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	for entry, err := range store.List() {
		if err != nil {
			w.t.Fatal(err)
		}
		purpose := ""
		for ev, err := range store.Events(entry.UUID) {
			if err != nil {
				w.t.Fatal(err)
			}
			switch b := ev.Body.(type) {
			case *event.CommentRequested:
				purpose = b.Purpose
			case *event.CommentPosted:
				posted = append(posted, purpose)
			case *event.CommentFailed:
				failed = append(failed, purpose)
			}
		}
	}
	return posted, failed
}

func (w *world) asked(method string) (n int) {
	for _, r := range w.forge.Requests() {
		if r.Method == method {
			n++
		}
	}
	return n
}

// A comment on progress is tried three times at most. The task goes on at once,
// and the next comment says what was missed.
func TestProgressGivesUp(t *testing.T) {
	want := undisturbed(t, correction)
	for _, fault := range []forgetest.Fault{
		{Kind: forgetest.Drop, Times: 3}, {Kind: forgetest.Answer, Status: 500, Times: 3},
		{Kind: forgetest.TooMany, RetryAfter: 5 * time.Minute}, {Kind: forgetest.Secondary, RetryAfter: time.Hour},
		{Kind: forgetest.Answer, Status: 422, Body: `{"message":"no"}`},
	} {
		t.Run(fmt.Sprint(fault.Kind, fault.Status), func(t *testing.T) {
			w := newWorld(t, correction)
			defer w.close()
			fault.Method, fault.Path = "POST", commentsPath
			w.forge.Fault(fault)
			if err := w.born().run(); err != nil {
				t.Fatal(err)
			}
			if _, failed := w.commentWrites(); !slices.Equal(failed, []string{"progress"}) {
				t.Errorf("comments that failed: %v", failed)
			}
			if late := slices.IndexFunc(w.slept, func(d time.Duration) bool { return d > 10*time.Second }); late >= 0 {
				t.Errorf("slept %v", w.slept)
			}
			got, err := w.verify()
			if err != nil {
				t.Fatal(err)
			}
			if err := got.compare(want.end); err != nil {
				t.Error(err)
			}
		})
	}
}

// A comment that was stored and not answered is given up while the forge does not tell
// whether it stands. The next one takes its place, and does not stand beside it.
func TestProgressIsFoundLater(t *testing.T) {
	want := undisturbed(t, correction)
	for _, kind := range []forgetest.FaultKind{forgetest.StoreDrop, forgetest.Store502HTML, forgetest.StoreGarbled} {
		t.Run(string(kind), func(t *testing.T) {
			given := 0
			for nth := 1; nth < 8; nth++ { // the lists that fail
				w := newWorld(t, correction)
				w.forge.Fault(forgetest.Fault{Method: "POST", Path: commentsPath, Kind: kind})
				w.forge.Fault(forgetest.Fault{Method: "GET", Path: ".*/issues/1/comments", Kind: forgetest.Drop, Nth: nth, Times: 4})
				for run := 0; ; run++ {
					err := w.born().run()
					if err == nil {
						break
					}
					if code(err) != contexts.ExitTemporary || run > 5 {
						t.Fatal(err)
					}
				}
				_, failed := w.commentWrites()
				given += len(failed)
				got, err := w.verify()
				if err == nil {
					err = got.compare(want.end)
				}
				if err != nil {
					t.Errorf("lists fail from the %d. on, given up: %v: %v", nth, failed, err)
				}
				w.close()
			}
			if given == 0 {
				t.Error("no comment was ever given up")
			}
		})
	}
}

// A forge that takes no edit at all leaves the first comment as it is, whole.
func TestProgressStaysBehind(t *testing.T) {
	w := newWorld(t, correction)
	defer w.close()
	w.forge.Fault(forgetest.Fault{Method: "PATCH", Path: commentsPath, Kind: forgetest.Drop, Times: -1})
	if err := w.born().run(); err != nil {
		t.Fatal(err)
	}
	posted, failed := w.commentWrites()
	if !slices.Equal(posted, []string{"progress", "completed"}) || len(failed) != 4 || w.asked("PATCH") > 3*len(failed) {
		t.Errorf("posted %v, failed %v, edits tried %d times", posted, failed, w.asked("PATCH"))
	}
}

// The other comments keep their word: what could not be written is written by the next run.
func TestFinalCommentDoesNotGiveUp(t *testing.T) {
	want := undisturbed(t, correction)
	w := newWorld(t, correction)
	defer w.close()
	w.forge.Fault(forgetest.Fault{Method: "POST", Path: commentsPath, Kind: forgetest.Drop, Times: -1})
	if got := code(w.born().run()); got != contexts.ExitTemporary {
		t.Fatalf("exit code %d", got)
	}
	if posted, failed := w.commentWrites(); len(posted) != 0 || slices.Contains(failed, "completed") {
		t.Errorf("posted %v, failed %v", posted, failed)
	}
	w.forge.ClearFaults()
	if err := w.born().run(); err != nil {
		t.Fatal(err)
	}
	posted, _ := w.commentWrites()
	if want := []string{"completed"}; !slices.Equal(posted, want) {
		t.Errorf("posted %v, want %v", posted, want)
	}
	got, err := w.verify()
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != want.Status || !slices.Equal(got.Labels, want.Labels) {
		t.Errorf("ended as %+v", got)
	}
}
