package metrics

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"agent/internal/report"
)

var (
	sample = regexp.MustCompile(`^(agent_[a-z_]+)(\{[a-z_]+="(?:[^"\\\n]|\\[\\"n])*"\})? (\S+)$`)
	header = regexp.MustCompile(`^# (HELP|TYPE) (agent_[a-z_]+) (.+)$`)
)

// parse reads the format strictly: HELP and TYPE before the samples of a family, one family
// after the other, no sample twice. promtool and the collector refuse anything else.
func parse(t *testing.T, text string) map[string]float64 {
	t.Helper()
	got, families, name := map[string]float64{}, map[string]int{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if h := header.FindStringSubmatch(line); h != nil {
			if name = h[2]; h[1] == "HELP" && families[name] > 0 || h[1] == "TYPE" && (families[name] != 1 || h[3] != "gauge") {
				t.Errorf("out of place: %s", line)
			}
			families[name]++
			continue
		}
		m := sample.FindStringSubmatch(line)
		if m == nil || m[1] != name {
			t.Errorf("no sample of %s: %q", name, line)
			continue
		}
		v, err := strconv.ParseFloat(m[3], 64)
		if _, twice := got[m[1]+m[2]]; err != nil || twice {
			t.Errorf("%s: %v, twice: %v", line, err, twice)
		}
		got[m[1]+m[2]] = v
	}
	return got
}

func TestFigures(t *testing.T) {
	at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	full := &report.Status{
		Healthy: true, Counts: map[string]int{"running": 2, "completed": 7}, Problems: []string{"x"},
		Waiting: []report.StatusContext{{Last: at, Stuck: true}, {Last: at.Add(-time.Hour)}, {}},
		Today:   report.Spending{Tokens: 500, CostUSD: 0.5, MaxTokens: 1000, MaxCostUSD: 2},
		Forges:  []report.ForgeScan{{Host: "evil\"\\\n\x1b[31m} 1", Success: at, Found: 3, Error: "down"}, {Host: "never"}},
		Round:   at,
	}
	want := map[string]float64{
		"agent_healthy": 1, "agent_problems": 1, `agent_contexts{state="running"}`: 2, `agent_contexts{state="completed"}`: 7, `agent_contexts{state="failed"}`: 0,
		"agent_contexts_stuck": 1, "agent_oldest_waiting_timestamp_seconds": float64(at.Unix() - 3600), "agent_tokens_today": 500, "agent_cost_usd_today": 0.5,
		`agent_budget_used_ratio{limit="tokens_per_day"}`: 0.5, `agent_budget_used_ratio{limit="cost_per_day"}`: 0.25,
		`agent_forge_scan_failed{host="evil\"\\\n\\x1b[31m} 1"}`: 1, `agent_forge_scan_failed{host="never"}`: 0, `agent_forge_tasks{host="evil\"\\\n\\x1b[31m} 1"}`: 3,
		"agent_round_end_timestamp_seconds": float64(at.Unix()), `agent_build_info{version="v1"}`: 1,
	}
	got := parse(t, text(t, full))
	for name, v := range want {
		if g, ok := got[name]; !ok || g != v {
			t.Errorf("%s is %v (%v), not %v", name, g, ok, v)
		}
	}
}

// TestUnknownIsAbsent: a 0 would be read as a fact. Tokens without a price have no cost.
func TestUnknownIsAbsent(t *testing.T) {
	got := parse(t, text(t, &report.Status{Counts: map[string]int{}, Today: report.Spending{Tokens: 10}, Forges: []report.ForgeScan{{Host: "h"}}}))
	for name := range got {
		for _, unknown := range []string{"cost_usd", "budget", "oldest", "round_end", "scan_success", "forge_tasks"} {
			if strings.Contains(name, unknown) {
				t.Errorf("%s is there", name)
			}
		}
	}
}

func text(t *testing.T, s *report.Status) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, s, "v1"); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
