package prompt

import (
	"fmt"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/projections"
)

// commented is a task in a window, with comments of these texts.
func commented(window int, body string, texts ...string) *projections.State {
	s := projections.NewState()
	s.Config = &event.ConfigPinned{ContextLength: window, Comments: event.CommentRule{Enabled: true}}
	s.Lang = i18n.En
	s.Task = &event.TaskFetched{Title: "A bug", Author: "alice", Body: event.T(body)}
	for i, text := range texts {
		s.Comments.Pending = append(s.Comments.Pending, event.Comment{ID: fmt.Sprint(i), Author: "alice", Verdict: event.NewComment, Body: event.T(text)})
	}
	return s
}

// TestCommentsShareTheRoom: of comments that are too long each keeps its beginning,
// a short one stays whole, and what is not shown is not named as shown.
func TestCommentsShareTheRoom(t *testing.T) {
	long := func(name, text string) string { return name + " begins. " + strings.Repeat(text, 3000) + " ends." }
	many := func(n int, text string) (all []string) {
		for i := range n {
			all = append(all, long(fmt.Sprintf("c%03d", i), text))
		}
		return all
	}
	for name, c := range map[string]struct {
		window int
		body   string
		texts  []string
		older  int // that an earlier step left out
		shown  int
		whole  bool
	}{
		"all fit":                  {100_000, "Broken.", []string{"one", "two"}, 0, 2, true},
		"one is long":              {8192, "Broken.", append(many(1, "word "), "short"), 0, 2, false},
		"all are long":             {32_000, "Broken.", many(20, "word "), 0, 20, false},
		"in Japanese":              {32_000, "壊れています。", many(10, "単語です。"), 0, 10, false},
		"more than have room":      {4096, "Broken.", many(50, "word "), 0, 9, false},
		"more, and older ones":     {4096, "Broken.", many(50, "word "), 7, 9, false},
		"the task is long as well": {8192, long("task", "word "), many(3, "word "), 0, 3, false},
		"a smallest window":        {1024, long("task", "word "), many(3, "word "), 0, 3, false},
	} {
		s := commented(c.window, c.body, c.texts...)
		s.Comments.Older = c.older
		for kind, m := range map[string]*event.MessageAdded{"task": Task(s), "comments": Comments(s)} {
			text := m.Content.View()
			if kind == "task" && len(m.Comments) < c.shown-5 || kind == "comments" && len(m.Comments) < c.shown {
				t.Errorf("%s, %s: %d comments are shown, want %d", name, kind, len(m.Comments), c.shown)
			}
			left := len(c.texts) - len(m.Comments)
			for i, said := range c.texts {
				if begins := strings.Contains(text, said[:min(len(said), 12)]); begins != (i >= left) {
					t.Errorf("%s, %s: comment %d of %d, %d left out, shown: %v", name, kind, i, len(c.texts), left, begins)
				}
			}
			if want := fmt.Sprintf("There are %d more comments.", left+c.older); strings.Contains(text, want) != (left+c.older > 0) {
				t.Errorf("%s, %s: no word on %d comments", name, kind, left+c.older)
			}
			if strings.Contains(text, "is not shown]") == c.whole || strings.Contains(text, "bytes omitted") && kind == "comments" {
				t.Errorf("%s, %s: cut: %v\n%s", name, kind, !c.whole, event.Shorten(text, 500))
			}
			if most := MostOfResult(s); !projections.SentWhole(m, most) {
				t.Errorf("%s, %s: %d bytes are shortened to %d", name, kind, len(text), most)
			}
			if strings.Contains(strings.Join(c.texts, ""), "short") && !strings.Contains(text, "\nshort\n") {
				t.Errorf("%s, %s: the short one is missing", name, kind)
			}
		}
	}
}
