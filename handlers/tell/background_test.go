package tell

import (
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/projections"
)

// TestBackgroundIsEvidence: how tests ended that ran in the background a later call says, and it counts from when they
// began: what was written meanwhile they did not see. Tests that nobody waited for show nothing.
func TestBackgroundIsEvidence(t *testing.T) {
	call := func(tool, args, answer string) []event.Body {
		return []event.Body{&event.ToolRequested{Server: "workspace", Tool: tool, Args: event.T(args)}, &event.ToolReplied{Content: event.T(answer)}}
	}
	start := call("run_command", `{"command":"go test ./...","background":true}`, "[command 3 runs since 0 s: go test ./...; command_output shows what it writes, stop_command ends it]\n")
	short := call("run_command", `{"command":"go test ./...","background":true}`, "[command 3 ended after 0.1 s with exit code 0: go test ./...; command_output shows what it writes]\n")
	waits := call("command_output", `{"id":3}`, "[command 3 runs since 9 s: go test ./...]\nok a")
	passes := call("command_output", `{"id":3,"wait_seconds":900}`, "[command 3 ended after 180.0 s with exit code 0: go test ./...]\nok a")
	fails := call("command_output", `{"id":3}`, "[command 3 ended after 180.0 s with exit code 1: go test ./...]\nFAIL")
	stops := call("stop_command", `{"id":3}`, "[command 3 ended after 5.0 s with exit code killed: go test ./...; it was stopped]\n")
	other := call("command_output", `{"id":4}`, "[command 4 ended after 5.0 s with exit code 0: go test ./...]\n")
	writes := call("write_file", `{"path":"a.go","content":""}`, "wrote 0 bytes")
	const passed, failed, killed, unknown = "`go test ./...` → exit code 0", "`go test ./...` → exit code 1", "`go test ./...` → **killed** before it ended", "`go test ./...` → **interrupted**; its result is unknown"
	for name, c := range map[string]struct {
		calls      [][]event.Body
		want       string
		unverified bool
	}{
		"passed":                  {[][]event.Body{start, waits, passes}, passed, false},
		"asked twice":             {[][]event.Body{start, passes, passes}, passed, false},
		"ended at once":           {[][]event.Body{short, passes}, passed, false},
		"failed":                  {[][]event.Body{start, fails}, failed, true},
		"stopped":                 {[][]event.Body{start, stops}, killed, true},
		"nobody waited":           {[][]event.Body{start, waits}, unknown, true},
		"another command":         {[][]event.Body{start, other}, unknown, true},
		"written before":          {[][]event.Body{writes, start, passes}, passed, false},
		"written while it ran":    {[][]event.Body{start, writes, passes}, passed, true},
		"written after":           {[][]event.Body{start, passes, writes}, passed, true},
		"written, and run again":  {[][]event.Body{start, writes, passes, start, passes}, passed, false},
		"not said by the server":  {[][]event.Body{call("read_file", `{"path":"x"}`, "[command 3 ended after 1.0 s with exit code 0: go test ./...]")}, "No command was run", true},
		"foreground, then looked": {[][]event.Body{call("run_command", `{"command":"go test ./..."}`, "exit code: 0\nok"), other}, passed, false},
	} {
		s := projections.NewState()
		seq := uint64(0)
		for _, bodies := range c.calls {
			for _, b := range bodies {
				seq++
				s.Apply(event.Event{Seq: seq, Body: b})
			}
		}
		v := &projections.Ending{Status: projections.Completed, Text: "All tests pass.", Reason: "done"}
		got := strings.Join(evidence(s, v), "\n")
		if n := strings.Count(got, "go test"); !strings.Contains(got, c.want) || n > 1 && name != "written, and run again" {
			t.Errorf("%s: %s", name, got)
		}
		if got := unverified(s, v); (got != "") != c.unverified {
			t.Errorf("%s: %q", name, got)
		}
	}
}
