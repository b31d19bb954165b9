package projections

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"agent/eventlog/event"
	"agent/forge"
	"agent/internal/i18n"
	"agent/llm"
)

// Apply folds one more event into the state.
func (s *State) Apply(e event.Event) {
	s.Usage.apply(e, s.Now, s.Status)
	s.Seq, s.Now = e.Seq, e.Time
	outside, open, phase := s.outsideConversation(e), s.Open, s.Planning.Phase
	s.applyOpen(e)
	if !outside {
		s.Conversation.apply(e)
		s.Window.learn(e.Body, open)
		s.Work.apply(e)
		s.applyEntered(e.Body)
	}
	s.applyShape(e)
	s.applyOutage(e)
	s.Comments.apply(e)
	s.Publishing.apply(e)
	s.Saved.apply(e, s.Paused)
	s.applyPlanning(e, open)
	s.Lineage.Apply(e)
	s.applyProgress(e, open, phase)
	s.applyReactions(e)
	s.applyCommands(e)
	s.applyInput(e)
	s.applyOutcome(e)
	s.applyLifecycle(e)
	s.applyFork(e)
}

// outsideConversation is true for a call that is no turn of the conversation: of a model that
// writes a summary, and of a tool that makes the working copy ready.
func (s *State) outsideConversation(e event.Event) bool {
	body := e.Body
	if event.RoleOf(body) == event.Outcome && s.Open != nil {
		body = s.Open.Body
	}
	switch call := body.(type) {
	case *event.LLMRequested:
		return call.OutsideConversation()
	case *event.ToolRequested:
		if call.Setup {
			s.setup(e)
		}
		return call.Setup
	}
	return false
}

func (s *State) applyOpen(e event.Event) {
	switch event.RoleOf(e.Body) {
	case event.Intent:
		s.Open = &Open{Seq: e.Seq, Time: e.Time, Body: e.Body}
	case event.Outcome:
		if s.Open != nil {
			s.closed(s.Open.Body, e)
		}
		s.OpenRuns = 0
		s.Open = nil
	case event.Input, event.Mark:
	}
}

// closed notes which step an outcome ends.
func (s *State) closed(intent event.Body, outcome event.Event) {
	switch in := intent.(type) {
	case *event.CommentRequested:
		s.Steps[CommentStep(in.Purpose)] = outcome.Seq
		if in.Purpose == StatusComment {
			s.Asked--
		}
		s.Outage.said(in, outcome.Body)
		if posted, ok := outcome.Body.(*event.CommentPosted); ok && in.Purpose == string(Paused) {
			s.Before.Comment = posted.ID
		}
		failed, isFailed := outcome.Body.(*event.CommentFailed)
		if s.lastWrite(in.Purpose, "comment: "); isFailed && Status(in.Purpose).Ended() {
			s.Refused = append(s.Refused, "comment: "+failed.Message)
		}
	case *event.LabelsRequested:
		failed, isFailed := outcome.Body.(*event.LabelsFailed)
		if isFailed && in.Purpose == "start" {
			s.Denied = &Request{Seq: outcome.Seq, Reason: failed.Message}
			return
		}
		s.Steps[LabelsStep(in.Purpose)] = outcome.Seq
		if s.lastWrite(in.Purpose, "labels: "); isFailed && Status(in.Purpose).Ended() {
			s.Refused = append(s.Refused, "labels: "+failed.Message)
		}
		if changed, ok := outcome.Body.(*event.LabelsChanged); ok {
			s.Labels = changed.Labels
			s.Before.Label, _ = strconv.ParseInt(changed.Event, 10, 64)
		}
	case *event.ChangeRequested:
		if in.Paused {
			s.Steps[StepKept] = outcome.Seq
			return
		}
		s.Steps[StepChange] = outcome.Seq
	case *event.LLMRequested:
		s.drafted(in, outcome)
	}
}

// lastWrite forgets the refusal of an earlier last write of its kind: this one decides.
func (s *State) lastWrite(purpose, kind string) {
	if Status(purpose).Ended() {
		s.Refused = slices.DeleteFunc(s.Refused, func(old string) bool { return strings.HasPrefix(old, kind) })
	}
}

// drafted keeps a summary that a model wrote. A failed try is not repeated.
func (s *State) drafted(in *event.LLMRequested, outcome event.Event) {
	if !in.OutsideConversation() {
		return
	}
	if failed, ok := outcome.Body.(*event.LLMFailed); ok && failed.Kind == event.Interrupted {
		return
	}
	s.Steps["drafted:"+Step(in.Purpose)] = outcome.Seq
	s.Drafted = ""
	if reply, ok := outcome.Body.(*event.LLMReplied); ok {
		s.Drafted = reply.Text.View()
	}
}

func (s *State) applyInput(e event.Event) {
	switch b := e.Body.(type) {
	case *event.ContextCreated:
		s.created(e, b)
	case *event.ConfigPinned:
		s.pin(b)
		s.Steps[StepConfig] = e.Seq
	case *event.ProcessStarted:
		s.Process, s.EndedProperly = b, false
	case *event.ProcessRecovered:
		if b.OpenSeq > 0 {
			s.OpenRuns++
		}
	case *event.ProcessEnded:
		s.EndedProperly = true
	case *event.TaskFetched:
		s.Task = b
		s.Item, s.Home = cmp.Or(b.ItemID, s.Item), cmp.Or(b.ProjectID, s.Home)
		s.Lang = s.language()
		if b.Edit.Asks {
			s.Unseen = &Unseen{Seq: e.Seq, By: b.Edit.By}
		}
	case *event.TaskChanged:
		s.edited(e, b)
	case *event.ReadRefused:
		s.Unread = &Request{Seq: e.Seq, By: b.What, Reason: b.Message}
	case *event.ImageMissing:
		s.imageMissing(e, b)
	case *event.TaskMoved:
		s.moved(b)
	case *event.WorkspacePrepared:
		s.Workspace, s.Foreign = b, false
	case *event.WorkspaceRestored:
		s.restored(b)
	case *event.ProjectRead:
		s.Project = b
	case *event.ChangeMeasured:
		s.Steps[StepMeasured] = e.Seq
	case *event.ContextInherited:
		s.Inherited = b
	case *event.ToolsListed:
		s.Tools, s.Steps[StepTools], s.Image = b, e.Seq, nil
		s.ToolWeight, s.Schemas = weighTools(b), fitSchemas(b)
	case *event.TimerFired:
		s.timeOver(e, b)
	case *event.LimitReached:
		s.Limit = &Limit{Seq: e.Seq, LimitReached: *b}
	case *event.PauseRequested:
		s.Pause = &Request{Seq: e.Seq, By: b.By, Actor: b.Actor}
	case *event.StopRequested:
		s.Stop = &Request{Seq: e.Seq, By: b.By, Reason: b.Reason}
	case *event.ResumeRequested:
		s.resume(e, b)
	}
}

func weighTools(b *event.ToolsListed) (sum llm.Weight) {
	for _, server := range b.Servers {
		for _, t := range server.Tools {
			sum = sum.Plus(llm.WeighTool(server.Name+"__"+t.Name, t.Description, string(t.Schema)))
		}
	}
	return sum
}

func fitSchemas(b *event.ToolsListed) [][]json.RawMessage {
	all := make([][]json.RawMessage, len(b.Servers))
	for i, server := range b.Servers {
		for _, t := range server.Tools {
			all[i] = append(all[i], llm.FitSchema(t.Schema))
		}
	}
	return all
}

// edited takes over a title and body that somebody changed.
func (s *State) edited(e event.Event, b *event.TaskChanged) {
	switch {
	case s.Task == nil || b.What != "text":
	case b.Edit.Asks:
		s.Unseen = &Unseen{Seq: e.Seq, By: b.Edit.By, Text: b}
	default:
		s.Unseen = nil
		s.takeText(e.Seq, b)
	}
}

func (s *State) takeText(seq uint64, b *event.TaskChanged) {
	task := *s.Task
	task.Title, task.Body, task.Hash = b.Title, b.Body, b.Hash
	s.Task, s.Edited = &task, seq
}

// approveText takes the text that a person has let pass.
func (s *State) approveText(e event.Event) {
	if s.Unseen == nil || s.Paused == nil || s.Paused.Reason != event.PauseText {
		return
	}
	if s.Unseen.Text != nil {
		s.takeText(e.Seq, s.Unseen.Text)
	}
	s.Unseen = nil
}

// timeOver ends a wait for people. Without an answer to a question the work goes on.
func (s *State) timeOver(e event.Event, b *event.TimerFired) {
	switch {
	case s.Wait == nil || s.Status != Awaiting || b.Until.Before(s.Wait.Until.Time):
	case s.Wait.Reason == Clarification:
		s.Resume, s.ResumedBy = &Request{Seq: e.Seq, By: "timer"}, "timer"
	default:
		s.Expired = true
	}
}

func (s *State) created(e event.Event, b *event.ContextCreated) {
	s.Created, s.Started = b, e.Time
	s.Key, _ = forge.ParseTaskKey(b.TaskKey, b.Forge)
}

// moved takes the item's new address over. A comment of ours may carry the mark of an old one.
func (s *State) moved(b *event.TaskMoved) {
	if s.Created == nil {
		return // not the log of a context
	}
	if to, err := forge.ParseTaskKey(b.To, s.Created.Forge); err == nil {
		s.Earlier = append(s.Earlier, s.Key)
		s.Key = to
		if b.Reason == event.Transferred {
			s.Item, s.Home = "", "" // it has others now
			s.Foreign = s.Workspace != nil && s.Workspace.Dir != "" && !s.Workspace.InPlace
			s.Labels = nil // those that the other project does not have were lost: nobody took them away
		}
	}
}

// pin keeps the protocol, the language and the mode of the first configuration: a
// conversation cannot change them.
func (s *State) pin(b *event.ConfigPinned) {
	pinned := s.Own(*b)
	if s.Config != nil {
		s.FormerLabels = formerLabels(s.FormerLabels, s.Config.Labels, pinned.Labels)
		pinned.Protocol = s.Config.Protocol
		pinned.Language = s.Config.Language
		pinned.Planning.Enabled = s.Config.Planning.Enabled
	}
	s.asks(&pinned)
	s.primary, s.fallbacks = nil, 0
	s.Lang = s.language()
}

// formerLabels adds the names that have changed and takes out those that are in use again.
func formerLabels(known []string, old, now event.Labels) (all []string) {
	of := func(l event.Labels) []string {
		return append([]string{l.Bot, l.Processing, l.Paused, l.Awaiting, l.Done, l.Stopped, l.Failed}, strings.Split(l.Triggers, "\n")...)
	}
	for _, name := range append(slices.Clone(known), of(old)...) {
		if name != "" && !slices.Contains(of(now), name) && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

func (s *State) language() i18n.Lang {
	switch {
	case s.Config != nil && s.Config.Language == "ja":
		return i18n.Ja
	case s.Config != nil && s.Config.Language == "en":
		return i18n.En
	case s.Task != nil:
		return i18n.Detect(s.Task.Title + s.Task.Body.View())
	}
	return s.Lang
}

func (s *State) resume(e event.Event, b *event.ResumeRequested) {
	s.Resume, s.ResumedBy, s.Pause, s.Denied, s.Unread, s.Image = &Request{Seq: e.Seq, By: b.By}, b.By, nil, nil, nil, nil
	s.Waited = s.Status == Awaiting
	s.Window.forgive(s.Work.Failure)
	s.Shape.Steps = s.Shape.Steps[:s.Shape.proven] // a person may have changed the server
	s.Work.forgive()
	if b.Person {
		s.Publishing.approve(s.Paused, b.Tree)
		s.approveText(e)
		s.approvePlan(e.Seq, b)
	}
	if !b.Person || s.Limit == nil || s.Paused == nil || s.Paused.Reason != event.PauseLimit {
		return
	}
	grant := b.Add
	if grant == 0 {
		grant = s.Limit.Max
	}
	s.Grants[s.Limit.Limit] += grant
	s.Limit = nil
}

func (s *State) applyOutcome(e event.Event) {
	switch b := e.Body.(type) {
	case *event.MessageAdded:
		s.Steps[MessageStep(b.Purpose)] = e.Seq
	case *event.SummaryAdded:
		s.Steps[SummaryStep(b.Purpose)] = e.Seq
	case *event.CommentsFetched:
		if b.Last || b.Error != "" {
			s.Steps["fetch:"+Step(b.Reason)] = e.Seq
		}
	}
}
