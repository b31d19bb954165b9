package contexts

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/forge"
	"agent/projections"
)

// The states that a context can be in. They are those of package projections;
// Damaged is one whose log cannot be read to its end.
const (
	StateRunning   = "running"
	StatePaused    = "paused"
	StateAwaiting  = "awaiting"
	StateCompleted = "completed"
	StateStopped   = "stopped"
	StateFailed    = "failed"
	StateDamaged   = "damaged"
)

// Info is what a list shows of a context.
type Info struct {
	UUID, TaskKey, Title string // TaskKey is where the task was when the context began
	Moved                string // where it is now, if elsewhere
	State                string
	Waits                string // what ends a pause: signal | time | person | comment
	Created, Updated     time.Time
	Ended                time.Time // zero if it has not
	LLMCalls, ToolCalls  int       // as projections.Usage counts them
	LLMBegun             int       // with those below, and those that failed
	Summaries, Lost      int
	Tokens               int
	Estimated            bool // some of the tokens are
	CostUSD              float64
	Refused              bool   // the forge did not take a comment or labels
	Partial              bool   // it completed without having done everything
	Work                 string // unfinished work: its branch, or event.PatchFile
	paused               bool   // it was kept for a pause
	Change               string // URL of the pull or merge request
	Fork                 string // uuid of its origin, if it is a fork
	ForkSeq              uint64 // the latest event that it has from there
	Live                 bool   // a fork that works on the task itself
	Head                 eventlog.Head
	Archived             bool
	Size                 int64         // bytes of the log on the disk, packed if it is archived
	modified             int64         // of that file, ns
	Err                  error         // what makes it damaged
	gone                 bool          // a line of the index: it was removed
	Asking               bool          // a model call is open
	estimated            int           // its tokens
	outside              bool          // it is no turn of the conversation
	watch, then          eventlog.Head // the head that was known, and that event as it is now
}

// Calls says what became of the model calls, as [projections.Usage.Calls]. An index line of an
// older release has only the turns of the conversation.
func (i *Info) Calls() projections.ModelCalls {
	c := projections.ModelCalls{All: max(i.LLMBegun, i.LLMCalls), Summaries: i.Summaries, Interrupted: i.Lost}
	c.Failed = c.All - i.LLMCalls - c.Summaries - c.Interrupted
	if i.Asking {
		c.Failed--
	}
	return c
}

// Address is where the task is now, as far as the log knows.
func (i *Info) Address() string { return cmp.Or(i.Moved, i.TaskKey) }

// at tells whether the task is, or was when the context began, at an address.
func (i *Info) at(taskKey string) bool {
	return forge.CompareKeys(i.TaskKey, taskKey) == 0 || i.Moved != "" && forge.CompareKeys(i.Moved, taskKey) == 0
}

// Over tells whether nothing more will happen to it.
func (i *Info) Over() bool { return !i.Ended.IsZero() && i.State != StateDamaged }

// Removable tells whether it can go: it has ended, or it is a fork that nobody runs, for
// which nothing outside waits.
func (i *Info) Removable() bool {
	return i.Over() || i.Fork != "" && !i.Live && (i.State == StatePaused || i.State == StateAwaiting)
}

// Inheritable tells whether the next attempt at its task may take it over. A fork is an
// experiment: nothing follows from it.
func (i *Info) Inheritable() bool {
	return (i.State == StateCompleted || i.State == StateStopped) && i.Fork == ""
}

// apply folds one event. It agrees with projections.State, which holds much more.
func (i *Info) apply(e event.Event) {
	i.Updated = e.Time
	switch b := e.Body.(type) {
	case *event.ContextCreated:
		i.UUID, i.TaskKey, i.Title = b.UUID, b.TaskKey, b.Title
		i.Created, i.State = e.Time, StateRunning
	case *event.ContextForked:
		i.forked(b, e.Time)
	case *event.TaskMoved:
		i.Moved = b.To
	case *event.ContextPaused:
		i.State, i.Waits = StatePaused, b.Until.Kind
	case *event.ContextAwaiting:
		i.State, i.Waits = StateAwaiting, ""
	case *event.ContextResumed:
		i.State, i.Waits = StateRunning, ""
		if i.paused {
			i.Work, i.paused = "", false
		}
	case *event.ContextCompleted:
		i.Partial = b.Partial
		i.end(StateCompleted, e.Time)
	case *event.ContextStopped:
		i.end(StateStopped, e.Time)
	case *event.ContextFailed:
		i.end(StateFailed, e.Time)
	case *event.LLMRequested:
		i.estimated, i.outside, i.Asking = b.Estimated, b.OutsideConversation(), true
		i.LLMBegun++
	case *event.LLMReplied:
		i.Asking = false
		if !i.outside {
			i.LLMCalls++
		} else {
			i.Summaries++
		}
		i.Tokens += b.Usage.Prompt + b.Usage.Completion
		i.Estimated = i.Estimated || b.Usage.Estimated
		i.CostUSD += b.CostUSD
	case *event.LLMFailed:
		i.Asking = false
		if b.Kind == event.Interrupted {
			i.Tokens += i.estimated
			i.Estimated = i.Estimated || i.estimated > 0
			i.Lost++
		}
		i.Tokens += b.Usage.Prompt + b.Usage.Completion
		i.CostUSD += b.CostUSD
	case *event.ToolRequested:
		i.ToolCalls++
	case *event.CommentFailed, *event.LabelsFailed:
		i.Refused = true
	case *event.ChangeOpened:
		if b.Simulated == "" {
			i.Change = cmp.Or(b.URL, i.Change)
		}
		i.paused = b.Paused
		i.kept(b.Unfinished && !(b.Paused && b.Patch.IsZero()), b.Branch)
	case *event.ChangeFailed:
		i.paused = b.Paused
		i.kept(b.Unfinished && !b.Patch.IsZero(), "")
	}
}

// forked makes it a fork: what was spent before is its origin's.
func (i *Info) forked(b *event.ContextForked, at time.Time) {
	i.UUID, i.Fork, i.ForkSeq, i.Live = b.UUID, b.Origin, b.Seq, b.Live
	i.Created, i.State, i.Waits, i.Ended, i.Partial = at, StateRunning, "", time.Time{}, false
	i.LLMCalls, i.LLMBegun, i.Summaries, i.Lost, i.ToolCalls, i.Tokens, i.CostUSD = 0, 0, 0, 0, 0, 0, 0
	i.Estimated = false
}

// kept notes where unfinished work is.
func (i *Info) kept(unfinished bool, branch string) {
	if i.Work = ""; unfinished {
		i.Work = cmp.Or(branch, event.PatchFile)
	}
}

func (i *Info) end(state string, at time.Time) { i.State, i.Waits, i.Ended = state, "", at }

// counted are the kinds that apply looks into; the others are not decoded.
var counted = map[string]bool{
	"context.created": true, "context.forked": true, "context.paused": true, "context.awaiting": true, "context.resumed": true,
	"context.completed": true, "context.stopped": true, "context.failed": true,
	"llm.requested": true, "llm.replied": true, "llm.failed": true, "tool.requested": true,
	"change.opened": true, "change.failed": true, "comment.failed": true, "labels.failed": true, "task.moved": true,
}

// digest folds the log of a context without its lock. What ends the reading is
// in Err; a torn tail is an event that is just being written, and no error.
// It is held against the head that was known before.
func (s *Store) digest(uuid string, known eventlog.Head) Info {
	info := Info{UUID: uuid, watch: known}
	info.Size, info.modified, info.Archived, info.Err = s.measure(uuid)
	if info.Err == nil {
		info.Err = s.foldInto(&info)
	}
	var torn *eventlog.TornError
	if errors.As(info.Err, &torn) {
		info.Err = nil
	}
	if info.Err == nil {
		info.Err = info.held()
	}
	if info.Err == nil && info.State == "" {
		info.Err = &DamageError{Name: uuid, Reason: "its log holds no event"}
	}
	if info.Err != nil {
		info.State = StateDamaged
	}
	return info
}

func (s *Store) foldInto(info *Info) error {
	uuid, from := info.UUID, descent{}
	for rec, err := range s.recordsWith(uuid, info.watch) {
		if err != nil {
			return err
		}
		if counted[string(rec.Type)] || rec.Seq == 1 {
			e, err := toFold(uuid, rec)
			if err != nil {
				return err
			}
			if err := from.apply(e, info.Head); err != nil {
				return &DamageError{Name: uuid, Reason: err.Error()}
			}
			info.apply(e)
		} else {
			info.Updated = rec.When()
		}
		info.saw(eventlog.HeadOf(rec))
	}
	if from.uuid == "" {
		return nil // that is said of a log without events
	}
	return from.end(uuid, uuid)
}

func (i *Info) saw(h eventlog.Head) {
	i.Head = h
	if h.Seq == i.watch.Seq {
		i.then = h
	}
}

// held tells whether a log that was read whole still has the event that was
// known. One that has not is an old copy, or was cut at the end of a line.
func (i *Info) held() error {
	switch {
	case i.watch == i.then:
		return nil
	case i.watch.Seq > i.Head.Seq:
		return &DamageError{Name: i.UUID, Reason: fmt.Sprintf("its log ends with seq %d, and seq %d was there", i.Head.Seq, i.watch.Seq)}
	}
	return &DamageError{Name: i.UUID, Reason: fmt.Sprintf("seq %d of its log is not what it was", i.watch.Seq)}
}
