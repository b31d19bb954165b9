package main

import (
	"strings"
	"testing"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/fsx"
)

// visit is a person before the browser in the terminal.
type visit struct {
	*onTerminal
	screen *screen
	taken  int // bytes of what was written
}

// sees waits until the terminal shows all of some texts, or for "!text" does not show it.
func (v *visit) sees(texts ...string) {
	v.w.t.Helper()
	end := time.Now().Add(30 * time.Second)
	for {
		all := v.shown.String()
		v.screen.write(all[v.taken:])
		v.taken = len(all)
		shown, lacks := v.screen.String(), ""
		for _, text := range texts {
			if text[0] == '!' == strings.Contains(shown, strings.TrimPrefix(text, "!")) {
				lacks = text
			}
		}
		if lacks == "" {
			return
		}
		if time.Now().After(end) {
			v.w.t.Fatalf("never: %q\n%s", lacks, shown)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// types presses keys and waits for what they show.
func (v *visit) types(keys string, texts ...string) {
	v.w.t.Helper()
	_, err := v.terminal.WriteString(keys)
	must(v.w.t, err)
	v.sees(texts...)
}

// A whole visit on a terminal of 80 × 24, with the real program and the log of a real run: from
// the list to the failed call, to the files before and after, to a fork, and back. The words
// are those of the language; without colours nothing is lost.
func TestVisit(t *testing.T) {
	for name, c := range map[string]struct {
		extra string
		env   []string
		words map[string]string
	}{
		"English":                  {planningOn, nil, map[string]string{}},
		"Japanese without colours": {planningOn + "\nlanguage: ja", []string{"NO_COLOR=1"}, map[string]string{"contexts: 2 of 2": "コンテキスト: 2 / 2 件", "contexts: 1 of 2": "コンテキスト: 1 / 2 件", "contexts: 2 of 3": "コンテキスト: 2 / 3 件", "contexts: 3 of 3": "コンテキスト: 3 / 3 件", "execution (": "実行 (", "Output": "出力", "Changed files: 1": "変更ファイル: 1 件", "Fork ": "フォークします", "Keys": "キー操作", "It has ended": "終了しているため"}},
	} {
		t.Run(name, func(t *testing.T) {
			word := func(en string) string {
				if text := c.words[en]; text != "" {
					return text
				}
				return en
			}
			w := newWorld(t, planner)
			w.extra, w.env = c.extra, c.env
			w.agent(0, "run")
			w.another("Another task")
			v := &visit{onTerminal: w.startOnTerminal(80, "ui"), screen: newScreen(24, 80)}
			v.sees(word("contexts: 2 of 2"), "Greet the world", "Another task")
			v.types("/greet", word("contexts: 1 of 2"), "/greet", "!Another task")
			v.types("\r\r", "Greet the world", word("execution ("))
			v.types("?", word("Keys"))
			v.types(" ", "!"+word("Keys"))
			v.types("g", "▶ ")
			v.types("n", "▶", "✗")
			v.types("  ", "▼") // folds the phase, and unfolds it
			v.types(" ", "▷")
			v.types(" n", "!▷")
			v.types("\r", word("Output"), "TONE.md", "no such file")
			v.types("q", "!"+word("Output"))
			v.types("d\r", word("Changed files: 1"), "hello.txt", "+hello")
			v.types("q", "!"+word("Changed files: 1"))
			v.types("P", word("It has ended"))
			v.types("F", word("Fork "), "> ▏")
			v.types("Say it in French", "> Say it in French▏")
			v.types("\x1b", "!> Say")
			v.types("F", word("Fork "), "> ▏")
			v.types("Again\r", "!> Again")
			v.types("q", word("contexts: 2 of 3")) // the filter is still there
			v.types("\x1b", word("contexts: 3 of 3"), "Another task")
			v.types("q")
			if code, written := v.end(); code != 0 || !strings.Contains(written, "\x1b[?1049l") {
				t.Errorf("exit %d; is the first screen back? %v", code, strings.Contains(written, "\x1b[?1049l"))
			}
			if len(v.screen.strange) > 0 {
				t.Errorf("sequences that the test does not know: %q", v.screen.strange)
			}
			if all := v.shown.String(); len(c.env) > 0 && (strings.Contains(all, "\x1b[31m") || strings.Contains(all, "\x1b[1m")) {
				t.Error("colours despite NO_COLOR")
			}
		})
	}
}

// another adds a context that has ended.
func (w *world) another(title string) {
	w.t.Helper()
	fsys, err := fsx.OpenOS(w.path("contexts"))
	must(w.t, err)
	store, err := contexts.Open(fsys, contexts.Options{})
	must(w.t, err)
	c, err := store.Create(&event.ContextCreated{Format: event.Format, UUID: "99990000-0000-4000-8000-000000000009", TaskKey: "github.com/o/r/issues/9", Forge: "github.com",
		Kind: "github_issue", Title: title}, time.Now())
	must(w.t, err)
	_, err = c.Append(event.Event{Time: time.Now(), Body: &event.ContextCompleted{Reason: "done"}})
	must(w.t, err)
	must(w.t, c.Relocate())
	must(w.t, c.Close())
}
