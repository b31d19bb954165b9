package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"agent/llm"
	"agent/llm/llmtest"
)

// TestEmptyAnswersArePaidFor: the server counts an answer that is of no use, and so do all who add up.
func TestEmptyAnswersArePaidFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(int, llmtest.Request) llmtest.Reply {
		return llmtest.Reply{Usage: &llm.Usage{Prompt: 1000, Completion: 20}}
	})
	w.llm = "\n  prices: {scripted: {input: 1, cached: 1, output: 10}}"
	w.agent(1, "run")
	calls := 0
	for _, r := range w.model.Requests() {
		if len(r.Tools) > 0 {
			calls++
		}
	}
	type spent struct {
		Kind       string  `json:"kind"`
		Prompt     int     `json:"prompt_tokens"`
		Completion int     `json:"completion_tokens"`
		Tokens     int     `json:"tokens"` // of those that give the sum only
		USD        float64 `json:"cost_usd"`
	}
	want := func(where string, got spent) {
		t.Helper()
		if tokens := got.Tokens + got.Prompt + got.Completion; calls == 0 || tokens != 1020*calls || math.Abs(got.USD-0.0012*float64(calls)) > 1e-9 {
			t.Errorf("%s: %d calls took %d tokens and %v dollars", where, calls, tokens, got.USD)
		}
	}
	read := func(data string, into any) {
		t.Helper()
		must(t, json.Unmarshal([]byte(data), into))
	}

	var stats struct {
		Total spent `json:"total"`
	}
	out, _ := w.agent(0, "stats", "--json")
	read(out, &stats)
	want("stats", stats.Total)

	var listed, total, day spent
	out, _ = w.agent(0, "list", "--json")
	read(out, &listed)
	want("list", listed)

	out, _ = w.agent(0, "inspect", w.only().UUID, "--costs", "--json")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	read(lines[len(lines)-1], &total)
	want("inspect --costs", total)

	ledgers, err := filepath.Glob(w.path("contexts", "budget", "*.json"))
	if err != nil || len(ledgers) != 1 {
		t.Fatal(ledgers, err)
	}
	data, err := os.ReadFile(ledgers[0])
	must(t, err)
	read(string(data), &day)
	want("the day's ledger", day)

	for _, format := range []string{"otlp", "atif"} {
		out, _ := w.agent(0, "export", w.only().UUID, "--format", format)
		if sum := strconv.Itoa(1000 * calls); !strings.Contains(out, sum) {
			t.Errorf("export --format %s says nothing of %s tokens:\n%s", format, sum, out)
		}
	}
}
