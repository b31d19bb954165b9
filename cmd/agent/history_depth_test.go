package main

import (
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/llm/llmtest"
)

// TestHistoryIsFetchedOnDemand: a clone of a private project holds one commit, and what
// shows history sees the others, although the server that shows it has no token.
func TestHistoryIsFetchedOnDemand(t *testing.T) {
	t.Parallel()
	for name, extra := range map[string]string{"one commit": "", "all": "\nclone_depth: 0"} {
		w := newWorld(t, llmtest.Turns(
			llmtest.ToolCall("workspace__git_log", map[string]any{}),
			llmtest.ToolCall("workspace__git_blame", map[string]any{"path": "README.md"}),
			write("hello.txt", "hello\n"),
			llmtest.Done("I wrote hello.txt.")))
		w.extra += extra
		w.commit(map[string]string{"README.md": "# Widgets\nmore\n"})
		w.agent(0, "run")
		l := w.only()
		w.wantDone(1, l)
		w.noSecrets()
		prepared := find[*event.WorkspacePrepared](w.events(l.UUID))[0]
		system := w.model.Requests()[0].System()
		if shallow := name != "all"; prepared.Shallow != shallow || strings.Contains(system, "The clone holds the latest part of the history") != shallow {
			t.Errorf("%s: %+v", name, prepared)
		}
		if !strings.Contains(system, "Where commands run: ") || !strings.Contains(system, "Programs that are there: git 2.") {
			t.Errorf("%s: the system message is\n%s", name, system)
		}
		results := find[*event.ToolReplied](w.events(l.UUID))
		if log := results[0].Content.View(); !strings.Contains(log, "Begin\n") || !strings.Contains(log, "Rules\n") || strings.Contains(log, "shallow") {
			t.Errorf("%s: git_log shows\n%s", name, log)
		}
		if blame := results[1].Content.View(); !strings.HasPrefix(blame, "^") || strings.Contains(blame, "\n^") || !strings.Contains(blame, "more\n") {
			t.Errorf("%s: only the first line is of the first commit, but git_blame shows\n%s", name, blame)
		}
		w.wantExact(l.UUID)
	}
}
