package handlers

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/handlers/reply"
	"agent/llm"
	"agent/projections"
)

// dice decide what happens in a play: n faces give 0 to n-1.
type dice func(n int) int

// thrown are dice that fall as the bytes say, and after the last of them at random.
func thrown(data []byte) dice {
	r := rand.New(rand.NewPCG(uint64(len(data)), 1))
	return func(n int) int {
		if len(data) == 0 {
			return r.IntN(n)
		}
		b := int(data[0])
		data = data[1:]
		return b % n
	}
}

// play is an attempt by a plan with a model, tools and people that do whatever the dice say.
type play struct {
	*world
	roll    dice
	again   *projections.State // folded from what the log would give back
	replies map[uint64]*event.LLMReplied
	plans   string // what the model said of plans and needs so far
	done    map[string]bool
	people  int // how often people will still meddle
	modelN  int
}

// FuzzPlan plays what the fuzzer's bytes say.
func FuzzPlan(f *testing.F) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 7))
		data := make([]byte, 400)
		for i := range data {
			data[i] = byte(r.IntN(256))
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { playPlan(t, thrown(data)) })
}

// TestRandomPlans plays many goes. No reply, tool or person makes Next panic,
// goes on for ever, begins a finished action again, makes a request that a
// provider refuses, or calls a tool with arguments that nobody gave; and the
// log alone decides the same again.
func TestRandomPlans(t *testing.T) {
	ends := map[string]int{}
	most := 0
	for seed := range uint64(100) {
		p := playPlan(t, rand.New(rand.NewPCG(seed, 3)).IntN)
		ends[string(p.state.Status)]++
		most = max(most, p.modelN)
	}
	t.Logf("%v, at most %d model calls", ends, most)
	if ends["completed"] < 20 || ends["failed"] == 0 || ends["stopped"] == 0 {
		t.Errorf("the goes ended as %v: too easy or too hard a test", ends)
	}
}

// maxPlayed bounds the model calls of a play: 8 actions of 10 turns each, and
// for every replan, revision and round of verification a few more.
const maxPlayed = 300

func playPlan(t *testing.T, roll dice) *play {
	t.Helper()
	w := newWorld(t, []string{"tools", "tools", "json"}[roll(3)])
	defer func() {
		if cause := recover(); cause != nil {
			t.Fatalf("%v\n%s\n%s", cause, debug.Stack(), tailOf(w.out.String()))
		}
	}()
	p := &play{world: w, roll: roll, again: projections.NewState(), replies: map[uint64]*event.LLMReplied{}, done: map[string]bool{}, people: roll(8)}
	w.state.Config.Planning = p.config()
	w.state.Config.Limits.MaxCalls, w.state.Config.ContextLength = 0, 100_000
	w.state.Config.Comments.Interval = roll(2)
	w.state.Config.FollowUp = event.FollowUp{Enabled: roll(4) == 0, MaxRounds: 2, TimeoutHours: 1}
	config := *w.state.Config
	for i, b := range w.all { // the world has begun already
		if _, ok := b.(*event.ConfigPinned); ok {
			b = &config
			w.all[i] = b
		}
		p.follow(event.Event{Seq: uint64(i + 1), Time: w.now.Add(time.Duration(i-len(w.all)+1) * time.Second), Body: b})
	}
	for range 6000 {
		if p.step() {
			return p
		}
		if p.modelN > maxPlayed {
			break
		}
	}
	t.Fatalf("no end after %d model calls:\n%s", p.modelN, tailOf(w.out.String()))
	return nil
}

func tailOf(s string) string { return s[max(0, len(s)-6000):] }

// config is one of many: every limit low, and every switch in both positions.
func (p *play) config() event.Planning {
	c, roll := planConfig(), p.roll
	c.MaxActions, c.ReflectEvery, c.VerifyRounds, c.MaxRevisions, c.MaxRetries = 1+roll(8), roll(4), roll(3), roll(3), roll(3)
	c.Understand, c.Collect, c.Assume, c.ContinueOnError = roll(3) > 0, roll(3) > 0, roll(2) > 0, roll(2) > 0
	c.Comments, c.Checklist = []string{"off", "phase", "task", "call"}[roll(4)], roll(2) > 0
	r := &c.Replan
	r.Enabled, r.EveryPhase, r.MaxTotal, r.SameTrigger = roll(4) > 0, roll(3) == 0, roll(6), roll(4)
	r.MaxClarifications, r.MaxDecompositions, r.MaxRegenerations = roll(3), roll(3), roll(3)
	r.MaxRetries, r.MaxPartial, r.MaxReflected = roll(3), roll(3), roll(3)
	return c
}

// step takes one more step and tells whether it was the last.
func (p *play) step() (ended bool) {
	if p.people > 0 && p.roll(25) == 0 {
		p.people--
		p.meddle()
	}
	p.sameAgain()
	switch e := Next(p.state).(type) {
	case Idle:
		return p.rest()
	case Wait:
		p.now = e.Until
		p.put(&event.TimerFired{Until: e.Until}, 0)
	case Record:
		p.put(e.Body, 0)
	case Read:
		p.put(p.read(e), 0)
	case Act:
		p.check(e)
		intent := p.put(e.Intent, 0)
		p.put(p.became(e), intent.Seq)
	}
	return false
}

// put adds an event to the go and to what is folded from its log.
func (p *play) put(b event.Body, cause uint64) event.Event {
	p.watch(b)
	e := p.add(b, cause)
	p.follow(e)
	if reply, ok := b.(*event.LLMReplied); ok {
		p.replies[e.Seq] = reply
	}
	return e
}

func (p *play) follow(e event.Event) { p.again.Apply(reread(p.t, []event.Event{e})[0]) }

// sameAgain wants the decision to be the same again, also from the log alone.
func (p *play) sameAgain() {
	p.t.Helper()
	entries := len(p.state.Conversation.Entries)
	first := Next(p.state)
	for _, s := range []*projections.State{p.state, p.again} {
		if second := Next(s); !reflect.DeepEqual(first, second) || len(p.state.Conversation.Entries) != entries {
			p.t.Fatalf("decided %#v, then %#v:\n%s", first, second, tailOf(p.out.String()))
		}
	}
}

// rest wakes what rests, as long as somebody is there to do so.
func (p *play) rest() (ended bool) {
	if s := p.state; s.Status == projections.Paused && s.Paused.Until.Kind == "time" {
		p.now = s.Paused.Until.Time
		p.put(&event.ResumeRequested{By: "timer"}, 0)
		return false
	} else if s.Status.Ended() || p.people == 0 {
		return true
	}
	p.people--
	p.put(&event.ProcessStarted{Version: "1", Decisions: Decisions, Host: "h", PID: 1}, 0)
	switch {
	case p.roll(4) == 0: // with another configuration
		config := *p.state.Config
		config.Planning = p.config()
		p.put(&config, 0)
	case p.state.Status == projections.Awaiting && p.roll(3) == 0:
		p.now = p.state.Wait.Until.Time
		p.put(&event.TimerFired{Until: p.now}, 0)
		return false
	}
	if p.roll(2) == 0 {
		p.comments = append(p.comments, []event.Comment{p.comment()})
	}
	p.put(&event.ResumeRequested{By: []string{"comment", "command", "label"}[p.roll(3)], Person: true}, 0)
	return false
}

func (p *play) comment() event.Comment {
	return event.Comment{ID: fmt.Sprint(p.state.Seq), Author: "alice", Verdict: event.NewComment, Body: event.T([]string{"Also add tests.", "Thanks!"}[p.roll(2)])}
}

func (p *play) meddle() {
	switch p.roll(8) {
	case 0:
		p.put(&event.StopRequested{By: "command", Reason: "enough"}, 0)
	case 1, 2:
		p.put(&event.PauseRequested{By: "command"}, 0)
	case 3:
		p.put(&event.TaskChanged{What: "text", Title: "Another bug", Body: event.T(fmt.Sprint("It is broken elsewhere ", p.state.Seq))}, 0)
	default:
		p.comments = append(p.comments, []event.Comment{p.comment()})
	}
}

// check looks at an effect before it is performed.
func (p *play) check(e Act) {
	p.t.Helper()
	switch in := e.Intent.(type) {
	case *event.LLMRequested:
		p.modelN++
		if err := wellFormed(e.Request, p.state.Protocol()); err != nil {
			p.t.Fatalf("%v\n%s", err, tailOf(p.out.String()))
		}
	case *event.ToolRequested:
		p.given(in)
	}
}

// wellFormed wants what providers want: every call is followed by its results,
// one each, in order, before anything else is said.
func wellFormed(r *llm.Request, protocol string) error {
	var open []string
	for i, m := range r.Messages {
		switch {
		case i == 0 && m.Role != llm.System, i > 0 && m.Role == llm.System:
			return fmt.Errorf("message %d is of role %s", i, m.Role)
		case m.Role == llm.ToolRole && (len(open) == 0 || open[0] != m.CallID):
			return fmt.Errorf("message %d is the result of %q, open are %q", i, m.CallID, open)
		case m.Role == llm.ToolRole:
			open = open[1:]
		case len(open) > 0:
			return fmt.Errorf("message %d (%s) comes before the results of %q", i, m.Role, open)
		case m.Role == llm.Assistant && protocol == "json" && len(m.Calls) > 0:
			return fmt.Errorf("message %d has native calls", i)
		}
		for _, c := range m.Calls {
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 || r.Messages[len(r.Messages)-1].Role == llm.Assistant {
		return fmt.Errorf("calls without results: %q; the last message is %+v", open, r.Messages[len(r.Messages)-1])
	}
	return nil
}

// given wants the arguments of a call to be those that the model gave.
func (p *play) given(in *event.ToolRequested) {
	p.t.Helper()
	args := in.Args.View()
	if in.Need != "" {
		if args != "{}" && !strings.Contains(p.plans, squeezed(args)) {
			p.t.Fatalf("nobody gave the arguments %s of %s", args, in.Tool)
		}
		return
	}
	r := p.replies[in.Reply]
	if len(r.Calls) > 0 {
		if want := reply.NormalArgs(r.Calls[in.Index].Args.View()); args != want {
			p.t.Fatalf("the arguments are %s, the reply had %s", args, want)
		}
	} else if args != "{}" && !strings.Contains(squeezed(r.Text.View()), squeezed(args)) {
		p.t.Fatalf("the arguments %s are not in the reply %q", args, r.Text.View())
	}
}

// squeezed is a text without white space and quoting, which unpacking changes.
func squeezed(s string) string {
	return strings.NewReplacer(`\`, "", `"`, "").Replace(strings.Join(strings.Fields(s), ""))
}

// watch wants no action to begin again once it is finished; only a new plan begins anew.
func (p *play) watch(b event.Body) {
	p.t.Helper()
	pl := &p.state.Planning
	switch b := b.(type) {
	case *event.PlanMade:
		if len(b.Plan.Actions.Actions) == 0 {
			p.t.Fatal("an empty plan")
		}
		p.done = map[string]bool{}
	case *event.ActionStarted:
		if p.done[b.Action] {
			p.t.Fatalf("%s was done and begins again:\n%s", b.Action, tailOf(p.out.String()))
		}
		if pl.Begun >= p.state.Config.Planning.MaxActions {
			p.t.Fatalf("action %d begins", pl.Begun+1)
		}
	case *event.ActionFinished:
		p.done[b.Action] = p.done[b.Action] || b.Status == "success"
	case *event.PlanRevised:
		if len(b.Revision.Actions.Actions) == 0 && !b.Fallback {
			p.t.Fatal("an empty revision")
		}
	case *event.ContextCompleted:
		if undone := pl.Next() >= 0; undone && !b.Partial {
			p.t.Fatalf("complete, and actions are open: %+v", pl.Actions)
		}
	}
}

// became is the outcome of an effect.
func (p *play) became(e Act) event.Body {
	killed := p.roll(20) == 0
	switch in := e.Intent.(type) {
	case *event.LLMRequested:
		switch n := p.roll(30); {
		case killed:
			return &event.LLMFailed{Kind: event.Interrupted, Message: "the process ended"}
		case n < 3:
			return &event.LLMFailed{Kind: []string{"transient", "rate_limited", "empty"}[n], Message: "no", NotBefore: p.now.Add(time.Duration(p.roll(100)) * time.Second)}
		}
		r := p.says(in)
		p.plans += squeezed(r.Text.View())
		return r
	case *event.ToolRequested:
		if kind, message := Refuse(p.state, in); kind != "" {
			return &event.ToolFailed{Kind: kind, Message: message}
		}
		switch n := p.roll(10); {
		case killed:
			return &event.ToolInterrupted{Reason: "the process ended."}
		case n == 0:
			return &event.ToolFailed{Kind: "timeout", Message: "no answer"}
		case n < 4:
			return &event.ToolReplied{IsError: true, Content: event.T("it is broken")}
		case n == 4:
			return &event.ToolReplied{}
		}
		return &event.ToolReplied{Content: event.T(fmt.Sprint("found ", p.state.Seq))}
	}
	return p.outcome(e.Intent)
}
