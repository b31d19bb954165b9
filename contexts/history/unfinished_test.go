package history

import (
	"os"
	"testing"

	"agent/eventlog/event"
)

// TestUnfinished: the latest attempt that changed something decides what the next begins with.
func TestUnfinished(t *testing.T) {
	prepared := &event.WorkspacePrepared{Dir: "/w", Base: "main", Commit: "c0"}
	kept := func(branch string) []event.Body {
		return []event.Body{private, prepared, &event.ChangeRequested{Branch: branch, Tree: "t1", Unfinished: true},
			&event.ChangeOpened{Branch: branch, Unfinished: true}, &event.ContextFailed{Reason: "unusable_replies"}}
	}
	published := []event.Body{private, prepared, &event.ChangeRequested{Branch: "b", Tree: "t1"}, &event.ChangeOpened{Number: 3, URL: "u"}, completed}
	unpushed := []event.Body{private, prepared, &event.ChangeRequested{Branch: "b", Tree: "t1", Unfinished: true},
		&event.ChangeFailed{Kind: "refused", Patch: event.T("x"), Unfinished: true}, &event.ContextFailed{Reason: "model"}}
	nothing := []event.Body{private, &event.ContextFailed{Reason: "workspace"}}
	cleaned := []event.Body{private, prepared, &event.ChangeMeasured{Tree: "t0"}, completed}
	anybody := append([]event.Body{rule("any"), public}, kept("agent/x")[1:]...)
	for name, c := range map[string]struct {
		attempts [][]event.Body
		from     int // index of the attempt, -1: none
		branch   string
		patch    string
	}{
		"none":                  {nil, -1, "", ""},
		"branch":                {[][]event.Body{kept("agent/x")}, 0, "agent/x", ""},
		"patch":                 {[][]event.Body{kept("")}, 0, "", "diff"},
		"not pushed":            {[][]event.Body{unpushed}, 0, "", "diff"},
		"before one of nothing": {[][]event.Body{kept("agent/x"), nothing}, 0, "agent/x", ""},
		"published since":       {[][]event.Body{kept("agent/x"), published}, -1, "", ""},
		"taken back since":      {[][]event.Body{kept("agent/x"), cleaned}, -1, "", ""},
		"the latest":            {[][]event.Body{kept("agent/x"), kept("agent/y")}, 1, "agent/y", ""},
		"words of anybody":      {[][]event.Body{anybody}, -1, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDisk(t)
			var uuids []string
			for _, a := range c.attempts {
				uuids = append(uuids, d.add(taskKey, a...))
				must(t, os.WriteFile(d.path(uuids[len(uuids)-1], event.PatchFile), []byte("diff"), 0o600))
			}
			want := Unfinished{}
			if c.from >= 0 {
				want = Unfinished{From: uuids[c.from], Branch: c.branch, Base: "c0"}
			}
			got := Reader{d.Store, everything}.Unfinished(d.state(rule("auto"), public))
			if got.From != want.From || got.Branch != want.Branch || got.Base != want.Base || string(got.Patch) != c.patch {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
}
