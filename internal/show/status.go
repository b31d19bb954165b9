package show

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"agent/internal/i18n"
	"agent/internal/report"
	"agent/internal/sanitize"
	"agent/internal/term"
	"agent/internal/viewer"
)

// Status prints how things stand.
func (p *Printer) Status(r *report.Status) {
	var counts []string
	for _, state := range report.States {
		if n := r.Counts[state]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, i18n.State(p.Lang, state)))
		}
	}
	tries := 0
	p.say("status.contexts", cmp.Or(strings.Join(counts, ", "), "0"))
	for _, s := range slices.Concat(r.Running, r.Interrupted, r.Waiting, r.Damaged, r.Refused) {
		if p.OfTry(s) && (s.State == report.Interrupted || s.Until != "") {
			tries++
			continue
		}
		p.showContextLine(s)
		p.showDetail(s)
	}
	if tries > 0 {
		p.say("status.tries", tries)
	}
	p.say("status.today", r.Today.Day, r.Today.Tokens, of(float64(r.Today.MaxTokens)), p.spent(r.Today))
	for _, f := range r.Forges {
		p.showForge(f)
	}
	for _, w := range r.Workers {
		p.say("status.worker", sanitize.Line(w.Worker, 60), w.Working, w.Capacity, sanitize.Line(w.Version, 40), report.Age(p.Now.Sub(w.Since)))
	}
	p.showCluster(r.Cluster)
	if r.Paused {
		p.say("status.signal", p.Config.PauseResume.SignalFile)
	}
	if r.Fault != nil && !slices.Contains(r.Problems, p.FaultLine(r)) {
		fmt.Fprintln(p.Screen, sanitize.Terminal(p.FaultLine(r)))
	}
	for _, line := range r.Attention {
		p.paint(term.Waits, "! "+line)
	}
	for _, line := range r.Problems {
		p.paint(term.Bad, "! "+line)
	}
}

// showContextLine names a context in one line of the terminal.
func (p *Printer) showContextLine(c report.StatusContext) {
	screen, state := p.Screen, i18n.State(p.Lang, c.State)
	room := min(max(screen.Width-len("  12345678   ")-term.Columns(state), 20), 140)
	fmt.Fprintf(screen, "  %s %s  %s\n", c.UUID[:8], screen.Paint(viewer.StateColor(c.State), state), term.Line(c.TaskKey+" "+c.Title, room))
}

func (p *Printer) showDetail(s report.StatusContext) {
	switch {
	case s.Error != "":
		p.say("status.error", sanitize.Line(s.Error, 200))
	case s.Until != "":
		p.say("status.waits", sanitize.Line(s.Because, 400), report.Age(p.Now.Sub(s.Last)))
		if s.Resume {
			p.say("status.resume")
		}
	case len(s.Refused) > 0:
		p.say("status.refused", strings.Join(s.Refused, "; "))
	default:
		p.say("status.age", report.Age(p.Now.Sub(s.Started)), s.Event, report.Age(p.Now.Sub(s.Last)))
		if s.Because != "" {
			p.say("status.error", sanitize.Line(s.Because, 400))
		}
	}
}

func (p *Printer) showForge(f report.ForgeScan) {
	switch {
	case f.Time.IsZero():
		p.say("status.unscanned", f.Host)
	case f.Error != "":
		p.say("status.scanfailed", f.Host, report.Age(p.Now.Sub(f.Time)), sanitize.Line(f.Error, 200))
	default:
		p.say("status.scanned", f.Host, report.Age(p.Now.Sub(f.Time)), f.Found)
	}
}

// showCluster tells how the servers of the cluster are, in one line.
func (p *Printer) showCluster(c *report.ClusterHealth) {
	switch {
	case c == nil:
	case c.Error != "":
		p.say("status.cluster.broken", p.text("status.cluster.unknown", sanitize.Line(c.Error, 200)))
	case c.Unused():
		p.say("status.cluster.unused")
	case !c.Whole:
		p.say("status.cluster.broken", sanitize.Line(strings.Join(c.Faults, "; "), 400))
	default:
		var bytes uint64
		for _, s := range c.Streams {
			bytes += s.Bytes
		}
		p.say("status.cluster.whole", len(c.Streams), sanitize.Line(strings.Join(c.Peers(), ", "), 200), sanitize.Line(c.Version, 40), c.Streams[0].Messages, Bytes(int64(bytes)))
	}
}

// spent is what a day cost: with its limit, and nothing on a day without calls.
func (p *Printer) spent(day report.Spending) string {
	switch {
	case day.MaxCostUSD > 0:
		return p.text("money.and", fmt.Sprintf("%.4f%s USD", day.CostUSD, of(day.MaxCostUSD)))
	case day.Tokens > 0:
		return p.text("money.and", i18n.Money(p.Lang, day.CostUSD))
	}
	return ""
}

// of shows a limit, if there is one.
func of(limit float64) string {
	if limit == 0 {
		return ""
	}
	return fmt.Sprintf(" / %g", limit)
}
