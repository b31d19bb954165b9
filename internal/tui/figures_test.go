package tui

import (
	"fmt"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/internal/i18n"
	htmlpage "agent/internal/page"
	"agent/internal/report"
)

// Model calls, tool calls and tokens are the same figures wherever people read them, of a run as
// the demo's: with a call that was interrupted, whose tokens are estimated, and one for the
// summary. What is estimated is marked, and nothing else.
func TestSameFiguresEverywhere(t *testing.T) {
	for _, lang := range []i18n.Lang{i18n.En, i18n.Ja} {
		w := newWorld(t)
		w.context(uuid, "t", append(resumed(), &event.LLMRequested{Purpose: "summary", Model: "m"},
			&event.LLMReplied{Text: event.T("Done"), Usage: event.Usage{Prompt: 500, Completion: 7}}, &event.ContextCompleted{Reason: "done"})...)
		must(t, w.log.Relocate())
		all := w.everywhere(uuid, lang)
		doc, err := htmlpage.Of(w.store, uuid, lang, nil)
		must(t, err)
		all["page"] = ""
		for _, f := range doc.Facts {
			all["page"] += f.Value + "\n"
		}
		for _, c := range doc.Costs {
			all["page"] += fmt.Sprintln(c.Calls, c.Prompt, c.Output)
		}
		w.browse(80, 40, lang)
		all["header"] = w.press("enter")
		all["costs"] = w.press("$")

		calls, tools := i18n.Calls(lang, 4, 1, 1, 0), i18n.Text(lang, "calls.tools", 1) // two turns, a summary, an interrupted call
		tokens := i18n.Text(lang, "inspect.tokens", "~839")
		listed, err := report.List(w.store)
		must(t, err)
		if l := listed[0]; l.LLMBegun != 4 || l.LLMCalls != 2 || l.ToolCalls != 1 || l.Tokens != 839 || !l.Estimated {
			t.Errorf("agent list --json: %+v", l)
		}
		for where, wants := range map[string][]string{
			"inspect":  {calls, tools, tokens},
			"costs":    {calls, tools, tokens, "~810 ", " 29 ", "~839\n", " 507\n", "~200 ", " 132 "}, // sums, and steps
			"header":   {i18n.Text(lang, "tui.tokens") + " ▃▂▇ ~839 "},
			"stats":    {" 4 ", " 1 ", " ~839 ", i18n.Text(lang, "money.estimate")},
			"page":     {"4" + i18n.NoTurns(lang, 1, 1, 0) + "\n", "~839\n", "4 ~810 29\n", "1 500 7\n"},
			"server":   {"<td>4</td><td>~839</td>"},
			"markdown": {calls + " · " + tools, "~810 / 29"},
		} {
			w.wants(all[where], wants...)
			for _, counted := range []string{"~29", "~7", "~132", "~500", "~507"} {
				if strings.Contains(all[where], counted) {
					t.Errorf("%s: %s was counted, not estimated:\n%s", where, counted, all[where])
				}
			}
		}
	}
}
