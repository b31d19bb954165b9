package handlers

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/internal/exhaustive"
	"agent/projections"
)

// samples are what random histories are made of: values that mean something somewhere.
var samples = []string{"", "work", "summary", "compaction", "final", "task", "system", "user", "assistant", "comments", "inherited", "edited",
	"correction", "start", "resume", "resumed", "periodic", "paused", "completed", "failed", "stopped", "progress", "progress:call", "checklist", "phase", "call", "execution", "understanding", "success", "not_found", "new", "edited", "older",
	"own", "calls", "tokens", "signal", "time", "person", "comment", "json", "tools", "auto", "interrupted", "transient", "auth", "invalid",
	"tools_refused", "unknown_tool", "bad_arguments", "ws", "read_file", "ws__read_file", "text", "stop", "length", "label", "command",
	`{"done":true,"comment":"x"}`, `{"command":{"tool":"ws/read_file","args":{}}}`, "{}", "exit code: 0", "github.com/o/r/issues/7",
	"github.com", "00000000-0000-4000-8000-000000000001", "日本語のテキスト", "\x1b[31m"}

// history makes a random sequence of events. It need not make sense: a log that
// somebody wrote by hand does not either.
func history(r *rand.Rand) []event.Event {
	types := event.Types()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var events []event.Event
	for i := range 10 + r.IntN(50) {
		body := event.New(types[r.IntN(len(types))])
		switch {
		case i == 0 && r.IntN(10) > 0:
			body = &event.ContextCreated{}
		case i == 1 && r.IntN(10) > 0:
			body = &event.ConfigPinned{}
		}
		fill(r, reflect.ValueOf(body).Elem(), 0)
		at = at.Add(time.Duration(r.IntN(100)-10) * time.Second)
		events = append(events, event.Event{Seq: uint64(i + 1), Time: at, Cause: uint64(r.IntN(i + 1)), Body: body})
	}
	return events
}

func fill(r *rand.Rand, v reflect.Value, depth int) {
	switch p := v.Addr().Interface().(type) {
	case *time.Time:
		*p = time.Date(2026, 1, 1, r.IntN(48), 0, 0, 0, time.UTC)
		return
	case *json.RawMessage:
		*p = json.RawMessage(`{"a":1}`)
		return
	case *event.Text:
		*p = event.T(samples[r.IntN(len(samples))])
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(samples[r.IntN(len(samples))])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(r.IntN(20)))
	case reflect.Uint64:
		v.SetUint(uint64(r.IntN(20)))
	case reflect.Float64:
		v.SetFloat(float64(r.IntN(20)) / 10)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(r, v.Field(i), depth+1)
			}
		}
	case reflect.Slice:
		n := r.IntN(3)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(r, v.Index(i), depth+1)
		}
	}
}

func fold(t *testing.T, events []event.Event) (*projections.State, map[string]string) {
	t.Helper()
	s, files, out := projections.NewState(), projections.Files{}, map[string]string{}
	for _, e := range events {
		s.Apply(e)
		for _, c := range files.Apply(s, e) {
			if c.Replace {
				out[c.Name] = ""
			}
			out[c.Name] += string(c.Data)
		}
		_ = projections.Describe(e)
	}
	return s, out
}

// TestRandomHistories folds histories that no program would write: nothing
// panics, folding twice gives the same, so does folding what a log would give
// back, and deciding changes nothing.
func TestRandomHistories(t *testing.T) {
	for seed := range uint64(exhaustive.Of(1_500, 10_000)) {
		events := history(rand.New(rand.NewPCG(seed, 1)))
		s, files := fold(t, events)
		again, sameFiles := fold(t, reread(t, events))
		if !reflect.DeepEqual(files, sameFiles) || !reflect.DeepEqual(s.Usage, again.Usage) || s.Status != again.Status {
			t.Fatalf("seed %d: what was read back folds to something else", seed)
		}
		if s.Config == nil || s.Open != nil {
			continue
		}
		before := len(s.Conversation.Entries)
		first, second := Next(s), Next(s)
		if !reflect.DeepEqual(first, second) || len(s.Conversation.Entries) != before {
			t.Fatalf("seed %d: deciding twice gives %#v and %#v", seed, first, second)
		}
		if other := Next(again); !reflect.DeepEqual(first, other) {
			t.Fatalf("seed %d: decided %#v, from the log %#v", seed, first, other)
		}
	}
}

// reread gives the events as a log would give them back.
func reread(t *testing.T, events []event.Event) []event.Event {
	t.Helper()
	var out []event.Event
	for _, e := range events {
		data, err := event.Encode(e.Body, false)
		if err != nil {
			t.Fatal(err)
		}
		body, _, err := event.DecodeBody(e.Body.Type(), event.Version(e.Body), data)
		if err != nil {
			t.Fatal(err)
		}
		e.Body = body
		out = append(out, e)
	}
	return out
}
