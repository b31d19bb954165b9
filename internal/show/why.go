package show

import (
	"strings"

	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/internal/report"
	"agent/internal/sanitize"
	"agent/internal/term"
	"agent/internal/viewer"
	"agent/internal/watch"
)

// Why prints why a task was taken, left, paused or ended.
func (p *Printer) Why(r *report.Why) {
	p.paint(term.Head, sanitize.Line(r.TaskKey, 200))
	if r.Seen != nil {
		p.say("why.seen", term.Time(r.Seen.Time), p.text(i18n.OrOther("why.seen.", r.Seen.Outcome)), sanitize.Line(r.Seen.Reason, 300))
	}
	for _, c := range r.Contexts {
		p.showContext(c)
	}
	if r.Polls > 0 {
		p.say("why.polls", r.Polls)
	}
	if r.Assignee != "" {
		p.say("why.assignee", sanitize.Line(r.Assignee, 100))
	}
	if r.Seen == nil && len(r.Contexts) == 0 {
		p.say("why.unknown")
	}
}

// endOf says what ended a pause, and who.
func (p *Printer) endOf(over report.Pause) string {
	if over.By == "" {
		return p.text("why.pause.over")
	}
	if over.Actor != "" {
		return p.text("inspect.resumed.by", sanitize.Line(i18n.Who(p.Lang, over.By, over.Actor), 120))
	}
	return p.text(i18n.OrOther("wake.", over.By))
}

// killed says what a process that died was doing, and when another went on.
func (p *Printer) killed(k report.Killed) string {
	var parts []string
	if k.Open.Body != nil {
		parts = append(parts, p.text("why.killed.doing", sanitize.Line(viewer.Doing(k.Open, p.Lang), 200)))
	}
	if k.Next.IsZero() {
		return strings.Join(append(parts, p.text("why.killed.open")), p.text("ev.and"))
	}
	return strings.Join(append(parts, p.text("why.killed.next", term.Time(k.Next))), p.text("ev.and"))
}

// showBreaks tells of pauses and of processes that died, in the order of the log.
func (p *Printer) showBreaks(c report.Attempt) {
	killed := c.Killed
	for _, over := range c.Pauses {
		for ; len(killed) > 0 && killed[0].Seq < over.Seq; killed = killed[1:] {
			p.say("why.killed", term.Time(killed[0].Last), p.killed(killed[0]))
		}
		p.say("why.pause", term.Time(over.Started), watch.Duration(over.Ended.Sub(over.Started)), sanitize.Line(over.Because, 300), p.endOf(over))
	}
	for _, k := range killed {
		p.say("why.killed", term.Time(k.Last), p.killed(k))
	}
}

// shownLeftOut is how many files that were left out are named.
const shownLeftOut = 20

func (p *Printer) showContext(c report.Attempt) {
	p.say("why.context", c.UUID[:8], term.Time(c.Created), p.text(i18n.OrOther("why.trigger.", c.Trigger)), c.User)
	if c.ForkOf != "" {
		p.say("why.fork", c.ForkOf, c.ForkAt)
	}
	if c.NotDone > 0 {
		p.say("why.notdone", c.NotDone)
	}
	p.showBreaks(c)
	p.paint(viewer.StateColor(c.State), p.stateLine(c))
	if c.Change != "" {
		p.say("why.request", sanitize.Line(c.Change, 300))
	}
	if c.Limit != nil {
		p.say("why.limitreached", c.Limit.Limit, c.Limit.Used, c.Limit.Max)
	}
	if c.Unknown {
		p.say("why.edits")
	}
	for _, a := range c.Allowed {
		p.showApproval(a)
	}
	if c.Skipped != "" {
		p.say("why.skipped", sanitize.Line(c.Skipped, 300))
	}
	if c.Failure != nil && !c.Failure.Over {
		p.say("why.failure", c.Failure.Seq, term.Time(c.Failure.Time), c.Failure.Type, sanitize.Line(c.Failure.Text, 300))
	}
	for _, server := range c.Servers {
		p.say("why.server", sanitize.Line(server.Name, 60), sanitize.Line(server.Error, 300))
	}
	for _, tool := range c.Refused {
		p.say("why.tool", sanitize.Line(tool.Name, 100), sanitize.Line(tool.Reason, 300))
	}
	for _, f := range c.LeftOut[:min(len(c.LeftOut), shownLeftOut)] {
		reason := p.text("why.left." + i18n.ID(f.Reason))
		if f.Kind != "" {
			reason = p.text("why.left.kind", f.Kind)
		}
		p.say("why.left", sanitize.Line(f.Path, 300), reason)
	}
	if more := len(c.LeftOut) - shownLeftOut; more > 0 {
		p.say("why.left.more", more)
	}
	if c.Fetch != "" {
		p.say("why.fetch", sanitize.Line(c.Fetch, 300))
	}
	for _, i := range c.Ignored {
		if i.Verdict == event.OwnComment {
			continue // nobody asks why the agent does not listen to itself
		}
		p.say("why.ignored", i.ID, sanitize.Line(i.Author, 60), term.Time(i.Created), p.text(i18n.OrOther("why.verdict.", string(i.Verdict))))
	}
}

// stateLine is the state of a context, and why it is in it.
func (p *Printer) stateLine(c report.Attempt) string {
	state := i18n.State(p.Lang, c.State)
	switch {
	case c.Error != "":
		return p.text("why.damaged", sanitize.Line(c.Error, 300))
	case c.Until != "":
		return p.text("why.waits", state, term.Time(c.Since), sanitize.Line(c.Because, 400))
	case c.Because != "":
		return p.text("why.ended", state, term.Time(c.Since), sanitize.Line(c.Because, 400))
	}
	if c.State == report.Interrupted {
		return p.text("why.waits", state, term.Time(c.Since), p.text("why.killed.open"))
	}
	return p.text("why.state", state, term.Time(c.Since))
}

func (p *Printer) showApproval(a report.Approval) {
	who := sanitize.Line(a.Who, 60)
	if who == "" {
		who = p.text("why.approved.nobody")
	}
	what := p.text(i18n.OrOther("why.approved.what.", string(a.What)))
	if a.What == event.PausePlan {
		what = p.text("why.approved.what.plan", sanitize.Line(a.Plan, 64))
	}
	if a.What == event.PauseChange {
		what = p.text("why.approved.what.change", a.Tree[:min(len(a.Tree), 12)])
	}
	if a.What == event.PauseLimit && a.Add > 0 {
		what = p.text("why.approved.what.more", a.Add)
		if a.Limit != "" {
			what += " (" + p.text(i18n.ID("limit."+sanitize.Line(a.Limit, 60))) + ")"
		}
	}
	p.say("why.approved", term.Time(a.Time), who, p.text(i18n.OrOther("why.approved.", a.By)), what)
}
