package export

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"agent/eventlog/event"
)

// backend is a collector that keeps spans by their ids. answer, if it is set, decides what
// a request gets.
type backend struct {
	*httptest.Server
	mu     sync.Mutex
	spans  map[string]int // how often each came
	auth   string
	answer func(n int) int
	asked  int
}

func newBackend(t *testing.T) *backend {
	b := &backend{spans: map[string]int{}}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.asked++
		if b.answer != nil {
			if status := b.answer(b.asked); status != 200 {
				http.Error(w, "no", status)
				return
			}
		}
		b.auth = r.Header.Get("Authorization")
		data, _ := io.ReadAll(r.Body)
		var traces tracesData
		if r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/json" || json.Unmarshal(data, &traces) != nil {
			http.Error(w, "not OTLP", http.StatusBadRequest)
			return
		}
		for _, rs := range traces.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				for _, span := range ss.Spans {
					b.spans[span.Name+" "+span.SpanID]++
				}
			}
		}
		io.WriteString(w, `{}`)
	}))
	t.Cleanup(b.Close)
	return b
}

func (b *backend) sender(s Source) *Sender {
	return NewSender(s, Client{Endpoint: b.URL, Headers: map[string]string{"Authorization": "Bearer x"}}, slog.New(slog.DiscardHandler))
}

// eventsOf is the log as the engine would give it out.
func eventsOf(t *testing.T, s Source) (all []event.Event) {
	for ev, err := range s.Store.Events(uuid) {
		must(t, err)
		all = append(all, ev)
	}
	return all
}

func TestSenderSendsEachSpanOnce(t *testing.T) {
	s, b := run(t), newBackend(t)
	sender := b.sender(s)
	for _, ev := range eventsOf(t, s) {
		sender.Saw(uuid, ev)
	}
	must(t, sender.Close())
	if len(b.spans) != 10 || b.auth != "Bearer x" {
		t.Errorf("%d spans, %q: %v", len(b.spans), b.auth, b.spans)
	}
	for name, n := range b.spans {
		if n != 1 {
			t.Errorf("%s came %d times", name, n)
		}
	}
	sent, err := s.Send(t.Context(), Client{Endpoint: b.URL + "/"})
	if must(t, err); sent != 10 || len(b.spans) != 10 {
		t.Errorf("a second send made other spans: %d, %d", sent, len(b.spans))
	}
}

// TestSenderAfterAKill: the process that was killed did not send its spans. The next one,
// which sees the events from the second process.started on, sends them.
func TestSenderAfterAKill(t *testing.T) {
	s, b := run(t), newBackend(t)
	sender, started := b.sender(s), 0
	for _, ev := range eventsOf(t, s) {
		if _, ok := ev.Body.(*event.ProcessStarted); ok {
			started++
		}
		if started == 2 {
			sender.Saw(uuid, ev)
		}
	}
	must(t, sender.Close())
	if len(b.spans) != 10 {
		t.Errorf("%d spans: %v", len(b.spans), b.spans)
	}
}

// TestSenderFillsGaps: an event that found no room in the queue is read from the log.
func TestSenderFillsGaps(t *testing.T) {
	s, b := run(t), newBackend(t)
	sender := b.sender(s)
	for i, ev := range eventsOf(t, s) {
		if i%3 != 1 || i == 27 {
			sender.Saw(uuid, ev)
		}
	}
	must(t, sender.Close())
	if len(b.spans) != 10 {
		t.Errorf("%d spans: %v", len(b.spans), b.spans)
	}
}

// TestSenderNeverHoldsUp walks the answers of a collector. Whatever it says, the process
// ends soon, and nothing is an error of the run.
func TestSenderNeverHoldsUp(t *testing.T) {
	s := run(t)
	for name, answer := range map[string]func(int) int{
		"refuses": func(int) int { return 400 }, "unknown": func(int) int { return 404 }, "key": func(int) int { return 401 },
		"busy": func(int) int { return 503 }, "limit": func(int) int { return 429 }, "redirect": func(int) int { return 302 },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBackend(t)
			b.answer = answer
			sender := b.sender(s)
			for _, ev := range eventsOf(t, s) {
				sender.Saw(uuid, ev)
			}
			must(t, sender.Close())
			if len(b.spans) != 0 || b.asked == 0 {
				t.Errorf("%d requests, %d spans", b.asked, len(b.spans))
			}
		})
	}
	t.Run("nobody", func(t *testing.T) {
		sender := NewSender(s, Client{Endpoint: "http://127.0.0.1:1"}, slog.New(slog.DiscardHandler))
		for range 3 * queue { // more than it keeps
			sender.Saw(uuid, event.Event{Seq: 1, Time: time.Now(), Body: &event.ContextCreated{}})
		}
		must(t, sender.Close())
	})
}
