// Package metrics writes how things stand in the text format of Prometheus, for its
// textfile collector and for a scrape. Names and units are those that its conventions
// want: base units, timestamps instead of ages. What is not known is absent, not 0.
package metrics

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"agent/internal/report"
	"agent/internal/sanitize"
)

// ContentType is that of an answer to a scrape.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Write writes a report. version is that of the program.
func Write(w io.Writer, s *report.Status, version string) error {
	m := &metrics{Writer: bufio.NewWriter(w)}
	m.family("agent_build_info", "Version of the program; always 1.")
	m.value(1, "version", version)
	m.family("agent_healthy", "1 if the agent works and no context is damaged.")
	m.value(flag(s.Healthy))
	m.family("agent_problems", "Reasons for which the agent does not work.")
	m.value(float64(len(s.Problems)))
	m.family("agent_pause_signal", "1 while the pause signal is set.")
	m.value(flag(s.Paused))
	m.contexts(s)
	m.today(s.Today)
	if !s.Round.IsZero() {
		m.family("agent_round_end_timestamp_seconds", "When the latest round ended.")
		m.value(seconds(s.Round))
	}
	m.forges(s.Forges)
	return m.Flush()
}

// contexts are those that are there, by state, and how long people and servers let them wait.
func (m *metrics) contexts(s *report.Status) {
	m.family("agent_contexts", "Contexts by state. Those that ended are counted by their outcome until they are removed.")
	counts := maps.Clone(s.Counts)
	for _, state := range report.States { // also where there is none, so that a series does not begin with its first alarm
		counts[state] += 0
	}
	for _, state := range slices.Sorted(maps.Keys(counts)) {
		m.value(float64(counts[state]), "state", state)
	}
	stuck, oldest := 0, time.Time{}
	for _, c := range s.Waiting {
		if c.Stuck {
			stuck++
		}
		if !c.Last.IsZero() && (oldest.IsZero() || c.Last.Before(oldest)) {
			oldest = c.Last
		}
	}
	m.family("agent_contexts_stuck", "Paused contexts that go on only if a person does something.")
	m.value(float64(stuck))
	m.family("agent_contexts_refused", "Ended contexts whose last comment or label the forge did not take.")
	m.value(float64(len(s.Refused)))
	if !oldest.IsZero() {
		m.family("agent_oldest_waiting_timestamp_seconds", "Since when the context waits that waits longest.")
		m.value(seconds(oldest))
	}
}

// today is what was spent, and how much of the budget that is.
func (m *metrics) today(t report.Spending) {
	m.family("agent_tokens_today", "Tokens of all contexts since midnight UTC.")
	m.value(float64(t.Tokens))
	if t.CostUSD > 0 || t.Tokens == 0 {
		m.family("agent_cost_usd_today", "USD of all contexts since midnight UTC, as far as prices are known.")
		m.value(t.CostUSD)
	}
	if t.MaxTokens == 0 && t.MaxCostUSD == 0 {
		return
	}
	m.family("agent_budget_used_ratio", "Share of a daily limit that is used.")
	if t.MaxCostUSD > 0 {
		m.value(t.CostUSD/t.MaxCostUSD, "limit", "cost_per_day")
	}
	if t.MaxTokens > 0 {
		m.value(float64(t.Tokens)/float64(t.MaxTokens), "limit", "tokens_per_day")
	}
}

func (m *metrics) forges(all []report.ForgeScan) {
	if slices.ContainsFunc(all, func(f report.ForgeScan) bool { return !f.Success.IsZero() }) {
		m.family("agent_forge_scan_success_timestamp_seconds", "When a forge was last scanned without an error.")
		for _, f := range all {
			if !f.Success.IsZero() {
				m.value(seconds(f.Success), "host", f.Host)
			}
		}
		m.family("agent_forge_tasks", "Labelled items that the latest successful scan found.")
		for _, f := range all {
			if !f.Success.IsZero() {
				m.value(float64(f.Found), "host", f.Host)
			}
		}
	}
	if len(all) > 0 {
		m.family("agent_forge_scan_failed", "1 if the latest scan of a forge failed.")
		for _, f := range all {
			m.value(flag(f.Error != ""), "host", f.Host)
		}
	}
}

// metrics writes families, each with its samples.
type metrics struct {
	*bufio.Writer
	name string
}

func (m *metrics) family(name, help string) {
	m.name = name
	fmt.Fprintf(m, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name)
}

// value writes a sample. labels are names, each followed by its value.
func (m *metrics) value(v float64, labels ...string) {
	m.WriteString(m.name)
	for i := 0; i+1 < len(labels); i += 2 {
		mark := ","
		if i == 0 {
			mark = "{"
		}
		m.WriteString(mark + labels[i] + `="` + escaped(labels[i+1]) + `"`)
	}
	if len(labels) > 0 {
		m.WriteString("}")
	}
	m.WriteString(" " + strconv.FormatFloat(v, 'g', -1, 64) + "\n")
}

// escaped is a label's value as the format has it. Nothing in it acts on a terminal.
func escaped(s string) string {
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(sanitize.Terminal(s))
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
