package main

import (
	"errors"

	"github.com/spf13/cobra"

	"agent/internal/config"
	"agent/internal/i18n"
	"agent/internal/report"
	"agent/internal/sanitize"
	"agent/internal/term"
	"agent/internal/viewer"
	"agent/internal/watch"
	"agent/projections"
)

func (a *cli) whyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "why TASK", Short: "Say why a task was taken, left, paused or ended", Args: cobra.ExactArgs(1),
		Long: `why tells from the logs and from what the rounds saw why a task was picked up, skipped
or ignored, what it waits for, how it ended, what went wrong last, and which comments were
not taken as input. TASK is a URL, or the uuid of a context or the beginning of one.`,
		Example: `  agent why https://github.com/owner/repo/issues/12
  agent why 3f2a --json`,
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := a.view(config.Offline())
			if err != nil {
				return err
			}
			why, err := l.Why(args[0], l.hosts...)
			if err != nil {
				return err
			}
			if l.asJSON {
				return errors.Join(l.printLine(why), quietly(codeOfWhy(why)))
			}
			defer l.page()()
			l.showWhy(why)
			return quietly(codeOfWhy(why))
		},
	}
	a.jsonFlag(cmd, "print the report as one JSON object")
	return cmd
}

// codeOfWhy is 1 if there is nothing to tell, and 65 if a log is damaged.
func codeOfWhy(r *report.Why) int {
	if r.Seen == nil && len(r.Contexts) == 0 {
		return exitFailed
	}
	return codeOf(r.Errors)
}

func (l *view) showWhy(r *report.Why) {
	l.paint(term.Head, sanitize.Line(r.TaskKey, 200))
	if r.Seen != nil {
		l.say("why.seen", local(r.Seen.Time), l.text(i18n.OrOther("why.seen.", r.Seen.Outcome)), sanitize.Line(r.Seen.Reason, 300))
	}
	for _, c := range r.Contexts {
		l.showContext(c)
	}
	if r.Polls > 0 {
		l.say("why.polls", r.Polls)
	}
	if r.Assignee != "" {
		l.say("why.assignee", sanitize.Line(r.Assignee, 100))
	}
	if r.Seen == nil && len(r.Contexts) == 0 {
		l.say("why.unknown")
	}
}

// endOf says what ended a pause, and who.
func (l *view) endOf(p report.Pause) string {
	if p.By == "" {
		return l.text("why.pause.over")
	}
	end := l.text(i18n.OrOther("wake.", p.By))
	if p.Actor != "" {
		end += " (" + sanitize.Line(p.Actor, 60) + ")"
	}
	return end
}

// shownLeftOut is how many files that were left out are named.
const shownLeftOut = 20

func (l *view) showContext(c report.Attempt) {
	l.say("why.context", c.UUID[:8], local(c.Begun), l.text(i18n.OrOther("why.trigger.", c.Trigger)), c.User)
	for _, p := range c.Pauses {
		l.say("why.pause", local(p.Begun), watch.Duration(p.Ended.Sub(p.Begun)), sanitize.Line(p.Because, 300), l.endOf(p))
	}
	l.paint(viewer.StateColor(c.State), l.stateLine(c))
	if c.Change != "" {
		l.say("why.request", sanitize.Line(c.Change, 300))
	}
	if c.Limit != nil {
		l.say("why.limitreached", c.Limit.Limit, c.Limit.Used, c.Limit.Max)
	}
	if c.Unknown {
		l.say("why.edits")
	}
	for _, a := range c.Allowed {
		l.showApproval(a)
	}
	if c.Skipped != "" {
		l.say("why.skipped", sanitize.Line(c.Skipped, 300))
	}
	if c.Failure != nil && !c.Failure.Over {
		l.say("why.failure", c.Failure.Seq, local(c.Failure.Time), c.Failure.Type, sanitize.Line(c.Failure.Text, 300))
	}
	for _, server := range c.Servers {
		l.say("why.server", sanitize.Line(server.Name, 60), sanitize.Line(server.Error, 300))
	}
	for _, tool := range c.Refused {
		l.say("why.tool", sanitize.Line(tool.Name, 100), sanitize.Line(tool.Reason, 300))
	}
	for _, f := range c.LeftOut[:min(len(c.LeftOut), shownLeftOut)] {
		reason := l.text("why.left." + i18n.ID(f.Reason))
		if f.Kind != "" {
			reason = l.text("why.left.kind", f.Kind)
		}
		l.say("why.left", sanitize.Line(f.Path, 300), reason)
	}
	if more := len(c.LeftOut) - shownLeftOut; more > 0 {
		l.say("why.left.more", more)
	}
	if c.Fetch != "" {
		l.say("why.fetch", sanitize.Line(c.Fetch, 300))
	}
	for _, i := range c.Ignored {
		if i.Verdict == "own" {
			continue // nobody asks why the agent does not listen to itself
		}
		l.say("why.ignored", i.ID, sanitize.Line(i.Author, 60), local(i.Created), l.text(i18n.OrOther("why.verdict.", i.Verdict)))
	}
}

// stateLine is the state of a context, and why it is in it.
func (l *view) stateLine(c report.Attempt) string {
	state := i18n.State(l.lang, c.State)
	switch {
	case c.Error != "":
		return l.text("why.damaged", sanitize.Line(c.Error, 300))
	case c.Until != "":
		return l.text("why.waits", state, local(c.Since), sanitize.Line(c.Because, 400))
	case c.Because != "":
		return l.text("why.ended", state, local(c.Since), sanitize.Line(c.Because, 400))
	}
	return l.text("why.state", state, local(c.Since))
}

func (l *view) showApproval(a report.Approval) {
	who := sanitize.Line(a.Who, 60)
	if who == "" {
		who = l.text("why.approved.nobody")
	}
	what := l.text(i18n.OrOther("why.approved.what.", a.What))
	if a.What == projections.HeldBack {
		what = l.text("why.approved.what.change", a.Tree[:min(len(a.Tree), 12)])
	}
	l.say("why.approved", local(a.Time), who, l.text(i18n.OrOther("why.approved.", a.By)), what)
}
