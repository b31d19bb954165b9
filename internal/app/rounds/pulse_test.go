package rounds

import (
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/internal/app"
	"agent/internal/config"
	"agent/internal/sdnotify"
	"agent/mcp"
)

// A step that takes too long is named, and nothing else is: neither what is over nor
// what waits by intent.
func TestPulse(t *testing.T) {
	var p Pulse
	p.beat("a", time.Minute)
	p.beat("b", time.Hour)
	p.beat("c", time.Second)
	p.end("c")
	now := time.Now()
	for after, want := range map[time.Duration][]string{0: nil, 2 * time.Minute: {"a: no step for 2m0s"}, 2 * time.Hour: {"a: no step for 2h0m0s", "b: no step for 2h0m0s"}} {
		if got := p.Stuck(now.Add(after)); !slices.Equal(got, want) {
			t.Errorf("after %s: %q, want %q", after, got, want)
		}
	}
	p.beat("a", 3*time.Minute) // the next step
	if got := p.Stuck(now.Add(2 * time.Minute)); got != nil {
		t.Errorf("after another step: %q", got)
	}
}

// The longest calls that are allowed are no standstill.
func TestMayTake(t *testing.T) {
	s := Rounds{App: &app.App{Config: &config.Config{LLM: config.LLM{TimeoutSeconds: 7200}}}}
	if s.mayTake(&event.ToolRequested{}) <= mcp.LongestCall || s.mayTake(&event.LLMRequested{}) <= 2*time.Hour || s.mayTake(&event.ToolReplied{}) > time.Hour {
		t.Errorf("%s, %s, %s", s.mayTake(&event.ToolRequested{}), s.mayTake(&event.LLMRequested{}), s.mayTake(&event.ToolReplied{}))
	}
}

// Who waits for signs of life gets them while everything goes on, and none while
// something stands still: a timer alone would go on for ever.
func TestSigns(t *testing.T) {
	name := filepath.Join(t.TempDir(), "notify")
	at, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	s := Rounds{App: &app.App{Log: slog.New(slog.NewTextHandler(io.Discard, nil))}, Service: sdnotify.New(func(key string) string {
		return map[string]string{"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "30000"}[key]
	})}
	alive := func(within time.Duration) bool {
		_ = at.SetReadDeadline(time.Now().Add(within))
		_, err := at.Read(make([]byte, 100))
		return err == nil
	}
	s.pulse.beat("a task", 0) // it takes too long from the start
	go s.signs(t.Context())
	if alive(100 * time.Millisecond) {
		t.Error("a sign of life while a task stands still")
	}
	s.pulse.end("a task")
	for range 2 {
		if !alive(10 * time.Second) {
			t.Error("no signs of life while nothing stands still")
		}
	}
	s.pulse.beat("another", 0)
	for end := time.Now().Add(10 * time.Second); alive(100 * time.Millisecond); {
		if time.Now().After(end) {
			t.Fatal("signs of life go on while a task stands still")
		}
	}
}
