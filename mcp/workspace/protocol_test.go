package workspace_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/handlers/reply"
	"agent/llm"
	"agent/mcp"
	"agent/projections"
)

// examples are one call of each tool as a model writes it in the JSON protocol, and what
// its answer has. They run in this order in one repository.
var examples = []struct{ tool, reply, want string }{
	{"write_file", `{"command":{"comment":"A new file.","tool":"workspace/write_file","args":{"path":"src/a.go","content":"package a\n\nfunc A() int { return 1 }\n"}}}`, "wrote"},
	{"read_file", "```json\n" + `{"command":{"comment":"I read it.","tool":"workspace/read_file","args":{"path":"src/a.go","start_line":3,"end_line":3}}}` + "\n```", "func A() int"},
	{"edit_file", `{"comment":"One edit.","command":{"tool":"workspace/edit_file","args":{"path":"src/a.go","old_text":"return 1","new_text":"return 2"}}}`, "src/a.go"},
	{"apply_patch", `{"command":{"comment":"A patch.","tool":"workspace/apply_patch","args":{"patch":"*** Begin Patch\n*** Update File: src/a.go\n@@\n-func A() int { return 2 }\n+func A() int { return 3 }\n*** Add File: src/b.go\n+package a\n*** End Patch\n"}}}`, "src/b.go"},
	{"move_file", `{"command":{"comment":"A better name.","tool":"workspace/move_file","args":{"path":"src/b.go","to":"src/c.go"}}}`, "moved src/b.go to src/c.go"},
	{"list_files", `{"command":{"comment":"What is there?","tool":"workspace/list_files","args":{"path":"src","glob":"*.go"}}}`, "src/a.go\nsrc/c.go"},
	{"search", `{"command":{"comment":"Where is it?","tool":"workspace/search","args":{"pattern":"func A\\(","glob":"*.go","context":0}}}`, "src/a.go:3: func A() int { return 3 }"},
	{"delete_file", `{"command":{"comment":"Not needed.","tool":"workspace/delete_file","args":{"path":"src/c.go"}}}`, "deleted src/c.go"},
	{"run_command", `{"command":{"comment":"The tests.","tool":"workspace/run_command","args":{"command":"cat src/a.go | wc -l","timeout_seconds":60}}}`, "exit code: 0"},
	{"command_output", `{"command":{"comment":"All of it.","tool":"workspace/command_output","args":{"id":1}}}`, "3"},
	{"run_command", `{"command":{"comment":"A server.","tool":"workspace/run_command","args":{"argv":["sleep","600"],"background":true}}}`, "command 2"},
	{"stop_command", `{"command":{"comment":"Enough.","tool":"workspace/stop_command","args":{"id":2}}}`, "command 2"},
	{"git_status", `{"command":{"comment":"What changed?","tool":"workspace/git_status","args":{}}}`, "?? src/a.go"},
	{"git_diff", `{"command":{"comment":"The change.","tool":"workspace/git_diff","args":{"path":"src"}}}`, "+func A() int { return 3 }"},
	{"git_commit", `{"command":{"comment":"Done.","tool":"workspace/git_commit","args":{"message":"Add A"}}}`, "committed"},
	{"git_log", `{"command":{"comment":"What was before?","tool":"workspace/git_log","args":{"path":"src/a.go","limit":5}}}`, "Add A"},
	{"git_show", `{"command":{"comment":"The commit.","tool":"workspace/git_show","args":{"rev":"HEAD"}}}`, "+package a"},
	{"git_blame", `{"command":{"comment":"Who?","tool":"workspace/git_blame","args":{"path":"src/a.go","start_line":1,"end_line":2}}}`, "package a"},
	{"git_restore", `{"command":{"comment":"As it was.","tool":"workspace/git_restore","args":{"path":"README.md"}}}`, "restored README.md"},
}

// TestEveryToolInTheJSONProtocol carries a call of each tool from the reply of a model to the answer.
func TestEveryToolInTheJSONProtocol(t *testing.T) {
	b := open(t)
	b.write("README.md", "hello\n")
	for _, a := range [][]string{{"init", "-q"}, {"config", "user.name", "bot"}, {"config", "user.email", "bot@example.com"}, {"config", "agent.context", "3f2a"}, {"add", "-A"}, {"commit", "-qm", "first"}} {
		cmd := exec.Command("git", a...)
		cmd.Dir = b.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", a, err, out)
		}
	}
	s := projections.NewState()
	s.Config = &event.ConfigPinned{Protocol: "json"}
	s.Tools = &event.ToolsListed{Servers: []event.Server{{Name: "workspace"}}}
	without := map[string]bool{}
	for _, tool := range offered(t, b) {
		s.Tools.Servers[0].Tools = append(s.Tools.Servers[0].Tools, event.Tool{Name: tool.Name})
		without[tool.Name] = true
	}
	for _, e := range examples {
		p := reply.Read(s, &event.LLMReplied{Text: event.T(e.reply), Finish: "stop"})
		if len(p.Calls) != 1 || p.Calls[0].Tool != e.tool || p.Calls[0].Server != "workspace" || p.Comment == "" {
			t.Errorf("%s is read as %+v", e.reply, p)
			continue
		}
		delete(without, e.tool)
		var args map[string]any
		if err := json.Unmarshal([]byte(p.Calls[0].Args), &args); err != nil {
			t.Fatal(err)
		}
		if got, failed := b.call(e.tool, args); failed || !strings.Contains(got, e.want) {
			t.Errorf("%s %v: %q (error %v), want %q", e.tool, args, got, failed, e.want)
		}
	}
	for name := range without {
		t.Errorf("the tool %s has no example", name)
	}
	if _, err := os.Stat(b.dir + "/src/a.go"); err != nil {
		t.Error(err)
	}
}

func offered(t *testing.T, b bench) []mcp.Tool {
	t.Helper()
	list := b.session.List(t.Context())
	if len(list) != 1 || list[0].Err != "" {
		t.Fatalf("%+v", list)
	}
	return list[0].Tools
}

// TestToolsAreCheap: the descriptions and schemas of all tools go with every request.
func TestToolsAreCheap(t *testing.T) {
	var r llm.Request
	for _, tool := range offered(t, open(t)) {
		r.Tools = append(r.Tools, llm.Tool{Name: "workspace__" + tool.Name, Description: tool.Description, Schema: tool.Schema})
	}
	if got := llm.EstimateRequest(r); got > 2500 || len(r.Tools) < 15 {
		t.Errorf("%d tools cost %d tokens", len(r.Tools), got)
	} else {
		t.Logf("%d tools cost %d tokens", len(r.Tools), got)
	}
}
