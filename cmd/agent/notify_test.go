package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"agent/internal/doctor"
	"agent/internal/notify"
)

// receiver keeps the messages that it gets; while it hangs it answers none.
type receiver struct {
	*httptest.Server
	mu  sync.Mutex
	got []notify.Message
}

func newReceiver(t *testing.T, hang <-chan struct{}) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		data, _ := io.ReadAll(q.Body)
		var m notify.Message
		_ = json.Unmarshal(data, &m)
		r.mu.Lock()
		r.got = append(r.got, m)
		r.mu.Unlock()
		if hang != nil {
			<-hang
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) events() (all []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.got {
		all = append(all, m.Event)
	}
	return all
}

// TestNotifies: a run tells of its end, with the change, although another receiver never answers; the log
// names that one without its address.
func TestNotifies(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	well, stuck := newReceiver(t, nil), newReceiver(t, hang)
	t.Cleanup(func() { close(hang) })
	w := newWorld(t, greet())
	w.extra += fmt.Sprintf("notify:\n  - {url: %q}\n  - {url: %q, timeout_seconds: 1}\n  - {on: failed, command: [touch, %q]}\n", well.URL, stuck.URL+"/hidden-path", w.path("failed"))
	_, errOut := w.agent(0, "run")
	if got := well.events(); !slices.Equal(got, []string{"completed"}) {
		t.Fatalf("told of %q\n%s", got, errOut)
	}
	m, c := well.got[0], w.only()
	if m.Context != c.UUID || m.State != "completed" || !strings.Contains(m.Change, "/pull/") || !strings.Contains(m.URL, "/issues/1") || !strings.Contains(m.Text, "Completed: Greet the world") {
		t.Errorf("%+v", m)
	}
	log, err := os.ReadFile(w.path("logs", "agent.log"))
	if must(t, err); !strings.Contains(string(log), "notification not sent") || !strings.Contains(string(log), "did not end within 1s") || strings.Contains(string(log)+errOut, "hidden-path") {
		t.Errorf("%s\n%s", errOut, log)
	}
	w.agent(0, "run")
	if len(well.events()) != 1 || len(stuck.events()) != 1 {
		t.Error("told twice")
	}
}

// TestNotifiesOnceAfterKill: a process is killed while it tells a receiver of a limit. The next ones do not
// tell it again; what comes then is told.
func TestNotifiesOnceAfterKill(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	r := newReceiver(t, hang)
	w := newWorld(t, greet())
	w.extra += fmt.Sprintf("notify: [{url: %q}]\nloop: {interval_seconds: 1}\nlimits: {max_tokens: 1}\n", r.URL)
	loop := w.start("loop")
	w.until("the receiver is told", func() bool { return len(r.events()) == 1 })
	loop.kill()
	close(hang)
	loop = w.start("loop")
	w.until("a round is over", func() bool { return w.only().State == "paused" })
	w.agent(0, "resume", w.only().UUID, "--add", "1000000")
	w.until("it is done", func() bool { return w.only().State == "completed" })
	w.until("the end is told", func() bool { return len(r.events()) == 2 })
	w.endLoop(loop)
	if got := r.events(); !slices.Equal(got, []string{"limit", "completed"}) {
		t.Errorf("told of %q", got)
	}
}

// TestNotifyTest: a message goes to each receiver, failures are told, and the doctor sends nothing.
func TestNotifyTest(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, nil)
	w := newWorld(t, ping())
	w.extra += fmt.Sprintf("notify:\n  - {url: %q}\n  - {command: [agent-has-no-such-program]}\n", r.URL)
	found := w.findings(78, "--no-model-call")
	w.wantFinding(found, "notify", doctor.OK, "paused, approval, failed, completed, limit")
	w.wantFinding(found, "notify", doctor.Failed, "agent-has-no-such-program cannot be run")
	if len(r.events()) != 0 {
		t.Error("the doctor has sent a message")
	}
	out, _ := w.agent(74, "notify", "test")
	if !slices.Equal(r.events(), []string{"test"}) || !strings.Contains(out, "✓ sent: notify[0] (url 127.0.0.1:") || !strings.Contains(out, "✗ notify[1] (command agent-has-no-such-program): ") {
		t.Errorf("%q\n%s", r.events(), out)
	}
	w.extra = ""
	if out, _ = w.agent(0, "notify", "test"); !strings.Contains(out, "no notify section") {
		t.Errorf("%s", out)
	}
}
