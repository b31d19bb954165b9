package history

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/mcp"
	"agent/projections"
)

// others stands for the configured servers.
type others struct{ closed bool }

func (*others) WarmUp() {}

func (*others) List(context.Context) []mcp.Server { return []mcp.Server{{Name: "workspace"}} }
func (*others) Call(_ context.Context, server, tool string, _ json.RawMessage) (mcp.Result, error) {
	return mcp.Result{Text: server + "/" + tool}, nil
}
func (o *others) Close() error { o.closed = true; return nil }

func (d *disk) beside(rules Rules, s *projections.State) Tools {
	return Reader{d.Store, rules}.WithHistory(&others{}, s)
}

func call(t *testing.T, tools Tools, tool, args string) mcp.Result {
	t.Helper()
	r, err := tools.Call(t.Context(), Server, tool, json.RawMessage(args))
	must(t, err)
	return r
}

func names(servers []mcp.Server) (all []string) {
	for _, s := range servers {
		all = append(all, s.Name)
	}
	return all
}

// TestOffered: the server is there if there is something to read and the configuration wants it.
func TestOffered(t *testing.T) {
	d := newDisk(t)
	s := d.state(private)
	offered := func() bool { return slices.Contains(names(d.beside(everything, s).List(t.Context())), Server) }
	d.add("github.com/acme/widgets/issues/2", private, completed)
	d.add(taskKey, private, &event.ContextFailed{Reason: "x"})
	if offered() {
		t.Error("it is offered without an earlier attempt")
	}
	first := d.add(taskKey, private, completed)
	tools := d.beside(everything, s)
	list := tools.List(t.Context())
	if !slices.Equal(names(list), []string{"workspace", Server}) || len(list[1].Tools) != 2 {
		t.Fatalf("%+v", list)
	}
	for _, tool := range list[1].Tools {
		if !tool.ReadOnly || !json.Valid(tool.Schema) {
			t.Errorf("%+v", tool)
		}
	}
	if r, err := tools.Call(t.Context(), "workspace", "x", nil); err != nil || r.Text != "workspace/x" {
		t.Errorf("%+v, %v", r, err)
	}
	s.Config.Inherit.Enabled = false
	if offered() || !call(t, tools, "read", `{"context":"`+first+`","kind":"metadata"}`).IsError {
		t.Error("it is offered though nothing is to be inherited")
	}
	s.Config.Inherit.Enabled = true
	d.change(first, func(log []byte) []byte { log[len(log)/2] ^= 4; return log })
	if offered() {
		t.Error("it is offered for a damaged log alone")
	}
}

// planned is an attempt in planning mode.
func planned() []event.Body {
	return []event.Body{private,
		&event.PlanMade{Plan: event.Plan{Goal: event.Goal{Objective: "plan-1 by @dave"}}},
		&event.PlanRevised{Revision: event.Revision{Reason: "why", Changes: []event.Change{{Details: "change-1"}}, Actions: event.ActionPlan{Order: []string{"plan-2"}}}},
		&event.ActionFinished{Action: "act-1", Status: "failed", Detail: "detail-1"},
		&event.ReflectionMade{Reflection: event.Reflection{Evaluation: "evaluation-1"}},
		&event.VerificationMade{Round: 1, Result: event.Verification{Issues: []string{"issue-1"}}},
		&event.ReplanDecided{Phase: "execution", Decision: event.Replan{Reasoning: "decision-1"}},
		&event.ToolRequested{Server: "workspace", Tool: "run", Args: event.T(`{"argv":["ls"]}`)}, &event.ToolReplied{Content: event.T("out-1 hid\u200bden by alice")},
		&event.ToolRequested{Server: "workspace", Tool: "fail"}, &event.ToolFailed{Kind: "timeout", Message: "slow-1"},
		&event.ToolRequested{Server: Server, Tool: "read"}, &event.ToolReplied{Content: event.T("nested-1"), Sources: []string{"z"}},
		&event.ToolRequested{Server: "workspace", Tool: "cut"}, &event.ToolInterrupted{Reason: "died-1"},
		&event.ConfigPinned{Provider: "openai", Model: "model-1"}, &event.WorkspacePrepared{Dir: "/secret/place", Base: "main", Commit: "c0ffee"},
		&event.ChangeRequested{}, &event.ChangeOpened{Number: 7, URL: "https://forge/pull/7"},
		&event.SummaryAdded{Purpose: event.CompactionSummary, Text: event.T("compacted-1")}, summary("summary-1"), completed}
}

// TestKinds reads everything that an attempt in planning mode left.
func TestKinds(t *testing.T) {
	d := newDisk(t)
	uuid := d.add(taskKey, planned()...)
	tools := d.beside(everything, d.state(private))
	if list := call(t, tools, "list", `{}`); !strings.Contains(list.Text, uuid) || len(list.Sources) > 0 ||
		!strings.Contains(list.Text, "summary 1, plans 2, actions 1, replans 1, reflections 1, verifications 1, tools 4, metadata 5") {
		t.Errorf("%+v", list)
	}
	for kind, want := range map[string][]string{
		kindSummary: {"summary-1"}, kindPlans: {"plan-1", "plan-2", "why", "change-1"}, kindActions: {"act-1", "failed", "detail-1"},
		kindReflections: {"evaluation-1"}, kindVerifications: {"issue-1", `"round":1`}, kindReplans: {"decision-1", "execution"},
		kindTools:    {"workspace/run", `["ls"]`, "out-1 hidden by user", "timeout: slow-1", "interrupted: died-1"},
		kindMetadata: {"model-1", "c0ffee", "https://forge/pull/7", "context.completed: done"},
	} {
		r := call(t, tools, "read", fmt.Sprintf(`{"context":%q,"kind":%q}`, strings.ToUpper(uuid), kind))
		for _, part := range want {
			if !strings.Contains(r.Text, part) {
				t.Errorf("%s lacks %q: %s", kind, part, r.Text)
			}
		}
		for _, part := range []string{"nested-1", "compacted-1", "alice", "dave", "/secret"} {
			if strings.Contains(r.Text, part) {
				t.Errorf("%s has %q: %s", kind, part, r.Text)
			}
		}
		if !slices.Equal(r.Sources, []string{uuid, "z"}) || r.Trust != projections.TrustMembers || r.IsError {
			t.Errorf("%s: %+v", kind, r)
		}
	}
	few := d.beside(Rules{}, d.state(private))
	if text := call(t, few, "read", `{"context":"`+uuid+`","kind":"plans"}`).Text; text != "kind must be one of: summary, tools, metadata" {
		t.Error(text)
	}
	one := everything
	one.MaxPlans = 1
	if text := call(t, d.beside(one, d.state(private)), "read", `{"context":"`+uuid+`","kind":"plans","limit":9}`).Text; strings.Contains(text, "plan.made") || !strings.Contains(text, "plan-2") {
		t.Error(text)
	}
}

// TestBounds: what is read is the newest, bounded, and the rest can be reached.
func TestBounds(t *testing.T) {
	d := newDisk(t)
	bodies := []event.Body{private}
	for n := range 150 {
		bodies = append(bodies, &event.ToolRequested{Server: "s", Tool: fmt.Sprintf("t%03d", n)}, &event.ToolReplied{Content: event.T(strings.Repeat("語", 20000))})
	}
	uuid := d.add(taskKey, append(bodies, completed)...)
	tools := d.beside(everything, d.state(private))
	seen, before := 0, ""
	for range 150 {
		r := call(t, tools, "read", `{"context":"`+uuid+`","kind":"tools","limit":1000`+before+`}`)
		if len(r.Text) > mostText+500 || r.IsError {
			t.Fatalf("%d bytes", len(r.Text))
		}
		for strings.Contains(r.Text, fmt.Sprintf("s/t%03d ", 149-seen)) {
			seen++
		}
		if older := fmt.Sprintf("(%d older entries", 150-seen); seen < 150 && !strings.Contains(r.Text, older) {
			t.Fatalf("%d were seen: %.200s", seen, r.Text)
		}
		_, rest, more := strings.Cut(r.Text, "before=")
		if !more {
			break
		}
		number, _, _ := strings.Cut(rest, ")")
		before = `,"before":` + number
	}
	if seen != 150 {
		t.Errorf("%d of 150 calls could be read", seen)
	}
}

// TestOnlyThisTask: nothing of another task, of this go, of one that failed, is
// too old, is damaged, or holds words of people who are not heard, is read.
func TestOnlyThisTask(t *testing.T) {
	d := newDisk(t)
	old := d.add(taskKey, private, summary("secret-old"), completed)
	ended := []event.Body{private, summary("secret"), completed}
	refused := map[string]string{
		"old":     old,
		"other":   d.add("github.com/acme/widgets/issues/12", ended...),
		"failed":  d.add(taskKey, private, summary("secret"), &event.ContextFailed{Reason: "x"}),
		"damaged": d.add(taskKey, ended...),
		"anybody": d.add(taskKey, rule("any"), public, summary("secret"), completed),
		"good":    d.add(taskKey, ended...),
	}
	d.change(refused["damaged"], func(log []byte) []byte { log[len(log)/2] ^= 4; return log })
	s := d.state(rule("auto"), public)
	s.Config.Inherit.ExpiryDays = 48
	tools := d.beside(everything, s)
	for name, uuid := range refused {
		r := call(t, tools, "read", `{"context":"`+uuid+`","kind":"summary"}`)
		if good := name == "good"; r.IsError == good || strings.Contains(r.Text, "secret") != good {
			t.Errorf("%s: %+v", name, r)
		}
	}
	for _, args := range []string{`{"context":"0b1c2d3e","kind":"summary"}`, `{"context":"","kind":"summary"}`, `{"context":5}`, `[]`, `{"context":"../..","kind":"summary"}`} {
		if r := call(t, tools, "read", args); !r.IsError || strings.Contains(r.Text, "secret") {
			t.Errorf("%s: %+v", args, r)
		}
	}
	if list := call(t, tools, "list", `{}`).Text; strings.Count(list, "\n") != 2 || !strings.Contains(list, refused["damaged"]+": its log cannot be read") ||
		strings.Contains(list, refused["other"]) || !strings.Contains(list, "not heard here now") {
		t.Error(list)
	}
}
