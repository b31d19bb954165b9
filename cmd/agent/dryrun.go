package main

import (
	"context"

	"agent/internal/app"
	"agent/internal/app/rounds"
	"agent/internal/cli"
	"agent/internal/i18n"
	"agent/internal/sanitize"
)

// dryRun says what a run would do.
func (a *commands) dryRun(ctx context.Context, refs []string) error {
	l, err := a.view()
	if err != nil {
		return err
	}
	s := app.NewReadOnly(l.Config, l.Store, a.Options())
	defer s.Close()
	if err := s.Connect(); err != nil {
		return err
	}
	lines, failed, err := rounds.DryRun(ctx, s, refs, a.Warning)
	if err != nil {
		return err
	}
	end := cli.Quietly(cli.CodeOf(failed))
	for _, line := range lines {
		if a.JSON {
			_ = a.PrintLine(line) // the next one fails as well
			continue
		}
		if line.TaskKey == "" {
			l.Say("dry.other", l.Text("dry.all"), sanitize.Line(line.Reason, 300))
			continue
		}
		l.Say(i18n.OrOther("dry.", line.Action), sanitize.Line(line.TaskKey+" "+line.Title, 160), sanitize.Line(line.Reason, 300))
	}
	if len(lines) == 0 && !a.JSON {
		l.Say("dry.nothing")
	}
	return end
}
