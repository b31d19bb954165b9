package tell

import (
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/projections"
)

// TestOnlyFormsThatWork: what people read on a task names commands in comments only where those are taken, and
// with a slash only where that is not the forge's own.
func TestOnlyFormsThatWork(t *testing.T) {
	forges := map[string]event.CommandRule{"GitHub": {Slash: true, Reactions: true}, "GitLab": {Reactions: true}, "files": {Slash: true}}
	reasons := []event.PauseReason{event.PauseLimit, event.PauseChange, event.PauseText, event.PausePlan, event.PauseOnRequest, event.PauseRepeatedCall, event.PauseFilesChanged}
	for name, rule := range forges {
		for _, lang := range []i18n.Lang{i18n.En, i18n.Ja} {
			for _, on := range []bool{true, false} {
				rule.Enabled = on
				s := projections.NewState()
				s.Lang, s.Created, s.Config, s.Task = lang, &event.ContextCreated{UUID: "0123456789"}, &event.ConfigPinned{Commands: rule}, &event.TaskFetched{Author: "alice"}
				s.Limit = &projections.Limit{LimitReached: event.LimitReached{Limit: "tokens", Max: 5, Used: 6}}
				texts := Plan(s).Body.Inline
				for _, reason := range reasons {
					texts += Paused(s, &projections.Pausing{Reason: reason, Until: event.Until{Kind: "person"}}, nil).Body.Inline + "\n"
				}
				for _, form := range []string{"agent approve", "agent stop", "agent revise", "/approve", "/stop", "/revise", "approve 0", "approve `"} {
					if !on && strings.Contains(texts, form) {
						t.Errorf("%s, %s: commands are off, and a text names %q:\n%s", name, lang, form, texts)
					}
					if on && strings.HasPrefix(form, "/") && strings.Contains(texts, "`"+form) != rule.Slash {
						t.Errorf("%s, %s: %q in the texts is not %v", name, lang, form, rule.Slash)
					}
				}
				if !on && !strings.Contains(texts, "agent resume 01234567") {
					t.Errorf("%s, %s: nothing that works is named", name, lang)
				}
			}
		}
	}
}
