package mcp_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"agent/mcp"

	"github.com/google/go-cmp/cmp"
)

func names(s mcp.Server) string {
	var all []string
	for _, tool := range s.Tools {
		all = append(all, tool.Name)
	}
	return strings.Join(all, " ")
}

func TestListKeepsOrderAndGoesOnWithoutTheBroken(t *testing.T) {
	allowed := fake("allowed", "normal")
	allowed.Allow = []string{"env", "echo", "absent"}
	allowed.SystemPrompt = "Be kind."
	homeless := fake("homeless", "normal", "{workspace}")
	pool := mcp.NewPool([]mcp.ServerConfig{
		fake("exit", "exit"), fake("killed", "killed"), fake("banner", "banner"), fake("old", "old"), fake("future", "future"),
		fake("pages", "pages"), fake("no_list", "no_list"), allowed, fake("pages", "normal"), homeless,
		{Name: "empty"},
	}, mcp.Options{})
	defer pool.Close()
	type seen struct{ Name, Prompt, Tools, Err string }
	all := strings.Join(toolNames, " ")
	want := []seen{
		{Name: "exit", Err: "it ended before it answered: exit status 3"},
		{Name: "killed", Err: "it ended before it answered: signal: killed"},
		{Name: "banner", Tools: all},
		{Name: "old", Tools: all},
		{Name: "future", Err: `unsupported protocol version: "2999-01-01"`},
		{Name: "pages", Tools: "one two three"},
		{Name: "no_list", Err: "the answer to tools/list is not a list of tools"},
		{Name: "allowed", Prompt: "Be kind.", Tools: "echo env"},
		{Name: "pages", Err: "another server has this name"},
		{Name: "homeless", Err: "it needs a workspace and there is none"},
		{Name: "empty", Err: "no command"},
	}
	session := pool.Session("")
	var got []seen
	for _, s := range session.List(t.Context()) {
		got = append(got, seen{s.Name, s.Prompt, names(s), s.Err})
		if s.Temporary != (s.Name == "killed") {
			t.Errorf("%s may start later: %v", s.Name, s.Temporary)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestAgentsOwnTools: allow is the model's list. The agent reads a forge with tools
// that the model does not get, and the model sees nothing of a server for the agent alone.
func TestAgentsOwnTools(t *testing.T) {
	all := strings.Join(toolNames, " ")
	some, forge, needed, broken := fake("some", "normal"), fake("forge", "normal"), fake("needed", "normal"), fake("broken", "exit")
	some.Allow, some.SystemPrompt, forge.SystemPrompt = []string{"echo"}, "Be kind.", "Of the forge."
	forge.AgentOnly, needed.AgentOnly, broken.AgentOnly = true, true, true
	needed.Required, broken.Required = true, true
	pool := mcp.NewPool([]mcp.ServerConfig{some, forge, needed, broken}, mcp.Options{})
	defer pool.Close()
	list := func(s *mcp.Session) (got []string) {
		for _, one := range s.List(t.Context()) {
			got = append(got, strings.TrimSpace(one.Name+": "+names(one)+one.Err+one.Prompt))
		}
		return got
	}
	model, agent := pool.Session(""), pool.Agent()
	if diff := cmp.Diff([]string{"some: echoBe kind.", "broken: it ended before it answered: exit status 3"}, list(model)); diff != "" {
		t.Error("the model sees:", diff)
	}
	whole := []string{"some: " + all + "Be kind.", "forge: " + all + "Of the forge.", "needed: " + all, "broken: it ended before it answered: exit status 3"}
	if diff := cmp.Diff(whole, list(agent)); diff != "" {
		t.Error("the agent sees:", diff)
	}
	for _, server := range []string{"some", "forge"} {
		if _, err := model.Call(t.Context(), server, "env", nil); err == nil {
			t.Errorf("the model calls a tool of %s that it does not see", server)
		}
		if _, err := agent.Call(t.Context(), server, "env", nil); err != nil {
			t.Error(err)
		}
	}
	// If nothing else is configured, the model has no tools: that is no way to work.
	alone := mcp.NewPool([]mcp.ServerConfig{forge}, mcp.Options{})
	defer alone.Close()
	if got := alone.Session("").List(t.Context()); len(got) != 1 || got[0].Err == "" || !got[0].Required {
		t.Errorf("%+v", got)
	}
}

func TestOddTools(t *testing.T) {
	session, log := start(t, fake("odd", "odd"))
	got := session.List(t.Context())[0]
	want := mcp.Server{Name: "odd", Tools: []mcp.Tool{
		{Name: "same", Description: "first", Schema: []byte(rawSchema), ReadOnly: true, Idempotent: true},
		{Name: "no_schema", Schema: []byte(`{"type":"object","properties":{}}`), Destructive: true, OpenWorld: true},
		{Name: "whisper", Description: "Adds. Two numbers.", Schema: []byte(`{"type":"object"}`), Destructive: true, OpenWorld: true},
		{
			Name:   "marked",
			Schema: []byte(`{"type":"object","properties":{"a":{"description":"say \"می` + "\u200c" + `روم\""},"b":{"enum":["x","\\ufeff"]}}}`), Destructive: true, OpenWorld: true,
		},
		{
			Name: "wordy", Description: strings.Repeat("é", 4096) + "\n[cut: 8192 of 199967 bytes]",
			Schema: []byte(`{"$ref":"http://example.com/schema"}`), Destructive: true, OpenWorld: true,
		},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, note := range []string{
		`tool "same" left out: its name is taken`,
		`tool 3 "text_schema" left out: its schema is not an object`,
		`tool 5 "large" left out: its schema has 307208 bytes, more than 262144`,
		`tool 6 "deep" left out: its schema is nested deeper than 64`,
		`left out: its name is not 1 to 128 printable ASCII characters`,
		`tool 10 "unseen" left out: its schema has hidden characters`,
		`tool 13 "marked_name" left out: its schema has hidden characters`,
		`tool 11 "" left out: its description is malformed`,
	} {
		if !strings.Contains(log.String(), note) {
			t.Errorf("no note %q in\n%s", note, log)
		}
	}
}

func TestServersPerWorkspace(t *testing.T) {
	own := fake("own", "normal")
	own.Env = map[string]string{"DIR": "<{workspace}>"}
	pool := mcp.NewPool([]mcp.ServerConfig{own, fake("shared", "normal")}, mcp.Options{})
	defer pool.Close()
	a, b := pool.Session("/a"), pool.Session("/b")
	pid := func(s *mcp.Session, server string) string {
		t.Helper()
		got, err := s.Call(t.Context(), server, "env", nil)
		if err != nil {
			t.Fatal(err)
		}
		return got.Text
	}
	if got := pid(a, "own"); !strings.Contains(got, "DIR=</a>") {
		t.Errorf("own server of a: %s", got)
	}
	if got := pid(b, "own"); !strings.Contains(got, "DIR=</b>") {
		t.Errorf("own server of b: %s", got)
	}
	_ = a.Close()
	if _, err := a.Call(t.Context(), "own", "env", nil); err == nil || !strings.Contains(err.Error(), "it is closed (not_started)") {
		t.Errorf("closed session: %v", err)
	}
	pid(b, "own")
	pid(b, "shared")
}

func TestEnvironmentIsBuiltFromTheAllowList(t *testing.T) {
	config := fake("s", "normal")
	config.Env = map[string]string{"MINE": "x", "LANG": "ja_JP.UTF-8"}
	session, _ := startWith(t, mcp.Options{Getenv: func(name string) string {
		return map[string]string{"PATH": "/bin", "HOME": "/h", "LANG": "C", "https_proxy": "p", "SECRET": "s"}[name]
	}}, config)
	got, err := session.Call(t.Context(), "s", "env", nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("HOME=/h\nLANG=ja_JP.UTF-8\nMINE=x\nPATH=/bin\nhttps_proxy=p", got.Text); diff != "" {
		t.Error(diff)
	}
}

func TestStderrFloodIsCapped(t *testing.T) {
	session, log := start(t, fake("s", "normal"))
	if _, err := session.Call(t.Context(), "s", "flood", nil); err != nil {
		t.Fatal(err)
	}
	if got := log.String(); len(got) > 80<<10 || !strings.Contains(got, strings.Repeat("x", 4096)) ||
		strings.Contains(got, strings.Repeat("x", 4097)) || !strings.Contains(got, "further output is dropped") {
		t.Errorf("%d bytes handed on, ending in %q", len(got), got[max(0, len(got)-200):])
	}
}

// TestWarmUp: a server that was warmed up is the one that List waits for, and nothing waits
// for it before. What is said About a server is looked up while it starts, and not for Start.
func TestWarmUp(t *testing.T) {
	asked := make(chan struct{}, 1)
	dir := t.TempDir()
	slow := fake("slow", "counted", dir)
	slow.About = func(context.Context, mcp.Local) string { asked <- struct{}{}; return "It is here." }
	pool := mcp.NewPool([]mcp.ServerConfig{slow}, mcp.Options{})
	defer pool.Close()
	session := pool.Session("")
	session.WarmUp()
	if list := session.Start(t.Context()); len(asked) != 0 || list[0].Err != "" || list[0].Prompt != "" {
		t.Errorf("%+v", list)
	}
	if list := session.List(t.Context()); len(asked) != 1 || list[0].Prompt != "It is here." {
		t.Errorf("%+v", list)
	}
	if starts, err := filepath.Glob(dir + "/start-*"); len(starts) != 1 {
		t.Errorf("it was started %d times: %v", len(starts), err)
	}
}
