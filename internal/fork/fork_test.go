package fork

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/handlers/engine"
	"agent/internal/config"
	"agent/internal/logtest"
)

// twoServers has a model server that is asked, and one that is asked when that is out of service.
const twoServers = `
github: {repositories: [acme/widgets]}
llm:
  provider: openai
  openai: {model: large, api_key: "k-0123456789"}
  ollama: {model: small}
  fallback: [ollama]
`

func maker(t *testing.T, store *contexts.Store) *Maker {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte(twoServers), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, _, err := config.Load(file, func(name string) string { return map[string]string{"HOME": t.TempDir()}[name] }, config.Offline())
	if err != nil {
		t.Fatal(err)
	}
	return &Maker{Config: cfg, Store: store, Now: time.Now, Free: func(context.Context, string) error {
		t.Error("the origin is stopped")
		return nil
	}}
}

func TestServed(t *testing.T) {
	m := maker(t, nil)
	for name, want := range map[string][2]string{
		"larger":        {"openai", "larger"},
		"ollama:qwen":   {"ollama", "qwen"},
		"openai:larger": {"openai", "larger"},
		"ollama:":       {"openai", "ollama:"}, // the name of a model may hold a colon
		"qwen3:8b":      {"openai", "qwen3:8b"},
	} {
		if got := m.served(name); got.Provider != want[0] || got.Model != want[1] {
			t.Errorf("%s: %s of %s, want %s of %s", name, got.Model, got.Provider, want[1], want[0])
		}
	}
}

// Two must not work on one task: a live fork ends its origin, and only with an agreement.
func TestLiveForkFreesItsTask(t *testing.T) {
	work := []event.Body{&event.MessageAdded{Role: "system", Purpose: event.SystemMessage}}
	declined := errors.New("declined")
	for name, c := range map[string]struct {
		ended bool
		live  bool
		free  error
		want  string // of the error
	}{
		"runs, agreed":     {live: true},
		"runs, declined":   {live: true, free: declined, want: "declined"},
		"has ended":        {live: true, ended: true},
		"simulated, runs":  {},
		"simulated, ended": {ended: true},
	} {
		t.Run(name, func(t *testing.T) {
			bodies := work
			if c.ended {
				bodies = append(bodies[:1:1], &event.ContextStopped{})
			}
			store := logtest.Store(t, "Greet", bodies...)
			m, asked := maker(t, store), ""
			m.Free = func(ctx context.Context, task string) error {
				asked = task
				if c.free != nil {
					return c.free
				}
				return StopOrigin(ctx, store, logtest.UUID, func(context.Context) error { return stop(t, store) })
			}
			forked, _, err := m.Make(t.Context(), engine.Forking{Origin: logtest.UUID, At: 2, Live: c.live}, "", "")
			if err != nil != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
			if (asked == logtest.TaskKey) != (c.live && !c.ended) {
				t.Errorf("asked about %q", asked)
			}
			if err == nil && forked.Origin != logtest.UUID {
				t.Errorf("%+v", forked)
			}
			if lock, err := store.LockKey(logtest.TaskKey); err != nil {
				t.Errorf("the task is still locked: %v", err)
			} else {
				lock.Close()
			}
		})
	}
}

// stop is the work of a process that was told to stop.
func stop(t *testing.T, store *contexts.Store) error {
	t.Helper()
	signals, err := store.Pending(logtest.UUID)
	if err != nil {
		return err
	}
	if _, told := signals[contexts.Stop]; !told {
		t.Error("the origin was not told to stop")
	}
	c, err := store.Acquire(logtest.UUID, func(event.Event) error { return nil })
	if err != nil {
		return err
	}
	_, err = c.Append(event.Event{Time: time.Now(), Body: &event.ContextStopped{}})
	return errors.Join(err, c.Relocate(), c.Close())
}

func TestRequestsThatCannotBe(t *testing.T) {
	store := logtest.Store(t, "Greet")
	empty := filepath.Join(t.TempDir(), "empty.md")
	if err := os.WriteFile(empty, []byte(" \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]struct {
		f      engine.Forking
		prompt string
	}{
		"0 turns or more": {f: engine.Forking{Drop: -1}},
		"is empty":        {prompt: empty},
		"no such file":    {prompt: empty + "x"},
		"no event 9":      {f: engine.Forking{At: 9}},
	} {
		c.f.Origin = logtest.UUID
		_, _, err := maker(t, store).Make(t.Context(), c.f, "", c.prompt)
		var wrong *RequestError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
