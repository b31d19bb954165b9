package policy_test

import (
	"slices"
	"testing"

	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers/policy"
	"agent/projections"
)

// held is a context whose change, or limit, waits for an approval. The newest event
// about labels was number 100 when it paused, and its own comment number 50.
func held(reason event.PauseReason) *projections.State {
	s := paused(reason, event.Until{Kind: "person"})
	s.Publishing.Measured = &event.ChangeMeasured{Tree: "tree1"}
	s.Before = projections.Before{Label: 100, Comment: "50"}
	return s
}

// Who sets a label, when by the ids of events, and in which project: what each
// leads to. A triager may set labels, and may not write.
func TestLabelWakes(t *testing.T) {
	writer := policy.Setter{Login: "bob", May: forge.Write, Event: 101}
	with := func(change func(*policy.Setter)) policy.Setter { by := writer; change(&by); return by }
	triager := with(func(s *policy.Setter) { s.Login, s.May = "tim", forge.Read })
	bot := with(func(s *policy.Setter) { s.Bot = true })
	hidden := policy.Setter{Hidden: true}
	old := with(func(s *policy.Setter) { s.Event = 99 })
	same := with(func(s *policy.Setter) { s.Event = 100 })
	undated := with(func(s *policy.Setter) { s.Event = 0 })
	const yes = "" // it wakes
	for _, tt := range []struct {
		name                           string
		by                             policy.Setter
		approval, private, public, any string // why it does not end: a held change or limit anywhere, another pause in a project of each kind
	}{
		{"writer", writer, yes, yes, yes, yes},
		{"triager", triager, policy.NoApproval, yes, policy.NoWriteAccess, yes},
		{"bot that may write", bot, policy.NoApproval, yes, policy.NoWriteAccess, yes},
		{"the forge does not say who", hidden, policy.LabelUnknown, yes, yes, yes},
		{"before the pause", old, policy.LabelTooOld, policy.LabelTooOld, policy.LabelTooOld, policy.LabelTooOld},
		{"the newest before the pause", same, policy.LabelTooOld, policy.LabelTooOld, policy.LabelTooOld, policy.LabelTooOld},
		{"the forge does not say when", undated, policy.LabelUnknown, yes, yes, yes},
	} {
		for _, c := range []struct {
			reason  event.PauseReason
			accept  string
			private bool
			want    string
		}{
			{event.PauseChange, "auto", false, tt.approval}, {event.PauseChange, "any", true, tt.approval},
			{event.PauseLimit, "auto", true, tt.approval}, {event.PauseLimit, "any", false, tt.approval},
			{"requested", "auto", true, tt.private}, {"requested", "auto", false, tt.public}, {"requested", "any", false, tt.any},
			{"model_auth", "trusted", false, tt.public}, {"repeated_call", "author", false, tt.public},
		} {
			s := held(c.reason)
			s.Before.Comment = ""
			wake, refusal, need := wake(t, s, policy.Facts{Now: now, Trigger: policy.ByLabel, Triggers: triggers, Accept: c.accept,
				Task: &policy.Item{State: "open", Labels: triggers, Private: c.private}, Labeller: &tt.by})
			got := ""
			if refusal != nil {
				got = refusal.Why
			}
			if got != c.want || (wake != nil) != (c.want == yes) || need != policy.Nothing {
				t.Errorf("%s, paused for %s, accept %s, private %v: %q, wake %v; want %q", tt.name, c.reason, c.accept, c.private, got, wake, c.want)
			}
			r, _ := wake.(*event.ResumeRequested)
			if r != nil && (r.Actor != tt.by.Login || (r.Tree == "tree1") != (c.reason == event.PauseChange)) {
				t.Errorf("%s, paused for %s: the log says %+v", tt.name, c.reason, r)
			}
		}
	}
	unknown := held(event.PauseChange) // a log of an earlier release, or a forge that did not answer
	unknown.Before = projections.Before{}
	if wake, refusal, _ := wake(t, unknown, policy.Facts{Now: now, Trigger: policy.ByLabel, Triggers: triggers,
		Task: &policy.Item{State: "open", Labels: triggers}, Labeller: &writer}); wake != nil || refusal.Why != policy.LabelUnknown {
		t.Errorf("a label that may be older than the pause: %v, %v", wake, refusal)
	}
}

// A command is the operator's, and its approval is bound like any other.
func TestCommandApproves(t *testing.T) {
	for name, f := range map[string]policy.Facts{
		"run":    {Trigger: policy.ByCommand, Operator: "root"},
		"resume": {Resume: &event.ResumeRequested{By: "command", Person: true, Actor: "root"}},
	} {
		wake, _, _ := wake(t, held(event.PauseChange), f)
		if r, ok := wake.(*event.ResumeRequested); !ok || r.Tree != "tree1" || r.Actor != "root" {
			t.Errorf("%s: %+v", name, wake)
		}
	}
}

// Which comments approve what waits for it.
func TestCommentApproves(t *testing.T) {
	yes, no := true, false
	bob := forge.Account{Login: "bob"}
	good := policy.Answer{ID: "51", Author: bob, New: true, Ordered: true, Commands: []policy.Command{{Name: policy.CommandApprove}}, MayWrite: &yes}
	with := func(change func(*policy.Answer)) policy.Answer {
		a := good
		a.Commands = slices.Clone(a.Commands)
		change(&a)
		return a
	}
	for name, tt := range map[string]struct {
		s    *projections.State
		a    policy.Answer
		want bool
		need policy.Need
	}{
		"change":                  {held(event.PauseChange), good, true, policy.Nothing},
		"limit":                   {held(event.PauseLimit), good, true, policy.Nothing},
		"more digits":             {held(event.PauseChange), with(func(a *policy.Answer) { a.ID = "100" }), true, policy.Nothing},
		"another pause":           {held("requested"), good, false, policy.Nothing},
		"who may not write":       {held(event.PauseChange), with(func(a *policy.Answer) { a.MayWrite = &no }), false, policy.Nothing},
		"nobody asked":            {held(event.PauseChange), with(func(a *policy.Answer) { a.MayWrite = nil }), false, policy.Permission},
		"bot":                     {held(event.PauseChange), with(func(a *policy.Answer) { a.Author.Bot = true }), false, policy.Nothing},
		"our own":                 {held(event.PauseChange), with(func(a *policy.Answer) { a.Ours = true }), false, policy.Nothing},
		"before ours":             {held(event.PauseChange), with(func(a *policy.Answer) { a.ID = "49" }), false, policy.Nothing},
		"before ours, few digits": {held(event.PauseChange), with(func(a *policy.Answer) { a.ID = "9" }), false, policy.Nothing},
		"read already":            {held(event.PauseChange), with(func(a *policy.Answer) { a.New = false }), false, policy.Nothing},
		"another hash":            {held(event.PauseChange), with(func(a *policy.Answer) { a.Commands[0].Argument = "0123456789ab" }), false, policy.Nothing},
		"the tree's name":         {held(event.PauseChange), with(func(a *policy.Answer) { a.Commands[0].Argument = "tree1" }), true, policy.Nothing},
		"a hash of no change":     {held(event.PauseLimit), with(func(a *policy.Answer) { a.Commands[0].Argument = "0123456789ab" }), false, policy.Nothing},
		"edited":                  {held(event.PauseChange), with(func(a *policy.Answer) { a.Edited = true }), false, policy.Nothing},
		"the agent's account":     {held(event.PauseChange), with(func(a *policy.Answer) { a.Self = true }), false, policy.Nothing},
		"of a review":             {held(event.PauseChange), with(func(a *policy.Answer) { a.Ordered = false }), false, policy.Nothing},
		"other words":             {held(event.PauseChange), with(func(a *policy.Answer) { a.Commands = nil }), false, policy.Nothing},
	} {
		wake, _, need := wake(t, tt.s, policy.Facts{Now: now, Comments: &[]policy.Answer{tt.a}})
		if (wake != nil) != tt.want || need != tt.need {
			t.Errorf("%s: %v and need %d", name, wake, need)
		}
	}
	if _, _, need := wake(t, held(event.PauseChange), policy.Facts{Now: now}); need != policy.Comments {
		t.Errorf("need %d before the comments were read", need)
	}
	unsaid := held(event.PauseChange)
	unsaid.Before.Comment = ""
	if wake, _, need := wake(t, unsaid, policy.Facts{Now: now, Comments: &[]policy.Answer{good}}); wake != nil || need != policy.Nothing {
		t.Errorf("it is unknown what came after ours: %v, need %d", wake, need)
	}
}
