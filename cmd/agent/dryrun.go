package main

import (
	"context"

	"agent/internal/app"
	"agent/internal/app/rounds"
	"agent/internal/i18n"
	"agent/internal/sanitize"
)

// dryRun says what a run would do.
func (a *cli) dryRun(ctx context.Context, refs []string) error {
	l, err := a.view()
	if err != nil {
		return err
	}
	s := app.NewReadOnly(l.Config, l.Store, a.options())
	defer s.Close()
	if err := s.Connect(); err != nil {
		return err
	}
	lines, failed, err := rounds.DryRun(ctx, s, refs, a.warning)
	if err != nil {
		return err
	}
	end := quietly(codeOf(failed))
	for _, line := range lines {
		if a.asJSON {
			_ = a.printLine(line) // the next one fails as well
			continue
		}
		if line.TaskKey == "" {
			l.say("dry.other", l.text("dry.all"), sanitize.Line(line.Reason, 300))
			continue
		}
		l.say(i18n.OrOther("dry.", line.Action), sanitize.Line(line.TaskKey+" "+line.Title, 160), sanitize.Line(line.Reason, 300))
	}
	if len(lines) == 0 && !a.asJSON {
		l.say("dry.nothing")
	}
	return end
}
