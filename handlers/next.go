package handlers

import (
	"time"

	"agent/eventlog/event"
	"agent/handlers/prompt"
	"agent/handlers/reply"
	"agent/handlers/tell"
	"agent/llm"
	"agent/projections"
)

// inherits is true if an earlier go at the same task left a summary for this one (seeds/002).
func inherits(s *projections.State) bool {
	return s.Config.Inherit.Enabled && s.Inherited != nil && s.Inherited.From != ""
}

// Next decides the next step of a context. s must have no open intent: the
// engine closes those first.
func Next(s *projections.State) Effect {
	if justForked(s) {
		return Record{&event.ContextPaused{Reason: event.PauseForked, Until: event.Until{Kind: "person"}}}
	}
	if s.Status.Ended() || s.Config == nil || s.Created == nil {
		return Idle{} // the last two: not the log of a context
	}
	if e := react(s); e != nil {
		return e
	}
	if e := report(s); e != nil {
		return e
	}
	if v := endingOf(s); v != nil {
		if e := redoResume(s, v); e != nil {
			return e
		}
		if v.ByModel() && s.Fork != nil && s.Fork.Unheard && s.Task != nil {
			return Record{prompt.Comments(s)}
		}
		return finish(s, v)
	}
	if s.Status != projections.Running {
		return idle(s)
	}
	if p := pauseOf(s); p != nil {
		return pause(s, p)
	}
	readReply, proceed := answer, callModel
	if s.Planned() {
		readReply, proceed = recordReply, step
	}
	for _, phase := range []func(*projections.State) Effect{start, resume, waitAgain, adapt, correct, readReply, beforeTurn, proceed} {
		if e := phase(s); e != nil {
			return e
		}
	}
	return Idle{}
}

func idle(s *projections.State) Effect {
	if s.Resume != nil {
		return Record{&event.ContextResumed{}}
	}
	return Idle{}
}

// start takes the steps before the first model call.
func start(s *projections.State) Effect {
	switch {
	case s.Task == nil:
		return Read{Want: WantTask}
	case !s.Done(projections.LabelsStart, 0):
		return Act{Intent: startLabels(s)}
	case s.Workspace == nil:
		return Read{Want: WantWorkspace}
	case wantsProject(s):
		return Read{Want: WantProject}
	case s.Tools == nil:
		return Read{Want: WantTools}
	case !s.Done(projections.FetchedAtStart, 0):
		return Read{Want: WantComments, Reason: event.FetchStart}
	case len(s.Setup) < len(setupCommands(s)):
		return Act{Intent: setupIntent(s)}
	case s.Config.Inherit.Enabled && s.Inherited == nil:
		return Read{Want: WantInherited}
	case s.Steps[projections.MessageStep(event.SystemMessage)] <= systemSince(s):
		return Record{prompt.System(s)}
	case inherits(s) && !s.Done(projections.MessageStep(event.InheritedMessage), 0):
		return Record{prompt.Inherited(s)}
	case (inherits(s) || s.Workspace.Continued.From != "") && !s.Done(projections.CommentInherited, 0):
		return Act{Intent: tell.Inherited(s, inherits(s))}
	case !s.Done(projections.MessageStep(event.TaskMessage), 0):
		return Record{prompt.Task(s)}
	}
	return nil
}

// systemSince is the latest event that the system message depends on.
func systemSince(s *projections.State) uint64 {
	return max(s.Steps[projections.StepTools], s.Steps[projections.StepConfig], s.Work.ToolsRefused)
}

// resume takes the steps after a resume. While an outage lasts it is the end of
// nothing, and not announced in any way: that follows with the first reply.
func resume(s *projections.State) Effect {
	probing := s.Probing()
	switch {
	case s.Resumes == 0, s.Simulates() && s.Fork.Fresh: // nobody was told that a fork pauses
		return nil
	case !probing && !s.Done(projections.LabelsResumed, s.Since):
		return Act{Intent: resumeLabels(s)}
	case readsAtResume(s) && !s.Done(projections.FetchedAtResume, s.Since):
		return Read{Want: WantComments, Reason: event.FetchResume}
	case announced(s) && !s.Done(projections.CommentResumed, s.Since):
		return Act{Intent: tell.Resumed(s)}
	case !announced(s) && s.Outage.Over:
		return Act{Intent: tell.OutageOver(s)}
	case !probing && !announced(s) && s.Comments.Error != "" && s.Config.Comments.Notify && !s.Done(projections.CommentFetch, s.Since):
		return Act{Intent: tell.Notice(s, "fetch")}
	}
	return nil
}

// beforeTurn deals with new comments, limits and waits.
func beforeTurn(s *projections.State) Effect {
	if s.Saved.Fresh != nil {
		return Record{prompt.Restored(s)}
	}
	if s.UnreadEdit() {
		return Record{prompt.Edited(s)}
	}
	if len(s.Entered.Due) > 0 {
		return Record{prompt.Rules(s)}
	}
	if n := s.Config.Comments.Interval; s.Comments.Partial || n > 0 && s.Work.SinceCheck >= n {
		return Read{Want: WantComments, Reason: event.FetchPeriodic}
	}
	if untoldFetch(s) {
		return Act{Intent: tell.Notice(s, "fetch")}
	}
	if len(s.Comments.Pending) > 0 {
		return Record{prompt.Comments(s)}
	}
	if limit := exceeded(s); limit != nil {
		return Record{limit}
	}
	if !s.Work.NotBefore.After(s.Now) {
		return nil
	}
	if e := progress(s); e != nil {
		return e
	}
	return Wait{Until: s.Work.NotBefore}
}

// untoldFetch is true if comments could not be read while the work went on, and people
// were not told since it began or went on.
func untoldFetch(s *projections.State) bool {
	return s.Comments.Error != "" && s.Config.Comments.Notify && s.Done(projections.FetchedPeriodic, s.Since) && !s.Done(projections.CommentFetch, s.Since)
}

// answer performs the calls of the reply one by one, or asks for a better reply.
func answer(s *projections.State) Effect {
	if s.Work.Reply == nil {
		return nil
	}
	p := reply.Parse(s)
	switch {
	case s.Work.Answered < len(p.Calls):
		return perform(s, p.Calls[s.Work.Answered])
	case p.Problem != "":
		return Record{prompt.Correction(p.Problem)}
	}
	return nil
}

// perform makes a call of the reply. Before the first it says what is going to be done.
func perform(s *projections.State, c reply.Call) Effect {
	if s.Work.Answered == 0 {
		if e := progress(s); e != nil {
			return e
		}
	}
	return Act{Intent: callIntent(s, c)}
}

func callModel(s *projections.State) Effect { return turn(s, "work", prompt.Request(s)) }

// turn says how far the work is and asks for the next turn of the conversation,
// once there is room for it.
func turn(s *projections.State, purpose string, r llm.Request) Effect {
	if e := progress(s); e != nil {
		return e
	}
	tokens := prompt.Estimate(s, r)
	if e := compact(s, tokens); e != nil {
		return e
	}
	return request(s, purpose, r, tokens)
}

func request(s *projections.State, purpose string, r llm.Request, tokens int) Effect {
	return Act{Request: &r, Intent: &event.LLMRequested{
		Purpose: purpose, Protocol: s.Protocol(), Model: r.Model, SHA256: r.Hash(),
		Messages: len(r.Messages), Estimated: tokens, Attempt: s.Work.Attempts + 1,
	}}
}

// exceeded names the first limit of the context that is used up.
func exceeded(s *projections.State) *event.LimitReached {
	l, u := s.Config.Limits, s.Usage
	for _, c := range []struct {
		name      string
		max, used float64
	}{
		{"calls", float64(l.MaxCalls), float64(u.LLMBegun)},
		{"tokens", float64(l.MaxTokens), float64(u.Tokens())},
		{"cost", l.MaxCostUSD, u.CostUSD},
		{"minutes", float64(l.MaxMinutes), float64(u.Active / time.Minute)},
	} {
		if limit := c.max + s.Grants[c.name]; c.max > 0 && c.used >= limit {
			return &event.LimitReached{Limit: c.name, Max: c.max, Used: c.used}
		}
	}
	return nil
}

// announced is true for resumes that people are told of. A timer's and an
// answer's speak for themselves.
func announced(s *projections.State) bool {
	return s.ResumedBy != "timer" && s.ResumedBy != "comment" && s.ResumedBy != "reaction"
}

func wantsProject(s *projections.State) bool {
	rule := s.Config.Project
	return s.Project == nil && s.Workspace.Dir != "" && (rule.Rules || rule.Files)
}
