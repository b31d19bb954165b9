package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"agent/internal/report"
	"agent/internal/sanitize"
)

func (l *view) printStatus(r *report.Status, asJSON, check bool) error {
	code := 0
	if check && !r.Healthy {
		code = exitFailed
	}
	switch {
	case asJSON:
		if err := l.printJSON(r); err != nil {
			return err
		}
	case check && r.Healthy:
		l.say("status.ok", r.Counts["running"], len(r.Waiting))
	case check:
		l.say("status.bad", strings.Join(r.Problems, "; "))
	default:
		l.showStatus(r)
	}
	return quietly(code)
}

func (l *view) showStatus(r *report.Status) {
	var counts []string
	for _, state := range []string{"running", report.Interrupted, "paused", "awaiting", "completed", "stopped", "failed", "damaged"} {
		if n := r.Counts[state]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, state))
		}
	}
	l.say("status.contexts", cmp.Or(strings.Join(counts, ", "), "0"))
	for _, s := range slices.Concat(r.Running, r.Interrupted, r.Waiting, r.Damaged, r.Refused) {
		l.say("status.line", s.UUID[:8], s.State, sanitize.Line(s.TaskKey+" "+s.Title, 70))
		l.showDetail(s)
	}
	l.say("status.today", r.Today.Day, r.Today.Tokens, of(float64(r.Today.MaxTokens)), r.Today.CostUSD, of(r.Today.MaxCostUSD))
	for _, f := range r.Forges {
		l.showForge(f)
	}
	if r.Paused {
		l.say("status.signal", l.Config.PauseResume.SignalFile)
	}
	for _, p := range r.Problems {
		fmt.Fprintln(l.out, "! "+sanitize.Terminal(p))
	}
}

func (l *view) showDetail(s report.StatusContext) {
	switch {
	case s.Error != "":
		l.say("status.error", sanitize.Line(s.Error, 200))
	case s.Until != "":
		l.say("status.waits", sanitize.Line(s.Because, 400), report.Age(l.Now.Sub(s.Last)))
		if s.Resume {
			l.say("status.resume")
		}
	case len(s.Refused) > 0:
		l.say("status.refused", strings.Join(s.Refused, "; "))
	default:
		l.say("status.age", report.Age(l.Now.Sub(s.Started)), s.Event, report.Age(l.Now.Sub(s.Last)))
	}
}

func (l *view) showForge(f report.ForgeScan) {
	switch {
	case f.Time.IsZero():
		l.say("status.unscanned", f.Host)
	case f.Error != "":
		l.say("status.scanfailed", f.Host, report.Age(l.Now.Sub(f.Time)), sanitize.Line(f.Error, 200))
	default:
		l.say("status.scanned", f.Host, report.Age(l.Now.Sub(f.Time)), f.Found)
	}
}

// of shows a limit, if there is one.
func of(limit float64) string {
	if limit == 0 {
		return ""
	}
	return fmt.Sprintf(" / %g", limit)
}
