package notify

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/config"
	"agent/internal/fsx"
	"agent/internal/i18n"
	"agent/internal/redact"
	"agent/projections"
)

const secret = "tok-0123456789abcdef"

// inbox is a receiver that keeps what it is sent. answer, if set, decides what a request gets.
type inbox struct {
	*httptest.Server
	mu     sync.Mutex
	got    []Message
	bodies []string
	header http.Header
	answer func(n int, w http.ResponseWriter)
}

func newInbox(t *testing.T, answer func(n int, w http.ResponseWriter)) *inbox {
	b := &inbox{answer: answer}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		var m Message
		_ = json.Unmarshal(data, &m)
		b.mu.Lock()
		b.got, b.bodies, b.header = append(b.got, m), append(b.bodies, r.URL.String()+" "+string(data)), r.Header
		n := len(b.got)
		b.mu.Unlock()
		if b.answer != nil {
			b.answer(n, w)
		}
	}))
	t.Cleanup(func() { b.CloseClientConnections(); b.Close() })
	return b
}

func (b *inbox) ids() (ids []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.got {
		ids = append(ids, m.ID)
	}
	return ids
}

// logs keeps the program's log.
type logs struct {
	mu sync.Mutex
	strings.Builder
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Builder.Write(p)
}

func (l *logs) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.String()
}

// machine is a store with contexts, and the notifiers of its processes.
type machine struct {
	t     *testing.T
	store *contexts.Store
	o     Options
	log   *logs
}

func newMachine(t *testing.T, all ...config.Notification) *machine {
	fsys, err := fsx.OpenOS(filepath.Join(t.TempDir(), "contexts"))
	must(t, err)
	store, err := contexts.Open(fsys, contexts.Options{})
	must(t, err)
	log := &logs{}
	for i := range all {
		if len(all[i].On) == 0 {
			all[i].On = config.Strings{Paused, Approval, Failed, Completed, Limit}
		}
		if all[i].TimeoutSeconds == 0 {
			all[i].TimeoutSeconds = 10
		}
	}
	return &machine{t, store, Options{Store: store, Notify: all, Redact: redact.New([]string{secret}), Lang: i18n.En, Log: slog.New(slog.NewTextHandler(log, nil)), Version: "1"}, log}
}

// life is one context, as a process works on it.
type life struct {
	t       *testing.T
	context *contexts.Context
	state   *projections.State
	sees    func(event.Event, *projections.State)
}

func (m *machine) begin(n int, sees func(event.Event, *projections.State)) *life {
	uuid := fmt.Sprintf("11110000-0000-4000-8000-%012d", n)
	now := time.Now()
	c, err := m.store.Create(&event.ContextCreated{Format: event.Format, UUID: uuid, TaskKey: fmt.Sprintf("github.com/acme/widgets/issues/%d", n), Forge: "github.com",
		Kind: "github_issue", Title: "Title " + secret, User: "alice", Trigger: "label"}, now)
	must(m.t, err)
	l := &life{m.t, c, projections.NewState(), sees}
	for ev, err := range m.store.Events(uuid) {
		must(m.t, err)
		l.state.Apply(ev)
	}
	l.add(now, &event.ProcessStarted{Version: "1"})
	return l
}

func (l *life) add(at time.Time, b event.Body) {
	ev, err := l.context.Append(event.Event{Time: at, Body: b})
	must(l.t, err)
	l.state.Apply(ev)
	if l.sees != nil {
		l.sees(ev, l.state)
	}
}

// dies leaves the context as kill -9 does.
func (l *life) dies() { must(l.t, l.context.Close()) }

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func failed() event.Body { return &event.ContextFailed{Reason: "model_auth"} }

// Each kind of event is told as what it is, and what people know already is not told.
func TestKinds(t *testing.T) {
	pause := func(reason event.PauseReason, until string) event.Body {
		return &event.ContextPaused{Reason: reason, Until: event.Until{Kind: until, Time: time.Now()}}
	}
	for name, c := range map[string]struct {
		body event.Body
		want []string
	}{
		"limit":                    {pause(event.PauseLimit, "person"), []string{Limit, Paused}},
		"change":                   {pause(event.PauseChange, "person"), []string{Approval, Paused}},
		"text":                     {pause(event.PauseText, "person"), []string{Approval, Paused}},
		"on request":               {pause(event.PauseOnRequest, "person"), []string{Paused}},
		"repeated call":            {pause(event.PauseRepeatedCall, "person"), []string{Paused}},
		"outage":                   {pause(event.ModelPause("transient"), "time"), []string{Paused}},
		"question":                 {&event.ContextAwaiting{Reason: "clarification"}, []string{Paused}},
		"done, and people may ask": {&event.ContextAwaiting{}, []string{Completed}},
		"nobody asked":             {&event.ContextCompleted{Reason: "timeout"}, nil},
		"done":                     {&event.ContextCompleted{Reason: "done"}, []string{Completed}},
		"limit of calls":           {&event.ContextCompleted{Reason: "max_calls", Partial: true}, []string{Limit, Completed}},
		"failed":                   {failed(), []string{Failed}},
		"stopped by a person":      {&event.ContextStopped{Reason: "x"}, nil},
		"resumed":                  {&event.ContextResumed{}, nil},
	} {
		s := projections.NewState()
		s.Apply(event.Event{Seq: 1, Body: &event.ContextCreated{}})
		s.Apply(event.Event{Seq: 2, Body: c.body})
		if got := kindsOf(c.body, s); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if b, outage := c.body.(*event.ContextPaused); outage && b.Until.Kind == "time" {
			s.Apply(event.Event{Seq: 3, Body: &event.ContextResumed{}})
			s.Apply(event.Event{Seq: 4, Body: c.body})
			if got := kindsOf(c.body, s); got != nil {
				t.Errorf("the same outage again: %q", got)
			}
		}
	}
}

// A receiver gets the facts of what it wants to know, without secrets, and each event once;
// a fork, which a person runs, is nobody's news.
func TestTold(t *testing.T) {
	all, some := newInbox(t, nil), newInbox(t, nil)
	m := newMachine(t, config.Notification{URL: all.URL}, config.Notification{URL: some.URL, On: config.Strings{Approval}})
	n := New(m.o)
	l := m.begin(1, n.Saw)
	l.add(time.Now(), &event.ContextPaused{Reason: event.PauseChange, Until: event.Until{Kind: "person"}})
	l.add(time.Now(), &event.ContextResumed{})
	l.add(time.Now(), failed())
	fork := m.begin(2, nil)
	fork.state.Fork = &projections.Fork{}
	fork.sees = n.Saw
	fork.add(time.Now(), failed())
	must(t, n.Close())
	want := []string{l.context.UUID() + ":3", l.context.UUID() + ":5"}
	if got := all.ids(); !slices.Equal(got, want) {
		t.Fatalf("told of %q, want %q", got, want)
	}
	if got := some.ids(); !slices.Equal(got, want[:1]) {
		t.Errorf("only approvals: %q", got)
	}
	got := all.got[1]
	if got.Event != Failed || got.State != "failed" || got.Task != "github.com/acme/widgets/issues/1" || !strings.HasPrefix(got.Text, "Failed: Title [") ||
		got.Reason == "" || strings.Contains(strings.Join(all.bodies, ""), secret) {
		t.Errorf("%+v", got)
	}
	if left, err := m.store.Notified(); err != nil || len(left) != 0 {
		t.Errorf("notes are left: %v %v", left, err)
	}
}

// A process may die at any moment: what it did not begin to tell the next one tells, and
// nothing is told twice. The store is all that the next process knows.
func TestKilled(t *testing.T) {
	for name, c := range map[string]struct {
		age   time.Duration
		dies  func(m *machine, l *life, id string) // before the next process begins
		event event.Body
		want  int
	}{
		"before anything":         {0, nil, failed(), 1},
		"a day later":             {25 * time.Hour, nil, failed(), 0},
		"after the claim":         {0, func(m *machine, l *life, id string) { m.claim(l, id) }, failed(), 0},
		"paused and told of":      {0, func(m *machine, l *life, id string) { m.claim(l, id) }, &event.ContextPaused{Reason: event.PauseLimit, Until: event.Until{Kind: "person"}}, 0},
		"paused and not told of":  {0, nil, &event.ContextPaused{Reason: event.PauseLimit, Until: event.Until{Kind: "person"}}, 1},
		"what nobody is told of":  {0, nil, &event.ContextStopped{Reason: "x"}, 0},
		"the context is gone now": {0, func(m *machine, l *life, id string) { l.gone(m) }, failed(), 0},
	} {
		t.Run(name, func(t *testing.T) {
			box := newInbox(t, nil)
			m := newMachine(t, config.Notification{URL: box.URL})
			id := newReceiver(0, m.o.Notify[0], "").id
			first := true
			l := m.begin(1, func(ev event.Event, s *projections.State) {
				if first { // the process lives until its first event was seen
					_, err := m.store.OpenNotices(s.Created.UUID, "dead", []string{id}, ev.Seq-1)
					must(t, err)
				}
				first = false
			})
			l.add(time.Now().Add(-c.age), c.event)
			must(t, l.context.Relocate())
			l.dies()
			if c.dies != nil {
				c.dies(m, l, id)
			}
			for range 3 { // and nothing by the processes after the next one
				n := New(m.o)
				n.catchUpAll(t)
				must(t, n.Close())
			}
			if got := box.ids(); len(got) != c.want {
				t.Errorf("told %d times, want %d\n%s", len(got), c.want, m.log.text())
			}
			if left, err := m.store.Notified(); err != nil || len(left) > 1 || len(left) == 1 && l.state.Status != projections.Paused {
				t.Errorf("notes are left: %v %v", left, err)
			}
		})
	}
}

func (m *machine) claim(l *life, id string) {
	ok, err := m.store.ClaimNotice(l.context.UUID(), id, l.state.Seq)
	if must(m.t, err); !ok {
		m.t.Fatal("it was claimed before")
	}
}

func (l *life) gone(m *machine) {
	_, err := m.store.Remove(l.context.UUID())
	must(l.t, err)
}

func (n *Notifier) catchUpAll(t *testing.T) {
	notified, err := n.o.Store.Notified()
	must(t, err)
	for id, written := range notified {
		if err := n.catchUp(id); err != nil {
			n.giveUp(id, written, err)
		}
	}
}

// The process that goes on with a context tells what the one before did not. Another process that looks
// at the same time tells nothing while the context is locked, and afterwards nothing twice: then either
// may be the first.
func TestGoesOn(t *testing.T) {
	box := newInbox(t, nil)
	m := newMachine(t, config.Notification{URL: box.URL})
	id := newReceiver(0, m.o.Notify[0], "").id
	l := m.begin(1, nil)
	_, err := m.store.OpenNotices(l.context.UUID(), "dead", []string{id}, l.state.Seq)
	must(t, err)
	l.add(time.Now(), &event.ContextPaused{Reason: event.PauseLimit, Until: event.Until{Kind: "person"}})
	other, next := New(m.o), New(m.o)
	l.sees = next.Saw
	l.add(time.Now(), &event.ProcessStarted{})
	other.catchUpAll(t) // the context is locked
	l.add(time.Now(), &event.ContextResumed{})
	l.add(time.Now(), failed())
	must(t, l.context.Relocate())
	l.dies()
	other.catchUpAll(t)
	must(t, next.Close(), other.Close())
	if want := []string{l.context.UUID() + ":3", l.context.UUID() + ":6"}; !slices.Equal(slices.Sorted(slices.Values(box.ids())), want) {
		t.Errorf("told of %q, want %q\n%s", box.ids(), want, m.log.text())
	}
}

// One receiver that hangs holds up neither the work, nor other receivers, nor the end of the process.
// What it was not told of is told by the next process.
func TestHangs(t *testing.T) {
	release := make(chan struct{})
	stuck := newInbox(t, func(n int, _ http.ResponseWriter) {
		if n == 1 {
			<-release
		}
	})
	well := newInbox(t, nil)
	m := newMachine(t, config.Notification{URL: stuck.URL, TimeoutSeconds: 120}, config.Notification{URL: well.URL}, config.Notification{Command: []string{"sh", "-c", "sleep 1000"}, TimeoutSeconds: 120})
	n := New(m.o)
	n.grace = 300 * time.Millisecond
	const count = 10
	for i := range count {
		m.begin(i+1, n.Saw).add(time.Now(), failed())
	}
	must(t, n.Close()) // within its bound, or the test never ends
	if got := len(well.ids()); got != count {
		t.Errorf("the other receiver was told %d times", got)
	}
	if got := len(stuck.ids()); got != 1 {
		t.Errorf("the one that hangs was asked %d times", got)
	}
	if text := m.log.text(); strings.Count(text, "the program ended before the receiver answered") != 2 || !strings.Contains(text, "task=github.com/acme/widgets/issues/1 ") {
		t.Errorf("%s", text)
	}
	close(release)
	m.o.Notify[2].Command = []string{"true"}
	next := New(m.o)
	next.catchUpAll(t)
	must(t, next.Close())
	if got := slices.Compact(slices.Sorted(slices.Values(stuck.ids()))); len(stuck.ids()) != len(got) {
		t.Errorf("told twice: %q", stuck.ids())
	}
}

// More messages than a queue holds are told later, none is told twice, and nobody waits for room.
func TestCrowd(t *testing.T) {
	release := make(chan struct{})
	box := newInbox(t, func(n int, _ http.ResponseWriter) {
		if n == 1 {
			<-release
		}
	})
	m := newMachine(t, config.Notification{URL: box.URL, TimeoutSeconds: 120})
	patient := func() *Notifier { // what is being sent when a process has waited for seconds may or may not arrive
		n := New(m.o)
		n.grace = time.Minute
		return n
	}
	n := patient()
	const count = queue + 40
	for i := range count {
		l := m.begin(i+1, n.Saw)
		l.add(time.Now(), failed())
		must(t, l.context.Relocate())
		l.dies()
	}
	close(release)
	must(t, n.Close())
	for range 3 {
		next := patient()
		next.catchUpAll(t)
		must(t, next.Close())
	}
	if ids := slices.Sorted(slices.Values(box.ids())); len(ids) != count || len(slices.Compact(ids)) != count {
		t.Errorf("%d were told, %d different ones, want %d", len(box.ids()), len(slices.Compact(ids)), count)
	}
}
