package policy_test

import (
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers/policy"
	"agent/projections"
)

var triggers = []string{"agent"}

// A label that a stranger's template brought along must not start work in a public project.
func TestBegin(t *testing.T) {
	item := policy.Item{State: "open", Labels: []string{"bug", "agent"}}
	setter := func(may forge.Permission, bot, hidden bool) *policy.Setter {
		return &policy.Setter{Login: "x", May: may, Bot: bot, Hidden: hidden}
	}
	for name, tt := range map[string]struct {
		change func(*policy.Candidate)
		why    string
		need   policy.Need
	}{
		"unknown labeller":    {func(*policy.Candidate) {}, "", policy.Labeller},
		"writer":              {func(c *policy.Candidate) { c.Labeller = setter(forge.Write, false, false) }, "", policy.Nothing},
		"reader":              {func(c *policy.Candidate) { c.Labeller = setter(forge.Read, false, false) }, policy.NoWriteAccess, policy.Nothing},
		"bot that may write":  {func(c *policy.Candidate) { c.Labeller = setter(forge.Write, true, false) }, policy.NoWriteAccess, policy.Nothing},
		"forge does not say":  {func(c *policy.Candidate) { c.Labeller = setter(0, false, true) }, "", policy.Nothing},
		"private":             {func(c *policy.Candidate) { c.Private = true }, "", policy.Nothing},
		"anybody is accepted": {func(c *policy.Candidate) { c.Accept = "any" }, "", policy.Nothing},
		"named by a person":   {func(c *policy.Candidate) { c.Command, c.Labels = true, nil }, "", policy.Nothing},
		"label removed":       {func(c *policy.Candidate) { c.Labels = []string{"bug"} }, policy.LabelGone, policy.Nothing},
		"closed":              {func(c *policy.Candidate) { c.State, c.Command = "closed", true }, policy.NotOpen, policy.Nothing},
	} {
		c := policy.Candidate{Item: item, Triggers: triggers, Accept: "auto"}
		tt.change(&c)
		refusal, need := policy.Begin(c)
		why := ""
		if refusal != nil {
			why = refusal.Why
		}
		if why != tt.why || need != tt.need {
			t.Errorf("%s: %q and need %d, want %q and %d", name, why, need, tt.why, tt.need)
		}
	}
}

var now = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func paused(reason event.PauseReason, until event.Until) *projections.State {
	s := projections.NewState()
	s.Status, s.Paused, s.PausedAt = projections.Paused, &event.ContextPaused{Reason: reason, Until: until}, now.AddDate(0, 0, -29)
	return s
}

func awaiting() *projections.State {
	s := projections.NewState()
	s.Config = labelNames()
	s.Status, s.Wait, s.Task = projections.Awaiting, &event.ContextAwaiting{Until: event.Until{Kind: "time", Time: now.Add(time.Hour)}}, &event.TaskFetched{Author: "alice"}
	return s
}

func labelNames() *event.ConfigPinned {
	return &event.ConfigPinned{Labels: event.Labels{Paused: "on hold", Awaiting: "your turn"}}
}

// labelled is a context whose labels were set and read back.
func labelled(s *projections.State) *projections.State {
	s.Config, s.Labels = labelNames(), []string{"on hold", "your turn"}
	return s
}

func TestWake(t *testing.T) {
	person := event.Until{Kind: "person"}
	open := &policy.Item{State: "open", Labels: triggers}
	bare, kept := &policy.Item{State: "open"}, &policy.Item{State: "open", Labels: []string{"on hold", "your turn"}}
	answers := func(a ...policy.Answer) *[]policy.Answer { return &a }
	alice := forge.Account{Login: "alice"}
	for name, tt := range map[string]struct {
		s    *projections.State
		f    policy.Facts
		want string // type and By of the event
		need policy.Need
	}{
		"nothing happened":      {paused("limit", person), policy.Facts{}, "", policy.Nothing},
		"resume signal":         {paused("limit", person), policy.Facts{Resume: &event.ResumeRequested{By: "signal"}}, "resume signal", policy.Nothing},
		"command":               {paused("limit", person), policy.Facts{Trigger: policy.ByCommand}, "resume command", policy.Nothing},
		"listed with its label": {paused("limit", person), policy.Facts{Trigger: policy.ByLabel}, "", policy.Task},
		"label set again":       {paused("requested", person), policy.Facts{Trigger: policy.ByLabel, Task: open}, "", policy.Labeller},
		"label gone meanwhile":  {paused("limit", person), policy.Facts{Trigger: policy.ByLabel, Task: bare}, "", policy.Nothing},
		"label never removed":   {paused("labels", person), policy.Facts{Trigger: policy.ByLabel, Task: open}, "", policy.Nothing},
		"not expired":           {paused("limit", person), policy.Facts{ExpiryDays: 30}, "", policy.Nothing},
		"expired":               {paused("limit", person), policy.Facts{ExpiryDays: 28}, "stop expired", policy.Nothing},
		"too early":             {paused("model_x", event.Until{Kind: "time", Time: now.Add(1)}), policy.Facts{}, "", policy.Nothing},
		"time has come":         {paused("model_x", event.Until{Kind: "time", Time: now}), policy.Facts{}, "resume timer", policy.Nothing},
		"signal still set":      {paused("requested", event.Until{Kind: "signal"}), policy.Facts{PauseSignal: true}, "", policy.Nothing},
		"signal removed":        {paused("requested", event.Until{Kind: "signal"}), policy.Facts{}, "resume signal_file", policy.Nothing},

		// Rounds read one list; who is not on it is asked about before a person's wish is read out of that.
		"was the label removed":    {labelled(paused("limit", person)), policy.Facts{}, "", policy.Listed},
		"its list shows it":        {labelled(paused("limit", person)), policy.Facts{Listed: new(true)}, "", policy.Nothing},
		"not on the list":          {labelled(paused("limit", person)), policy.Facts{Listed: new(false)}, "", policy.Task},
		"label there after all":    {labelled(paused("limit", person)), policy.Facts{Listed: new(false), Task: kept}, "", policy.Nothing},
		"paused label removed":     {labelled(paused("limit", person)), policy.Facts{Listed: new(false), Task: bare}, "stop label_removed", policy.Nothing},
		"removed, time has come":   {labelled(paused("model_x", event.Until{Kind: "time", Time: now})), policy.Facts{Listed: new(false), Task: bare}, "stop label_removed", policy.Nothing},
		"still there, time is up":  {labelled(paused("model_x", event.Until{Kind: "time", Time: now})), policy.Facts{Listed: new(true)}, "resume timer", policy.Nothing},
		"replaced by a trigger":    {labelled(paused("limit", person)), policy.Facts{Listed: new(false), Task: open}, "", policy.Nothing},
		"removed from a closed":    {labelled(paused("limit", person)), policy.Facts{Listed: new(false), Task: &policy.Item{State: "closed"}}, "", policy.Nothing},
		"removed, command":         {labelled(paused("limit", person)), policy.Facts{Trigger: policy.ByCommand}, "resume command", policy.Nothing},
		"awaiting label removed":   {labelled(awaiting()), policy.Facts{Task: bare, Comments: answers()}, "stop label_removed", policy.Nothing},
		"awaiting label there":     {labelled(awaiting()), policy.Facts{Task: kept, Comments: answers()}, "", policy.Nothing},
		"answered without a label": {labelled(awaiting()), policy.Facts{Task: bare, Comments: answers(policy.Answer{Author: alice, New: true})}, "resume comment", policy.Nothing},
		"awaiting label replaced":  {labelled(awaiting()), policy.Facts{Task: open, Comments: answers()}, "", policy.Nothing},

		"waiting":            {awaiting(), policy.Facts{}, "", policy.Task},
		"waiting, open":      {awaiting(), policy.Facts{Task: bare}, "", policy.Comments},
		"waiting, closed":    {awaiting(), policy.Facts{Task: &policy.Item{State: "closed"}}, "stop closed", policy.Nothing},
		"waiting, gone":      {awaiting(), policy.Facts{Gone: true}, "stop gone", policy.Nothing},
		"answered":           {awaiting(), policy.Facts{Task: bare, Comments: answers(policy.Answer{Author: alice, New: true})}, "resume comment", policy.Nothing},
		"another's answer":   {awaiting(), policy.Facts{Task: bare, Comments: answers(policy.Answer{Author: forge.Account{Login: "bob"}, New: true})}, "", policy.Nothing},
		"our own comment":    {awaiting(), policy.Facts{Task: bare, Comments: answers(policy.Answer{Author: alice, New: true, Ours: true})}, "", policy.Nothing},
		"an older comment":   {awaiting(), policy.Facts{Task: bare, Comments: answers(policy.Answer{Author: alice})}, "", policy.Nothing},
		"nobody in time":     {awaiting(), policy.Facts{Now: now.Add(time.Hour), Task: bare, Comments: answers()}, "timer", policy.Nothing},
		"labelled, answered": {awaiting(), policy.Facts{Trigger: policy.ByLabel, Task: open, Labeller: &policy.Setter{Login: "bob", May: forge.Write}}, "resume label", policy.Nothing},
	} {
		if tt.f.Now.IsZero() {
			tt.f.Now = now
		}
		tt.f.Triggers = triggers
		wake, _, need := wake(t, tt.s, tt.f)
		got := ""
		switch b := wake.(type) {
		case *event.ResumeRequested:
			got = "resume " + b.By
		case *event.StopRequested:
			got = "stop " + b.By
		case *event.TimerFired:
			got = "timer"
		}
		if got != tt.want || need != tt.need {
			t.Errorf("%s: %q and need %d, want %q and %d", name, got, need, tt.want, tt.need)
		}
	}
	running := paused("limit", person)
	running.Status = projections.Running
	if wake, _, _ := wake(t, running, policy.Facts{Now: now, Trigger: policy.ByCommand}); wake != nil {
		t.Errorf("a running one is woken: %v", wake)
	}
}

func TestClassify(t *testing.T) {
	yes, no := true, false
	us, notUs, nobodyKnows := &policy.Account{Ours: true}, &policy.Account{}, &policy.Account{Unknown: true}
	alice, bob, bot := forge.Account{Login: "alice"}, forge.Account{Login: "bob"}, forge.Account{Login: "ci", Bot: true}
	for name, tt := range map[string]struct {
		accept string
		c      policy.Comment
		want   event.CommentClass
		need   policy.Need
	}{
		"system":                        {"auto", policy.Comment{Author: alice, System: true}, "system", policy.Nothing},
		"posted by us":                  {"auto", policy.Comment{Author: alice, Posted: true}, "own", policy.Nothing},
		"marker, who are we":            {"auto", policy.Comment{Author: bob, Marked: true}, "", policy.Self},
		"marker on our account":         {"auto", policy.Comment{Author: bob, Marked: true, Self: us}, "own", policy.Nothing},
		"copied marker":                 {"auto", policy.Comment{Author: alice, Marked: true, Genuine: true, Self: notUs}, "new", policy.Nothing},
		"genuine marker, nobody knows":  {"auto", policy.Comment{Author: bob, Marked: true, Genuine: true, Self: nobodyKnows}, "own", policy.Nothing},
		"forged marker, nobody knows":   {"auto", policy.Comment{Author: alice, Marked: true, Self: nobodyKnows}, "new", policy.Nothing},
		"internal note of a public one": {"any", policy.Comment{Author: alice, Internal: true}, "internal", policy.Nothing},
		"bot":                           {"any", policy.Comment{Author: bot}, "bot", policy.Nothing},
		"author":                        {"auto", policy.Comment{Author: alice}, "new", policy.Nothing},
		"author, edited":                {"auto", policy.Comment{Author: alice, Known: true}, "edited", policy.Nothing},
		"anybody":                       {"any", policy.Comment{Author: bob}, "new", policy.Nothing},
		"somebody else":                 {"auto", policy.Comment{Author: bob}, "", policy.Permission},
		"who may write":                 {"auto", policy.Comment{Author: bob, MayWrite: &yes}, "new", policy.Nothing},
		"who may not":                   {"auto", policy.Comment{Author: bob, MayWrite: &no}, "untrusted", policy.Nothing},
		"author only":                   {"author", policy.Comment{Author: bob}, "untrusted", policy.Nothing},
		"trusted: the author as well":   {"trusted", policy.Comment{Author: alice}, "", policy.Permission},
	} {
		s := projections.NewState()
		s.Task, s.Config = &event.TaskFetched{Author: "alice"}, &event.ConfigPinned{Comments: event.CommentRule{Accept: tt.accept, ExcludeBots: true}}
		if got, need := policy.Classify(s, tt.c); got != tt.want || need != tt.need {
			t.Errorf("%s: %q and need %d, want %q and %d", name, got, need, tt.want, tt.need)
		}
	}
}

func TestTakenAway(t *testing.T) {
	yes, no := true, false
	s := projections.NewState()
	s.Config, s.Task, s.Labels = &event.ConfigPinned{Labels: event.Labels{Processing: "busy"}}, &event.TaskFetched{Assigned: true}, []string{"busy"}
	for name, tt := range map[string]struct {
		i        policy.Item
		assigned *bool
		want     string
		need     policy.Need
	}{
		"closed":        {policy.Item{State: "closed"}, nil, "closed", policy.Nothing},
		"label removed": {policy.Item{State: "open"}, nil, "label_removed", policy.Nothing},
		"who knows":     {policy.Item{State: "open", Labels: []string{"busy"}}, nil, "", policy.Self},
		"still ours":    {policy.Item{State: "open", Labels: []string{"busy"}}, &yes, "", policy.Nothing},
		"unassigned":    {policy.Item{State: "open", Labels: []string{"busy"}}, &no, "unassigned", policy.Nothing},
	} {
		if got, need := policy.TakenAway(s, tt.i, tt.assigned); got != tt.want || need != tt.need {
			t.Errorf("%s: %q and need %d", name, got, need)
		}
	}
}

func TestNewest(t *testing.T) {
	all := []event.Comment{{ID: "1", Verdict: event.NewComment, Body: event.T("a")}, {ID: "2", Verdict: event.BotComment}, {ID: "3", Verdict: event.EditedComment, Body: event.T("b")}}
	policy.Newest(all, 1)
	if all[0].Verdict != "older" || all[0].Body.View() != "" || all[1].Verdict != "bot" || all[2].Verdict != "edited" || all[2].Body.View() != "b" {
		t.Errorf("%+v", all)
	}
}
