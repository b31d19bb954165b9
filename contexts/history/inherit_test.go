package history

import (
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"agent/eventlog/event"
	"agent/llm"
	"agent/projections"
)

var public, private = &event.TaskFetched{Author: "alice"}, &event.TaskFetched{Author: "alice", Private: true}

// TestNothingInherited: whatever is wrong with what an earlier attempt left, the task
// goes on as a new one, and it is said why (seeds/002 §2.3, §7).
func TestNothingInherited(t *testing.T) {
	good := []event.Body{private, summary("An old one."), completed}
	for name, c := range map[string]struct {
		last []event.Body // events of the latest go
		harm func(d *disk, uuid string)
		want string
	}{
		"bit flipped": {good, func(d *disk, uuid string) {
			d.change(uuid, func(log []byte) []byte { log[len(log)/2] ^= 4; return log })
		}, "its log cannot be read"},
		"first line destroyed": {good, func(d *disk, uuid string) {
			d.change(uuid, func(log []byte) []byte { log[10] ^= 4; return log })
		}, "its log cannot be read"},
		"empty":           {good, func(d *disk, uuid string) { d.change(uuid, func([]byte) []byte { return nil }) }, "its log cannot be read"},
		"log missing":     {good, func(d *disk, uuid string) { must(d.t, os.Remove(d.path(uuid, "events.jsonl"))) }, "its log cannot be read"},
		"no summary":      {[]event.Body{private, completed}, nil, "it left no summary"},
		"forgotten":       {[]event.Body{private, forgettable("x"), completed}, func(d *disk, uuid string) { must(d.t, os.RemoveAll(d.path(uuid, "blobs"))) }, "its summary was forgotten"},
		"words of anyone": {[]event.Body{rule("any"), public, summary("x"), completed}, nil, "it holds words of people who are not heard here now"},
		"never ended":     {[]event.Body{private, summary("x"), &event.ContextPaused{Reason: "requested", Until: event.Until{Kind: "person"}}}, nil, ""},
		"failed":          {[]event.Body{private, summary("x"), &event.ContextFailed{Reason: "model"}}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDisk(t)
			old := d.add(taskKey, good...)
			d.add("github.com/acme/widgets/issues/2", private, summary("Of another task."), completed)
			last := d.add(taskKey, c.last...)
			if c.harm != nil {
				c.harm(d, last)
			}
			in := Reader{d.Store, everything}.Inherit(d.state(rule("auto"), public))
			if c.want == "" { // it does not count, and the one before it does
				if in.From != old || in.Summary.View() != "An old one." || in.Reason != "" {
					t.Errorf("%+v", in)
				}
				return
			}
			if in.From != "" || !in.Summary.IsZero() || in.Reason != last+": "+c.want {
				t.Errorf("%+v, want %s", in, c.want)
			}
		})
	}
}

// TestNothingThere: no context, the directory missing, and one that is too old.
func TestNothingThere(t *testing.T) {
	d := newDisk(t)
	s := d.state(private)
	if in := (Reader{d.Store, everything}).Inherit(s); in.Reason != "there was no earlier attempt at this task" || in.Skipped {
		t.Errorf("%+v", in)
	}
	uuid := d.add(taskKey, private, summary("x"), completed)
	s.Config.Inherit.ExpiryDays = 48
	if in := (Reader{d.Store, everything}).Inherit(s); in.Reason != uuid+": it is too old" || !in.Skipped {
		t.Errorf("%+v", in)
	}
	must(t, os.RemoveAll(d.path(uuid)))
	if in := (Reader{d.Store, everything}).Inherit(s); in.Reason != uuid+": its log cannot be read" || !in.Skipped { // the index knows it
		t.Errorf("%+v", in)
	}
	must(t, os.Chmod(d.dir+"/completed", 0o700))
	must(t, os.RemoveAll(d.dir+"/completed"))
	must(t, os.WriteFile(d.dir+"/completed", nil, 0o600))
	if in := (Reader{d.Store, everything}).Inherit(s); !strings.HasPrefix(in.Reason, "earlier attempts at this task cannot be read") || !in.Skipped {
		t.Errorf("%+v", in)
	}
}

func rule(accept string) event.Body {
	return &event.ConfigPinned{Comments: event.CommentRule{Accept: accept}, Inherit: event.Inherit{Enabled: true, ExpiryDays: 90, MaxTokens: 8000}}
}

func forgettable(text string) event.Body {
	return &event.SummaryAdded{Purpose: event.FinalSummary, Text: event.T(text), Sources: []string{"0b1c2d3e-0000-4000-8000-00000000000a"}}
}

// TestPassedOn: the third go has the lowest trust and all the sources of the two before it.
func TestPassedOn(t *testing.T) {
	d := newDisk(t)
	first := d.add(taskKey, rule("any"), public, summary("One."), completed)
	two := Reader{d.Store, everything}.Inherit(d.state(private))
	if two.Trust != projections.TrustAnybody || !slices.Equal(two.Sources, []string{first}) {
		t.Fatalf("%+v", two)
	}
	second := d.add(taskKey, rule("auto"), private, &two, summary("Two."), completed)
	three := Reader{d.Store, everything}.Inherit(d.state(private))
	if three.From != second || three.Trust != projections.TrustAnybody || !slices.Equal(three.Sources, []string{second, first}) {
		t.Errorf("%+v", three)
	}
	if in := (Reader{d.Store, everything}).Inherit(d.state(rule("auto"), public)); in.From != "" {
		t.Errorf("in a public project that hears not anybody: %+v", in)
	}
}

// TestLimit (B16, S2: what plans hold is there, and is cut by parts, not by lines of
// a file): details of the plan go first, then the plan, then the end of the
// summary by lines and by characters, never within one.
func TestLimit(t *testing.T) {
	d := newDisk(t)
	d.add(taskKey, private, &event.PlanMade{Plan: event.Plan{Goal: event.Goal{Objective: "Greet all"},
		Decomposition: event.Decomposition{Subtasks: []event.Subtask{{ID: "a", Description: "Write hello"}}},
		Actions:       event.ActionPlan{Actions: []event.Action{{ID: "w", Purpose: "write it", Tool: "ws/write"}, {ID: "p", Purpose: "push it"}, {ID: "z", Purpose: "say so"}}}}},
		&event.ActionStarted{Action: "w"}, &event.ActionFinished{Action: "w", Status: "success"},
		&event.ActionStarted{Action: "p"}, &event.ActionFinished{Action: "p", Status: "failed", Detail: "no network"},
		&event.PlanRevised{Trigger: "reflection", Revision: event.Revision{Reason: "no network", Actions: event.ActionPlan{Actions: []event.Action{{ID: "z", Purpose: "say so"}}}}},
		&event.VerificationMade{Round: 1, Result: event.Verification{Issues: []string{"a typo"}}},
		&event.VerificationMade{Round: 2, Result: event.Verification{Passed: true}}, summary("最初の行です。\n二番目の行です。\n"+strings.Repeat("長", 300)), completed)
	parts := []string{"Subtask a: Write hello", "Execution History\n- Successful action w: write it (ws/write)\n- Failed action p: push it: no network", "Found and resolved: a typo",
		"Recommendations for Current Processing\n- Not done yet, to be continued if it still fits the request: z: say so\n- Find another way for what failed.\n- The plan was revised because: no network",
		"Previous Plan Summary\n- Goal: Greet all", "Completion Status: 1 of 3 actions succeeded, 1 failed", "Verification History\n- Round 1: not passed", "- Round 2: passed",
		strings.Repeat("長", 300), "二番目", "最初"}
	whole := everyPart(t, d, 8000, parts)
	last := len(whole)
	for most := llm.Estimate(whole) - 1; most > 0; most-- {
		s := d.state(private)
		s.Config.Inherit.MaxTokens = most
		text := (Reader{d.Store, everything}).Inherit(s).Summary.View()
		if llm.Estimate(text) > most || !utf8.ValidString(text) || len(text) > last {
			t.Fatalf("%d tokens: %q", most, text)
		}
		last = len(text)
		missing := false
		for _, part := range slices.Backward(parts) { // the later in the list, the longer it stays
			if !strings.Contains(text, part) {
				missing = true
			} else if missing {
				t.Fatalf("%d tokens: %q is there in %q", most, part, text)
			}
		}
	}
	d.add(taskKey, private, &event.PlanMade{Plan: event.Plan{Actions: event.ActionPlan{Actions: []event.Action{{ID: "w"}}}}},
		&event.ActionStarted{Action: "w"}, &event.ActionFinished{Action: "w", Status: "success"}, summary("x"), completed)
	if text := (Reader{d.Store, Rules{Plans: true}}).Inherit(d.state(private)).Summary.View(); strings.Contains(text, "action w") || !strings.Contains(text, "1 of 1 actions succeeded") {
		t.Errorf("patterns are off: %s", text)
	}
}

func everyPart(t *testing.T, d *disk, most int, parts []string) string {
	t.Helper()
	s := d.state(private)
	s.Config.Inherit.MaxTokens = most
	text := (Reader{d.Store, everything}).Inherit(s).Summary.View()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q lacks %q", text, part)
		}
	}
	return text
}

func TestPeople(t *testing.T) {
	var p people
	p.add("alice", "bo", "Carol-Q", "")
	for in, want := range map[string]string{
		"asked by alice, then @alice and Alice.": "asked by user, then @user and user.",
		"alice's file alice.go in src/alice/x":   "user's file alice.go in src/alice/x",
		"carol-q said; carol-quaint did not":     "user said; carol-quaint did not",
		"bo is a word, @bo a login":              "bo is a word, @user a login",
		"aliceさんと dave@example.com":              "userさんと user",
		"x/text@v0.3.0 @Override malice":         "x/text@v0.3.0 @Override malice",
	} {
		if got := p.leaveOutKnown(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := p.leaveOut("as @dave-2 said, see @types"); got != "as @user said, see @user" {
		t.Error(got)
	}
}
