package report

import (
	"strings"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/handlers"
	"agent/internal/i18n"
	"agent/internal/sanitize"
	"agent/projections"
)

// Why is what `why --json` prints.
type Why struct {
	TaskKey  string             `json:"task_key"`
	Seen     *contexts.Sighting `json:"seen,omitempty"` // what the latest round did with it
	Polls    int                `json:"polls,omitempty"`
	Contexts []Attempt          `json:"contexts"` // newest first

	Assignee string `json:"assignee_filter,omitempty"` // only items that are assigned to it are listed

	Errors []error `json:"-"` // why logs cannot be read whole
}

// Attempt is one context of the task, and what its log explains.
type Attempt struct {
	UUID    string           `json:"uuid"`
	State   string           `json:"state"`
	Created time.Time        `json:"created_at,omitzero"`
	Trigger string           `json:"trigger"` // label | command | comment
	User    string           `json:"user"`    // author of the task
	Reason  string           `json:"reason,omitempty"`
	Until   string           `json:"until,omitempty"`   // what ends a pause
	Because string           `json:"because,omitempty"` // the reason in words
	Since   time.Time        `json:"state_since,omitzero"`
	Change  string           `json:"change,omitempty"` // URL of the pull or merge request
	Skipped string           `json:"skipped,omitempty"`
	Pauses  []Pause          `json:"pauses,omitempty"` // that are over, the latest ones
	Killed  []Killed         `json:"killed,omitempty"` // processes that ended without a word, the latest ones
	Limit   *Limit           `json:"limit,omitempty"`
	Allowed []Approval       `json:"approvals,omitempty"`
	Unknown bool             `json:"edits_unknown,omitempty"` // the forge does not tell whether the text was edited after the label was set
	Failure *Failure         `json:"last_failure,omitempty"`
	Ignored []IgnoredComment `json:"ignored_comments"`
	Servers []MissingServer  `json:"missing_servers,omitempty"` // as of the latest list of tools
	Refused []RefusedTool    `json:"refused_tools,omitempty"`
	LeftOut []LeftOut        `json:"left_out,omitempty"`       // of the change as it was measured last
	Fetch   string           `json:"comments_error,omitempty"` // why the latest fetch failed
	Error   string           `json:"error,omitempty"`          // why the log cannot be read whole

	ForkOf  string `json:"fork_of,omitempty"`  // uuid of its origin
	ForkAt  uint64 `json:"fork_seq,omitempty"` // the latest event that it has from there
	Live    bool   `json:"live,omitempty"`     // a fork that works on the task itself
	NotDone int    `json:"not_done,omitempty"` // writes to the task that a fork did not do

	paused  *Pause      // that is not over
	working event.Event // the latest event of a process that has not ended; its body is nil without one
	doing   event.Event // what was open then
}

// Pause is a pause that is over.
type Pause struct {
	Seq     uint64    `json:"seq"`
	Started time.Time `json:"started_at"`
	Ended   time.Time `json:"ended_at"`
	Reason  string    `json:"reason"`
	Because string    `json:"because"`            // the reason in words, without what was to be done
	Asked   string    `json:"asked_by,omitempty"` // how somebody asked for it: signal_file | command | comment
	Asker   string    `json:"asker,omitempty"`    // who did: a login of the forge, or an account of the machine
	By      string    `json:"by,omitempty"`       // what ended it: signal_file | command | timer | label | comment
	Actor   string    `json:"actor,omitempty"`    // who ended it
}

// Killed is a process that ended without a word: killed, out of memory, or with the machine.
type Killed struct {
	Seq   uint64      `json:"seq"`        // its last event
	Last  time.Time   `json:"updated_at"` // of that event
	Next  time.Time   `json:"resumed_at,omitzero"`
	Doing string      `json:"doing,omitempty"` // the effect that had no outcome
	Open  event.Event `json:"-"`               // that effect; its body is nil without one
}

// mostPauses bounds how many pauses are kept: an outage makes one after the other.
const mostPauses = 20

// Approval is what a person let pass.
type Approval struct {
	Time time.Time         `json:"time"`
	What event.PauseReason `json:"what"`           // change | plan | limit | text
	By   string            `json:"by"`             // label | comment | command | reaction
	Who  string            `json:"who,omitempty"`  // a login of the forge; of a command the account of the machine
	Tree string            `json:"tree,omitempty"` // of the change
	Plan string            `json:"plan,omitempty"` // hash of the plan

	Limit string  `json:"limit,omitempty"` // that more was granted of
	Add   float64 `json:"add,omitempty"`   // how much; 0: the same amount again
}

// Limit is one that was reached, in its own unit.
type Limit struct {
	Limit string  `json:"limit"`
	Max   float64 `json:"max"`
	Used  float64 `json:"used"`
}

// Failure is the latest effect that failed.
type Failure struct {
	Seq  uint64    `json:"seq"`
	Time time.Time `json:"time"`
	Type string    `json:"type"`
	Text string    `json:"text"`
	Over bool      `json:"overcome,omitempty"` // the work went on after it
}

// MissingServer is a tool server that does not offer all of its tools, and why.
type MissingServer struct {
	Name  string `json:"name"`
	Error string `json:"error"`
}

// RefusedTool is a tool that is left out because the model server refused it.
type RefusedTool struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// LeftOut is a new file, or a directory, that the change does not hold.
type LeftOut struct {
	Path   string `json:"path"`
	Reason string `json:"reason"` // byproduct | large: too large, or a repository of its own
	Kind   string `json:"kind,omitempty"`
}

// IgnoredComment is a comment that is not passed to the model, and why.
type IgnoredComment struct {
	ID      string             `json:"id"`
	Author  string             `json:"author"`
	Created time.Time          `json:"created_at"`
	Verdict event.CommentClass `json:"verdict"`
}

// Why explains a task (URL or key on one of hosts) or a context (uuid or a prefix
// of one). Errors are those of [contexts.Store.Named].
func (s Source) Why(ref string, hosts ...string) (*Why, error) {
	key, uuids, err := s.Store.Named(ref, hosts...)
	if err != nil {
		return nil, err
	}
	r := &Why{TaskKey: key, Contexts: []Attempt{}}
	scan, err := s.Store.Scan()
	if err != nil {
		return nil, err
	}
	if seen, ok := scan.Of(key); ok {
		r.Seen = &seen
	}
	for _, f := range s.Config.Forges() {
		if strings.HasPrefix(key, f.Host()+"/") {
			r.Assignee = f.Assignee
		}
	}
	for _, uuid := range uuids {
		c, err := s.attempt(uuid)
		if err != nil {
			r.Errors = append(r.Errors, err)
		}
		r.Contexts = append(r.Contexts, c)
		r.Polls += scan.Polls[uuid].Count
	}
	return r, nil
}

// attempt also gives why the log cannot be read whole, nil if it can.
func (s Source) attempt(uuid string) (Attempt, error) {
	c := Attempt{UUID: uuid, Ignored: []IgnoredComment{}}
	log := s.fold(uuid, func(ev event.Event, state *projections.State) {
		if b, ok := ev.Body.(*event.ContextForked); ok { // what was before belongs to its origin
			c = Attempt{UUID: uuid, Ignored: []IgnoredComment{}, ForkOf: b.Origin, ForkAt: b.Seq, Live: b.Live}
		}
		if event.Simulated(ev.Body) != "" {
			c.NotDone++
		}
		c.apply(ev, state)
		c.pause(ev, state, s.Lang)
		c.process(ev, state)
	})
	state := log.state
	c.State, c.Created, c.Change = stateOf(s.Store, uuid, string(state.Status)), state.Started, Change(state)
	if state.Created != nil {
		c.Trigger, c.User = state.Created.Trigger, state.Created.User
	}
	if reason, until := WaitsFor(state); until != "" {
		c.Reason, c.Until = reason, until
	}
	c.Because = Because(state, s.Lang)
	if state.Limit != nil {
		c.Limit = &Limit{state.Limit.Limit, state.Limit.Max, state.Limit.Used}
	}
	if c.State == Interrupted && c.working.Body != nil {
		c.killed(time.Time{})
	}
	c.Servers = missingServers(state)
	c.LeftOut = leftOut(state, s.Lang)
	c.Fetch = state.Comments.Error
	if log.err != nil {
		c.State, c.Error = "damaged", log.err.Error()
	}
	return c, log.err
}

// apply notes what an event explains.
func (c *Attempt) apply(ev event.Event, s *projections.State) {
	if s.Since == ev.Seq {
		c.Since, c.Reason = ev.Time, ""
	}
	switch b := ev.Body.(type) {
	case *event.ContextCompleted:
		c.Reason = string(b.Reason)
	case *event.ContextStopped:
		c.Reason = string(b.Reason)
	case *event.ContextFailed:
		c.Reason = string(b.Reason)
	case *event.ResumeRequested:
		revised := s.Paused != nil && s.Paused.Reason == event.PausePlan && b.Plan == ""
		if b.Person && projections.NeedsApproval(s.Paused) && !revised {
			c.Allowed = append(c.Allowed, Approval{Time: ev.Time, What: s.Paused.Reason, By: b.By, Who: b.Actor, Tree: b.Tree, Plan: b.Plan, Add: b.Add})
		}
	case *event.LimitRaised:
		if b.Limit != "" {
			c.Allowed = append(c.Allowed, Approval{Time: ev.Time, What: event.PauseLimit, By: b.By, Who: b.Actor, Limit: b.Limit, Add: b.Add})
		}
	case *event.TaskFetched:
		c.Unknown = b.Edit.Unknown
	case *event.LLMAdapted:
		if b.Tool != "" {
			c.Refused = append(c.Refused, RefusedTool{b.Tool, b.Reason})
		}
	case *event.TaskSkipped:
		c.Skipped = b.Reason
	case *event.CommentsFetched:
		for _, comment := range b.Comments {
			if comment.Verdict != event.NewComment && comment.Verdict != event.EditedComment {
				c.Ignored = append(c.Ignored, IgnoredComment{comment.ID, comment.Author, comment.Created, comment.Verdict})
			}
		}
	case *event.LLMFailed:
		if b.Kind != event.Interrupted { // the process ended, or the work was paused: nothing failed
			c.Failure = &Failure{Seq: ev.Seq, Time: ev.Time, Type: b.Type(), Text: projections.Describe(ev)}
		}
	case *event.ToolFailed, *event.ToolInterrupted, *event.CommentFailed, *event.LabelsFailed, *event.ChangeFailed:
		c.Failure = &Failure{Seq: ev.Seq, Time: ev.Time, Type: b.Type(), Text: projections.Describe(ev)}
	case *event.LLMReplied, *event.ToolReplied, *event.CommentPosted, *event.LabelsChanged, *event.ChangeOpened:
		if c.Failure != nil && group(b.Type()) == group(c.Failure.Type) {
			c.Failure.Over = true
		}
	}
}

// pause notes when and why the work paused, and what ended that.
func (c *Attempt) pause(ev event.Event, s *projections.State, lang i18n.Lang) {
	switch b := ev.Body.(type) {
	case *event.ContextPaused:
		c.paused = &Pause{Seq: ev.Seq, Started: ev.Time, Reason: string(b.Reason), Because: fact(s, lang)}
		if by := s.Wished; by != nil && b.Reason == event.PauseOnRequest {
			c.paused.Asked, c.paused.Asker = by.By, by.Actor
		}
	case *event.ResumeRequested:
		if c.paused != nil {
			c.paused.By, c.paused.Actor = b.By, b.Actor
		}
	case *event.ContextResumed, *event.ContextStopped, *event.ContextFailed, *event.ContextCompleted:
		if c.paused != nil {
			c.paused.Ended = ev.Time
			c.Pauses = append(c.Pauses[max(len(c.Pauses)-mostPauses+1, 0):], *c.paused)
			c.paused = nil
		}
	}
}

// process notes processes that ended without a word. The one that is working now is none.
func (c *Attempt) process(ev event.Event, s *projections.State) {
	switch ev.Body.(type) {
	case *event.ProcessRecovered: // says that the one before died; it is written by the next
		return
	case *event.ProcessStarted:
		if c.working.Body != nil {
			c.killed(ev.Time)
		}
	case *event.ProcessEnded:
		c.working, c.doing = event.Event{}, event.Event{}
		return
	}
	if _, begins := ev.Body.(*event.ProcessStarted); begins || c.working.Body != nil {
		c.working = ev
	}
	switch {
	case s.Open == nil:
		c.doing = event.Event{}
	case s.Open.Seq == ev.Seq:
		c.doing = ev
	}
}

func (c *Attempt) killed(next time.Time) {
	k := Killed{Seq: c.working.Seq, Last: c.working.Time, Next: next, Open: c.doing}
	if c.doing.Body != nil {
		k.Doing = sanitize.Line(c.doing.Body.Type()+" "+projections.Describe(c.doing), 200)
	}
	c.Killed = append(c.Killed[max(len(c.Killed)-mostPauses+1, 0):], k)
}

// fact is why a context paused without the advice that follows in a sentence of its own:
// nobody needs it any more.
func fact(s *projections.State, lang i18n.Lang) string {
	if asked := Asked(s, lang); asked != "" {
		return asked
	}
	text, detail := handlers.Reason(s, lang)
	for _, end := range []string{". ", "。"} {
		text, _, _ = strings.Cut(text, end)
	}
	if detail != "" {
		text += " (" + sanitize.Line(detail, 300) + ")"
	}
	return text
}

// group is what the types of events about the same kind of effect begin with: "llm", "tool".
func group(eventType string) string {
	name, _, _ := strings.Cut(eventType, ".")
	return name
}

func leftOut(s *projections.State, lang i18n.Lang) (list []LeftOut) {
	m := s.Publishing.Measured
	if m == nil {
		return nil
	}
	for _, b := range m.ByProducts {
		list = append(list, LeftOut{b.Path, "byproduct", handlers.ByProductKind(lang, b)})
	}
	for _, path := range m.LeftOut {
		list = append(list, LeftOut{path, "large", ""})
	}
	return list
}

func missingServers(s *projections.State) (missing []MissingServer) {
	if s.Tools == nil {
		return nil
	}
	for _, server := range s.Tools.Servers {
		if server.Error != "" {
			missing = append(missing, MissingServer{server.Name, server.Error})
		}
	}
	return missing
}
