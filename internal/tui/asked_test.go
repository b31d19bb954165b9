package tui

import (
	"fmt"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/internal/i18n"
	htmlpage "agent/internal/page"
)

// Who asked for a pause is named wherever the machine tells of it, and nothing beside the name
// says that it was somebody.
func TestWhoPaused(t *testing.T) {
	w := newWorld(t)
	w.context(uuid, "t", &event.ProcessStarted{}, &event.ConfigPinned{Model: "m", Language: "en"}, &event.PauseRequested{By: "command", Actor: "root"},
		&event.ContextPaused{Reason: event.PauseOnRequest, Until: event.Until{Kind: "person"}})
	for lang, c := range map[i18n.Lang]struct{ asked, todo, vague string }{
		i18n.En: {"root (command) asked for a pause", "Run `agent resume` to continue", "somebody asked"},
		i18n.Ja: {"root（コマンド）が一時停止を要求しました", "`agent resume` で再開できます", "要求による"},
	} {
		doc, err := htmlpage.Of(w.store, uuid, lang, nil)
		must(t, err)
		row := doc.Phases[0].Steps[0].Rows[4]
		said := map[string]string{"page: top": doc.Because, "page: summary": fmt.Sprint(doc.Marks), "page: row": row.Title + row.Result, "page: conversation": doc.Talk[len(doc.Talk)-1].Text}
		w.browse(80, 24, lang)
		said["terminal"] = w.press("enter G enter")
		for where, text := range said {
			plain := strings.ReplaceAll(text, "\n", "")
			if !strings.Contains(plain, c.asked) || !strings.Contains(plain, c.todo) || strings.Contains(plain, c.vague) || where != "terminal" && strings.Count(plain, "root") != 1 {
				t.Errorf("%s, %s:\n%s", where, lang, text)
			}
		}
	}
}
