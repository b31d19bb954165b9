package engine_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"agent/contexts"
	"agent/handlers/engine"
	"agent/internal/cluster"
	"agent/internal/cluster/clustertest"
)

// late is an effect of a machine that falls asleep in the middle of a request and wakes when another
// machine has done the rest of the task.
type late struct {
	name string
	is   func(r *http.Request, body string) bool
}

var lates = []late{
	{"an edit", func(r *http.Request, _ string) bool {
		return r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/comments/")
	}},
	{"the first labels", func(r *http.Request, body string) bool {
		return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/issues/1/labels") && strings.Contains(body, "working")
	}},
}

// What a late effect has undone stands again, as if it had not come late.
func TestLateEffects(t *testing.T) {
	want := undisturbed(t, correction)
	for _, what := range lates {
		t.Run(what.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, correction)
			defer w.close()
			c := clustertest.New()
			a, busA := w.machine(c, 2*time.Second)
			b, _ := w.machine(c, time.Minute)
			slept := false
			a.carries = func(r *http.Request) (*http.Response, error) {
				body := bodyOf(r)
				if slept || !what.is(r, body) {
					return w.wire.RoundTrip(r)
				}
				slept = true
				busA.Cut(true)
				b.untilDone()
				response, err := w.wire.RoundTrip(r.Clone(context.WithoutCancel(r.Context())))
				busA.Heal()
				return response, err
			}
			amended := 0
			a.ended = func(e *engine.Engine, p engine.Ports) {
				late := e.Late()
				if late == nil {
					return
				}
				if got, err := b.verify(); err == nil && got.compare(want.end) == nil {
					t.Error("the late effect has undone nothing: the case is none")
				}
				if err := late.Amend(t.Context(), p); err != nil {
					t.Error(err)
				}
				amended++
			}
			if err := a.run(); err == nil || !slept || amended != 1 {
				t.Fatalf("it slept: %v, %d looks (%v)", slept, amended, err)
			}
			got, err := b.verify()
			if err == nil {
				err = got.compare(want.end)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// A later attempt has its own labels: what comes late from the one before is not told from them.
func TestLateLabelsOfAnEarlierAttempt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, correction)
	defer w.close()
	c := clustertest.New()
	a, busA := w.machine(c, 2*time.Second)
	b, _ := w.machine(c, time.Minute)
	slept, looked := false, false
	a.carries = func(r *http.Request) (*http.Response, error) {
		if slept || !lates[1].is(r, bodyOf(r)) {
			return w.wire.RoundTrip(r)
		}
		slept = true
		busA.Cut(true)
		b.untilDone()
		w.forge.AddLabelsAs(project, 1, "alice", botLabel)
		b.ctx, b.cancel = context.WithCancel(context.Background())
		if err := b.run(); err != nil {
			t.Error(err)
		}
		response, err := w.wire.RoundTrip(r.Clone(context.WithoutCancel(r.Context())))
		busA.Heal()
		return response, err
	}
	a.ended = func(e *engine.Engine, p engine.Ports) {
		before := w.forge.Labels(project, 1)
		if err := e.Late().Amend(t.Context(), p); err != nil {
			t.Error(err)
		}
		if after := w.forge.Labels(project, 1); !slices.Contains(before, "working") || !slices.Equal(before, after) {
			t.Errorf("the labels were %v, and are %v", before, after)
		}
		looked = true
	}
	if err := a.run(); err == nil || !slept || !looked {
		t.Fatalf("it slept: %v, it looked: %v (%v)", slept, looked, err)
	}
}

func bodyOf(r *http.Request) string {
	if r.Body == nil {
		return ""
	}
	data, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(data))
	return string(data)
}

// machine is another machine of the same world, with a disk of its own.
func (w *world) machine(c *clustertest.Cluster, lease time.Duration) (*life, *clustertest.Memory) {
	w.t.Helper()
	own := newWorld(w.t, correction)
	own.forge.Close()
	own.model.Close()
	own.forge, own.model, own.wire, own.dir, own.published, own.runs = w.forge, w.model, w.wire, w.dir, w.published, w.runs
	bus := c.Join()
	m, err := cluster.Join(w.t.Context(), bus, cluster.Options{Info: cluster.Info{Worker: "m", Capacity: 1}, Lease: lease})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = m.Leave(context.Background()) })
	l := own.born()
	l.worker = contexts.Options{Bus: bus, Member: m}
	return l, bus
}

// untilDone works until the one task has ended.
func (l *life) untilDone() {
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		store, err := contexts.Open(l.disk, l.worker)
		if err == nil {
			err = store.CatchUp(l.t.Context())
		}
		if err != nil {
			l.t.Error(err)
			return
		}
		if _, err = only(store); err == nil {
			return
		}
		if time.Now().After(end) {
			l.t.Error("the other machine did not do the task: ", err)
			return
		}
		l.ctx, l.cancel = context.WithCancel(context.Background())
		_ = l.run()
	}
}
