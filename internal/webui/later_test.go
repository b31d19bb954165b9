package webui

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"agent/internal/i18n"
	"agent/internal/report"
)

// What takes long is not waited for: first there is nothing, then the value, then the old
// value while a new one is made. What fails keeps the old value, and what panics ends nothing.
func TestLater(t *testing.T) {
	var l later[int]
	next := make(chan func() int)
	get := func(patience time.Duration) (int, bool, error) {
		v, at, err := l.get(0, patience, func() (int, error) {
			v := (<-next)()
			if v < 0 {
				return 0, errors.New("no")
			}
			return v, nil
		})
		return v, !at.IsZero(), err
	}
	// made begins another attempt and waits for its end.
	made := func(f func() int) (int, bool, error) {
		t.Helper()
		for _, _, _ = get(0); ; _, _, _ = get(0) { // a twentieth of the time
			select {
			case next <- f:
				l.mu.Lock()
				ends := l.ends
				l.mu.Unlock()
				if ends != nil {
					<-ends
				}
				l.mu.Lock()
				defer l.mu.Unlock()
				return l.value, !l.at.IsZero(), l.err
			case <-time.After(time.Millisecond):
			}
		}
	}
	if v, there, err := get(time.Millisecond); v != 0 || there || err != nil {
		t.Errorf("before the first: %d %v %v", v, there, err)
	}
	if v, there, err := made(func() int { return 1 }); v != 1 || !there || err != nil {
		t.Errorf("the first: %d %v %v", v, there, err)
	}
	if v, there, err := made(func() int { return -1 }); v != 1 || !there || err == nil {
		t.Errorf("after a failure: %d %v %v", v, there, err)
	}
	if v, _, err := made(func() int { panic("ouch") }); v != 1 || err == nil || !strings.Contains(err.Error(), "ouch") {
		t.Errorf("after a panic: %d %v", v, err)
	}
	if v, _, err := made(func() int { return 2 }); v != 2 || err != nil {
		t.Errorf("the next: %d %v", v, err)
	}
}

// While logs are added up the page says how far that is, and comes again by itself.
func TestStatsAreAwaited(t *testing.T) {
	w := newWorld(t)
	must(t, w.context(0, "Greet the world").Close())
	s, err := New(report.Source{Store: w.store, Lang: i18n.En, Now: time.Now(), Warn: func(error) {}}, Options{Address: "127.0.0.1:80"})
	must(t, err)
	get := func() *httptest.ResponseRecorder {
		rec := httptest.NewRecorder()
		s.Handler("127.0.0.1:80").ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "http://127.0.0.1:80/stats", nil))
		return rec
	}
	s.adding.Lock()
	if rec := get(); rec.Header().Get("Refresh") == "" || !strings.Contains(rec.Body.String(), "Adding up the logs: 0 of 0") {
		t.Errorf("%v %s", rec.Header(), rec.Body)
	}
	s.adding.Unlock()
	rec := get()
	for rec.Header().Get("Refresh") != "" {
		rec = get()
	}
	if !strings.Contains(rec.Body.String(), "github.com/acme/widgets") || !strings.Contains(rec.Body.String(), "As of ") {
		t.Errorf("%s", rec.Body)
	}
}
