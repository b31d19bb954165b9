package history

import (
	"fmt"

	"agent/eventlog/event"
	"agent/projections"
)

// The kinds of entries. Each is of one or a few types of events.
const (
	kindSummary       = "summary"
	kindPlans         = "plans"
	kindActions       = "actions"
	kindReplans       = "replans"
	kindReflections   = "reflections"
	kindVerifications = "verifications"
	kindTools         = "tools"
	kindMetadata      = "metadata"
)

// kinds are those that the configuration lets be read.
func (r Rules) kinds() []string {
	kinds := []string{kindSummary}
	if r.Plans && r.MaxPlans > 0 {
		kinds = append(kinds, kindPlans, kindActions, kindReplans)
	}
	if r.Reflections {
		kinds = append(kinds, kindReflections)
	}
	if r.Verifications {
		kinds = append(kinds, kindVerifications)
	}
	return append(kinds, kindTools, kindMetadata)
}

// kindOf is the kind of the entry that an event is, "" if it is none.
func kindOf(b event.Body) string {
	switch b := b.(type) {
	case *event.SummaryAdded:
		if b.Purpose == event.FinalSummary {
			return kindSummary
		}
	case *event.PlanMade, *event.PlanRevised:
		return kindPlans
	case *event.ActionFinished:
		return kindActions
	case *event.ReplanDecided:
		return kindReplans
	case *event.ReflectionMade:
		return kindReflections
	case *event.VerificationMade:
		return kindVerifications
	case *event.ToolReplied, *event.ToolFailed, *event.ToolInterrupted:
		return kindTools
	case *event.ContextCreated, *event.ConfigPinned, *event.WorkspacePrepared, *event.ChangeOpened, *event.LimitReached,
		*event.ContextPaused, *event.ContextResumed, *event.ContextAwaiting, *event.ContextCompleted, *event.ContextStopped:
		return kindMetadata
	}
	return ""
}

// entries finds the entries of one kind in a log.
type entries struct {
	kind string
	open *event.ToolRequested
}

// entry gives the text of the entry that an event ends, if it is one of the kind.
func (r *entries) entry(e event.Event) (text string, ok bool) {
	if call, isCall := e.Body.(*event.ToolRequested); isCall {
		r.open = call
	}
	if kindOf(e.Body) != r.kind {
		return "", false
	}
	switch b := e.Body.(type) {
	case *event.SummaryAdded:
		return b.Text.View(), true
	case *event.WorkspacePrepared: // without the place, which is of this machine
		return fmt.Sprintf("%s: base %s, commit %s %s", b.Type(), b.Base, b.Commit, b.Error), true
	case *event.ToolReplied:
		return r.call(outcome(b)), r.open != nil && r.open.Server != Server
	case *event.ToolFailed:
		return r.call(b.Kind + ": " + b.Message), r.open != nil
	case *event.ToolInterrupted:
		return r.call("interrupted: " + b.Reason), r.open != nil
	}
	if r.kind == kindMetadata {
		return e.Body.Type() + ": " + projections.Describe(e), true
	}
	data, err := event.Encode(e.Body, false)
	return e.Body.Type() + " " + string(data), err == nil
}

// mostOfTool is how many bytes of arguments, and of the result, an entry shows.
const mostOfTool = 1500

func (r *entries) call(outcome string) string {
	if r.open == nil {
		return ""
	}
	return fmt.Sprintf("%s/%s %s\n%s", r.open.Server, r.open.Tool, event.Shorten(r.open.Args.View(), mostOfTool), event.Shorten(outcome, mostOfTool))
}

func outcome(b *event.ToolReplied) string {
	if b.IsError {
		return "error: " + b.Content.View()
	}
	return b.Content.View()
}
