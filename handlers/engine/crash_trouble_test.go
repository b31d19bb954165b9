package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/exhaustive"
	"agent/llm/llmtest"
	"agent/projections"
)

// trouble is a task that meets something from outside in the middle of its work, which
// people mend. The process is killed at any point of it: the end is the same, the
// replay is exact, and the trouble shows in the log as it is to.
type trouble struct {
	name   string
	make   func(t testing.TB, down *atomic.Bool) *world
	resume bool   // a person has to resume it
	shows  string // type of an event that the log holds
}

// troubled plays the model, but for what a server says instead in the third turn while it is down.
func troubled(says llmtest.Reply) func(testing.TB, *atomic.Bool) *world {
	return func(t testing.TB, down *atomic.Bool) *world {
		w := newWorld(t, scenario{func(n int, r llmtest.Request) llmtest.Reply {
			if down.Load() && len(r.Tools) > 0 && r.Turns() == 2 {
				return says
			}
			return playGoals(n, r)
		}, correction.notes})
		return w
	}
}

var troubles = []trouble{
	{"outage", troubled(llmtest.ServerError(503)), false, "llm.failed"},
	{"asks for time", troubled(llmtest.RateLimit(10 * time.Minute)), false, "llm.failed"},
	{"no money", troubled(llmtest.Error(402, "insufficient_quota", "Insufficient credits")), true, "change.requested"},
	{"wrong key", troubled(llmtest.Error(401, "invalid_api_key", "Incorrect API key provided")), true, "change.requested"},
	{"an empty reply", func(t testing.TB, _ *atomic.Bool) *world {
		return newWorld(t, scenario{func(n int, r llmtest.Request) llmtest.Reply {
			if r.Turns() == 2 && !r.Contains("Your reply was empty") {
				return llmtest.Text("")
			}
			return playGoals(n, r)
		}, correction.notes})
	}, false, "llm.failed"},
	{"a refused shape", func(t testing.TB, _ *atomic.Bool) *world {
		return newWorld(t, scenario{func(n int, r llmtest.Request) llmtest.Reply {
			if strings.Contains(string(r.Raw), `"stream_options"`) {
				return llmtest.Error(400, "invalid_request_error", "Unrecognized request argument supplied")
			}
			return playGoals(n, r)
		}, correction.notes})
	}, false, "llm.adapted"},
	{"another name", func(t testing.TB, _ *atomic.Bool) (w *world) {
		w = newWorld(t, scenario{func(n int, r llmtest.Request) llmtest.Reply {
			if r.Turns() == 2 && w.renamed.CompareAndSwap(false, true) {
				w.forge.RenameRepository(project, newName)
			}
			return playGoals(n, r)
		}, correction.notes})
		return w
	}, false, "task.moved"},
	{"another server", fallenBack, false, "llm.switched"},
}

// fallenBack is a world whose first model server goes out of service after one reply.
func fallenBack(t testing.TB, _ *atomic.Bool) *world {
	w := strict(t, llmtest.DialectNamed("DeepSeek, thinking"), "deepseek")
	w.once.Store(true)
	w.down = llmtest.New(func(_ int, r llmtest.Request) llmtest.Reply {
		if r.Turns() == 0 {
			return llmtest.ToolCall("files__read", toolArgs{Path: "notes.txt"})
		}
		return llmtest.ServerError(503)
	})
	t.Cleanup(w.down.Close)
	line, err := json.Marshal(event.Fallback{Provider: "other", Model: w.config.Model, ContextLength: 50_000, Profile: "deepseek"})
	if err != nil {
		t.Fatal(err)
	}
	w.config.Fallback, w.config.Model, w.config.Profile = string(line), "first", "openai"
	return w
}

// live runs processes until the task has come to its end; the first is killed at a point.
func (tr trouble) live(t testing.TB, p point) (w *world, contacts int64, err error) {
	var down atomic.Bool
	down.Store(true)
	w = tr.make(t, &down)
	if p.operation > 0 {
		w.disk.KillAt(p.operation, p.inside)
	}
	for n := range 8 {
		if down.Load() && n > 0 && w.rests() {
			if tr.resume {
				if err := w.resumed(); err != nil { // the command was killed
					w.disk = p.rise(w.disk)
					if err := w.resumed(); err != nil {
						return w, contacts, err
					}
				}
			}
			down.Store(false)
		}
		l := w.born()
		l.last, l.after = max(p.contact-contacts, 0), p.after
		err = l.run()
		contacts += l.contacts
		if l.dead() {
			w.disk = p.rise(w.disk)
			continue
		}
		if err != nil {
			return w, contacts, fmt.Errorf("the next process: %w", err)
		}
		if w.status().Ended() {
			return w, contacts, nil
		}
	}
	return w, contacts, errors.New("it does not end")
}

// rests reports whether the task is paused.
func (w *world) rests() bool { return w.status() == projections.Paused }

// status is that of the only context, also if the latest line was torn by a kill.
func (w *world) status() projections.Status {
	s := projections.NewState()
	store, err := contexts.Open(w.disk, contexts.Options{ReadOnly: true})
	if err != nil {
		return s.Status // nothing was made yet
	}
	for _, ev := range w.log(store) {
		s.Apply(ev)
	}
	return s.Status
}

// resumed leaves the signal of a person.
func (w *world) resumed() error { return w.send(contexts.Resume) }

func (w *world) send(g contexts.Signal) error {
	store, err := contexts.Open(w.disk, contexts.Options{Now: time.Now})
	if err != nil {
		return err
	}
	for entry, err := range store.List() {
		if err != nil {
			return err
		}
		if err := store.Send(entry.UUID, g, []byte(`{"by":"operator"}`)); err != nil {
			return err
		}
	}
	return nil
}

type troublePoint struct {
	point
	tr trouble
}

func (p troublePoint) try(t testing.TB, want reference) error {
	w, _, err := p.tr.live(t, p.point)
	defer w.close()
	if err != nil {
		return err
	}
	got, err := w.verify()
	if err != nil {
		return err
	}
	if p.tr.shows == "llm.switched" {
		want.end.Summary = got.Summary // a new process asks the first server again, which drafts none
	}
	delete(got.Published, "") // the patch of a pause: how far the work was then may differ
	return errors.Join(got.compareTalk(want.end), w.shows(p.tr.shows))
}

func (w *world) shows(kind string) error {
	store, err := contexts.Open(w.disk, contexts.Options{})
	if err != nil {
		return err
	}
	for _, ev := range w.log(store) {
		if ev.Body.Type() == kind || kind == "" {
			return nil
		}
	}
	return fmt.Errorf("the log holds no %s", kind)
}

// Killed around each trouble.
func TestKilledInTrouble(t *testing.T) {
	exhaustive.Slow(t)
	for _, tr := range troubles {
		t.Run(tr.name, func(t *testing.T) {
			w, contacts, err := tr.live(t, point{})
			defer w.close()
			if err = errors.Join(err, w.shows(tr.shows)); err != nil {
				t.Fatal(err)
			}
			want := reference{scenario: correction, operations: w.disk.Ops(), contacts: contacts}
			if want.end, err = w.verify(); err != nil {
				t.Fatal(err)
			}
			delete(want.end.Published, "")
			var all []troublePoint
			for n := 1; n < want.operations; n += exhaustive.Every(5) {
				all = append(all, troublePoint{point{name: fmt.Sprintf("operation %d", n), operation: n, inside: n%2 == 0}, tr})
			}
			for c := int64(1); c < want.contacts; c += int64(exhaustive.Every(2)) {
				all = append(all, troublePoint{point{name: fmt.Sprintf("contact %d", c), contact: c, after: c%4 < 2}, tr})
			}
			sweep(t, want, all)
		})
	}
}
