package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"agent/contexts"
	"agent/internal/i18n"
	"agent/internal/report"
	"agent/internal/sanitize"
	"agent/internal/term"
	"agent/internal/viewer"
)

func (l *view) printStatus(r *report.Status, check bool) error {
	code := 0
	switch {
	case check && len(r.Problems) > 0:
		code = exitFailed
	case check && len(r.Damaged) > 0:
		code = contexts.ExitDamage
	}
	switch {
	case l.asJSON:
		if err := l.printLine(r); err != nil {
			return err
		}
	case code != 0:
		l.say("status.bad", strings.Join(slices.Concat(r.Problems, r.Attention), "; "))
	case check:
		l.say("status.ok", strings.Join(append([]string{l.text("status.at", r.Counts["running"], len(r.Waiting))}, r.Attention...), "; "))
	default:
		defer l.page()()
		l.showStatus(r)
	}
	return quietly(code)
}

func (l *view) showStatus(r *report.Status) {
	var counts []string
	for _, state := range report.States {
		if n := r.Counts[state]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, i18n.State(l.lang, state)))
		}
	}
	l.say("status.contexts", cmp.Or(strings.Join(counts, ", "), "0"))
	for _, s := range slices.Concat(r.Running, r.Interrupted, r.Waiting, r.Damaged, r.Refused) {
		l.showContextLine(s)
		l.showDetail(s)
	}
	l.say("status.today", r.Today.Day, r.Today.Tokens, of(float64(r.Today.MaxTokens)), r.Today.CostUSD, of(r.Today.MaxCostUSD))
	for _, f := range r.Forges {
		l.showForge(f)
	}
	if r.Paused {
		l.say("status.signal", l.Config.PauseResume.SignalFile)
	}
	if r.Fault != nil && !slices.Contains(r.Problems, l.FaultLine(r)) {
		fmt.Fprintln(l.out, sanitize.Terminal(l.FaultLine(r)))
	}
	for _, p := range r.Attention {
		l.paint(term.Waits, "! "+p)
	}
	for _, p := range r.Problems {
		l.paint(term.Bad, "! "+p)
	}
}

// showContextLine names a context in one line of the terminal.
func (l *view) showContextLine(c report.StatusContext) {
	screen, state := term.Of(l.out), i18n.State(l.lang, c.State)
	room := min(max(screen.Width-len("  12345678   ")-term.Columns(state), 20), 140)
	fmt.Fprintf(screen, "  %s %s  %s\n", c.UUID[:8], screen.Paint(viewer.StateColor(c.State), state), term.Line(c.TaskKey+" "+c.Title, room))
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
		if s.Because != "" {
			l.say("status.error", sanitize.Line(s.Because, 400))
		}
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
