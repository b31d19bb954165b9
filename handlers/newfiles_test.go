package handlers

import (
	"strings"
	"testing"

	"agent/eventlog/event"
)

// TestNewFiles: new files that no edit named are asked about once, before anything
// is published or a person is asked; the closing words stay; no answer keeps them.
func TestNewFiles(t *testing.T) {
	file := func(path, kind string) event.ChangedFile {
		return event.ChangedFile{Path: path, Added: 1, Kind: kind, New: true}
	}
	found := func(tree string, files ...event.ChangedFile) *event.ChangeMeasured {
		return &event.ChangeMeasured{Tree: tree, Count: len(files), Added: len(files), Files: files}
	}
	said := text("Fixed the bug.")
	run := native("ws__run_command", `{"argv":["make"]}`)
	edit := native("ws__write_file", `{"path":"./out.bin","content":"x"}`)
	empty, ended := text(""), "Fixed the bug."
	for name, c := range map[string]struct {
		measured []*event.ChangeMeasured
		replies  []event.Body
		body     string
		calls    int // that the configuration allows, 20 unless said
		asked    bool
		tree     string // that is published
		words    string
	}{
		"words keep it":         {[]*event.ChangeMeasured{found("t1", file("out.bin", ""))}, []event.Body{run, said, text("It belongs.")}, "", 0, true, "t1", "Fixed the bug.\n\nIt belongs."},
		"deleted":               {[]*event.ChangeMeasured{found("t1", file("a.go", ""), file("out.bin", "")), found("t2", file("a.go", ""))}, []event.Body{run, said, run, text("Deleted.")}, "", 0, true, "t2", "Fixed the bug.\n\nDeleted."},
		"words said again":      {[]*event.ChangeMeasured{found("t1", file("out.bin", ""))}, []event.Body{run, said, text("Fixed the bug. out.bin stays.")}, "", 0, true, "t1", "Fixed the bug. out.bin stays."},
		"before a person":       {[]*event.ChangeMeasured{found("t1", file("out.bin", "binary")), small()}, []event.Body{run, said, text("Deleted.")}, "", 0, true, "t1", "Fixed the bug.\n\nDeleted."},
		"answer is unusable":    {[]*event.ChangeMeasured{found("t1", file("out.bin", ""))}, []event.Body{run, said, empty, empty, empty, empty, empty}, "", 0, true, "t1", ended},
		"limit in the answer":   {[]*event.ChangeMeasured{found("t1", file("out.bin", ""))}, []event.Body{run, said, run}, "", 3, true, "t1", ended},
		"no call is left":       {[]*event.ChangeMeasured{found("t1", file("out.bin", ""))}, []event.Body{run, said}, "", 2, false, "t1", ended},
		"an edit named it":      {[]*event.ChangeMeasured{found("t1", file("out.bin", ""))}, []event.Body{edit, said}, "", 0, false, "t1", ended},
		"the task names it":     {[]*event.ChangeMeasured{found("t1", file("out.bin", ""))}, []event.Body{run, said}, "Make `out.bin`.", 0, false, "t1", ended},
		"the repository has it": {[]*event.ChangeMeasured{found("t1", event.ChangedFile{Path: "out.bin"})}, []event.Body{run, said}, "", 0, false, "t1", ended},
		"more files afterwards": {[]*event.ChangeMeasured{found("t1", file("out.bin", "")), found("t2", file("new.bin", ""))}, []event.Body{run, said, run, text("Kept.")}, "", 0, true, "t2", "Fixed the bug.\n\nKept."},
	} {
		t.Run(name, func(t *testing.T) {
			w := publishing(t, nil, c.replies...)
			w.measured, w.body = c.measured, c.body
			w.tools["ws/run_command"] = &event.ToolReplied{Content: event.T("exit code: 0\nok")}
			w.tools["ws/write_file"] = &event.ToolReplied{Content: event.T("written")}
			if c.replies[0] == edit {
				w.second = "write_file"
			}
			if c.calls > 0 {
				w.state.Config.Limits.MaxCalls = c.calls
			}
			transcript, asked, tree, last := w.run(), 0, "", ""
			for _, b := range w.all {
				switch b := b.(type) {
				case *event.MessageAdded:
					if b.Purpose == event.NewFilesMessage {
						asked++
					}
				case *event.ChangeRequested:
					tree = b.Tree
					if b.Unfinished {
						t.Errorf("finished work is kept as unfinished")
					}
				case *event.CommentRequested:
					last = b.Body.Inline
				}
			}
			if asked != map[bool]int{true: 1}[c.asked] || tree != c.tree || !strings.Contains(last, c.words) || strings.Count(last, "Fixed the bug.") != 1 {
				t.Errorf("asked %d times, published %s, and said\n%s\n%s", asked, tree, last, transcript)
			}
		})
	}
}

// TestNewFilesOfPlan: the end of a plan waits for the answer, and no other.
func TestNewFilesOfPlan(t *testing.T) {
	bin := &event.ChangeMeasured{Tree: "t1", Count: 1, Files: []event.ChangedFile{{Path: "out.bin", Kind: "binary", New: true}}}
	for name, answers := range map[string][]event.Body{
		"words":    {reads("a1"), text("Read."), text("It belongs.")},
		"tools":    {reads("a1"), text("Read."), runs("rm"), text("Deleted.")},
		"unusable": {reads("a1"), text("Read."), text("")},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPlanWorld(t, script{"understanding": {text(understood)}, "information": {text(nothing)}, "planning": {text(planned("a1"))},
				"verification": {text(passed)}, "reflection": {text(noRevision)}, "work": answers})
			w.cloned, w.measured = true, []*event.ChangeMeasured{bin, small()}
			w.state.Config.Change = event.ChangeRule{Enabled: true, Binary: "ask"}
			w.change = &event.ChangeOpened{Number: 8, URL: "https://github.com/o/r/pull/8", Commit: "c1"}
			out := w.run()
			last := ""
			for _, b := range w.all {
				if b, ok := b.(*event.CommentRequested); ok && b.Purpose == "completed" {
					last = b.Body.Inline
				}
			}
			if strings.Count(out, "(new_files)") != 1 || w.state.Status != "completed" || !strings.Contains(last, "All criteria are met.") || strings.Contains(out, "context.paused") {
				t.Errorf("said\n%s\n%s", last, out)
			}
		})
	}
}
