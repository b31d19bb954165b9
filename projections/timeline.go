package projections

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"agent/eventlog/event"
	"agent/internal/i18n"
)

// Describe says in one line what an event means. The text may hold anything
// that was in the event: whoever prints it makes it safe for a terminal.
func Describe(e event.Event) string {
	switch b := e.Body.(type) {
	case *event.ContextCreated:
		return fmt.Sprintf("new context for %s (%s): %s", b.TaskKey, b.Trigger, b.Title)
	case *event.ContextForked:
		return forkedFrom(b)
	case *event.ConfigPinned:
		return fmt.Sprintf("%s %s, window %d tokens, protocol %s, language %s", b.Provider, b.Model, b.ContextLength, b.Protocol, b.Language)
	case *event.ProcessStarted:
		return fmt.Sprintf("agent %s started as process %d on %s (decisions v%d)", b.Version, b.PID, b.Host, b.Decisions)
	case *event.ProcessRecovered:
		return recovered(b)
	case *event.ProcessEnded:
		return "process ended: " + b.Reason
	case *event.TaskFetched:
		return fmt.Sprintf("%q by @%s, %d bytes, labels: %s", b.Title, b.Author, len(b.Body.View()), strings.Join(b.Labels, ", "))
	case *event.WorkspacePrepared:
		return strings.TrimSpace(b.Dir + " " + short(b.Commit) + " " + b.Error)
	case *event.ProjectRead:
		return projectRead(b)
	case *event.ChangeMeasured:
		return strings.TrimSpace(fmt.Sprintf("%d files, +%d −%d lines, tree %s %s", b.Count, b.Added, b.Removed, short(b.Tree), b.Error))
	case *event.ToolsListed:
		return serverList(b.Servers)
	case *event.CommentsFetched:
		return fetched(b)
	case *event.WorkspaceSaved, *event.WorkspaceRestored, *event.WorkspaceChanged:
		return describeFiles(b)
	}
	return describeEffect(e)
}

func describeEffect(e event.Event) string {
	switch b := e.Body.(type) {
	case *event.LLMRequested:
		return fmt.Sprintf("%s: %d messages, about %d tokens, %s, try %d", b.Purpose, b.Messages, b.Estimated, b.Protocol, b.Attempt)
	case *event.LLMReplied:
		return replied(b)
	case *event.LLMFailed:
		return strings.TrimSpace(b.Kind + " " + status(b) + " " + b.Message)
	case *event.ToolRequested:
		return strings.TrimSpace(b.Name() + " " + b.Args.View())
	case *event.ToolReplied:
		return fmt.Sprintf("%s%d bytes in %d ms: %s", errorMark(b.IsError), size(b.Content), b.DurationMS, firstLine(b.Content.View()))
	case *event.ToolFailed:
		return b.Kind + ": " + b.Message
	case *event.ToolInterrupted:
		return b.Reason
	case *event.CommentRequested:
		return commentVerb(b) + firstLine(b.Body.Inline)
	case *event.CommentPosted:
		return strings.TrimSpace("comment " + b.ID + " " + b.URL + adopted(b.Adopted) + simulated(b.Simulated))
	case *event.CommentFailed:
		return b.Kind + ": " + b.Message
	case *event.ReactionRequested:
		return b.Reaction + " to comment " + b.Comment
	case *event.ReactionAdded:
		return strings.TrimSpace(simulated(b.Simulated))
	case *event.ReactionFailed:
		return b.Kind + ": " + b.Message
	case *event.LabelsRequested:
		return fmt.Sprintf("%s: add %s; remove %s", b.Purpose, strings.Join(b.Add, ", "), strings.Join(b.Remove, ", "))
	case *event.LabelsChanged:
		return "now: " + strings.Join(b.Labels, ", ") + simulated(b.Simulated)
	case *event.LabelsFailed:
		return b.Kind + ": " + b.Message
	case *event.ChangeRequested:
		if b.Unfinished {
			return strings.TrimSpace("unfinished work of " + b.Title + " " + b.Branch)
		}
		return fmt.Sprintf("branch %s into %s: %s", b.Branch, b.Base, b.Title)
	case *event.ChangeOpened:
		if b.Unfinished {
			return fmt.Sprintf("unfinished work kept: %s, %d files, commit %s", cmp.Or(b.Branch, event.PatchFile), len(b.Files), short(b.Commit))
		}
		return fmt.Sprintf("#%d %s, %d files, commit %s", b.Number, b.URL, len(b.Files), short(b.Commit)) + simulated(b.Simulated)
	case *event.ChangeFailed:
		return b.Kind + ": " + b.Message
	}
	return describeMark(e)
}

func describeMark(e event.Event) string {
	switch b := e.Body.(type) {
	case *event.MessageAdded:
		return fmt.Sprintf("%s message (%s), %d bytes", b.Role, b.Purpose, size(b.Content))
	case *event.SummaryAdded:
		return fmt.Sprintf("%s summary of events %d to %d: %s", b.Purpose, b.From, b.To, firstLine(b.Text.View()))
	case *event.LLMAdapted:
		return fmt.Sprintf("requests take the shape %s, because: %s", b.Step, b.Reason)
	case *event.LLMSwitched:
		return fmt.Sprintf("%s, model %s, is asked instead: %s", b.Provider, b.Model, b.Reason)
	case *event.LimitReached:
		return fmt.Sprintf("%s: %g of %g", b.Limit, b.Used, b.Max)
	case *event.PauseRequested:
		return strings.TrimSpace("by " + b.By + " " + b.Actor)
	case *event.ResumeRequested:
		return resumed(b)
	case *event.StatusRequested:
		return strings.TrimSpace("by " + b.By + " " + b.Actor)
	case *event.LimitRaised:
		return strings.TrimSpace(fmt.Sprintf("%s: %g more, by %s %s", b.Limit, b.Add, b.By, b.Actor))
	case *event.StopRequested:
		return strings.Join(strings.Fields("by "+b.By+" "+b.Actor+" "+b.Reason), " ")
	case *event.ContextAwaiting:
		return strings.TrimSpace(b.Reason + " until " + stamp(b.Until.Time))
	case *event.ContextPaused:
		return string(b.Reason) + ", until " + until(b.Until)
	case *event.ContextCompleted:
		return string(b.Reason)
	case *event.ContextStopped:
		return string(b.Reason)
	case *event.ContextFailed:
		return string(b.Reason)
	case *event.ContextInherited:
		return strings.TrimSpace(b.From + " " + b.Reason)
	case *event.TaskSkipped:
		return b.Reason
	case *event.ReadRefused:
		return b.What + ": " + firstLine(b.Message)
	case *event.ImageMissing:
		return firstLine(b.Message)
	case *event.TaskMoved:
		return b.Reason + ": " + b.To
	case *event.TaskChanged:
		return b.What
	case *event.Unknown:
		return "unknown to this release: " + string(b.Data)
	}
	return describePlan(e)
}

func resumed(b *event.ResumeRequested) string {
	text := strings.TrimSpace("by " + b.By + " " + b.Actor)
	if b.Plan != "" {
		text += ", approves plan " + b.Plan
	}
	if b.Tree != "" {
		text += ", approves tree " + short(b.Tree)
	}
	return text
}

func recovered(b *event.ProcessRecovered) string {
	text := "the process before did not end properly"
	if b.OpenSeq > 0 {
		text += fmt.Sprintf("; %s at %d was open", b.OpenType, b.OpenSeq)
	}
	if b.TornBytes > 0 {
		text += fmt.Sprintf("; %d bytes of a torn event were set aside", b.TornBytes)
	}
	if b.GivenUp > 0 {
		text += fmt.Sprintf("; repair gave up %d bytes", b.GivenUp)
	}
	return text
}

func projectRead(b *event.ProjectRead) string {
	var parts []string
	for _, r := range slices.Concat(b.Rules, b.Nested) {
		part := fmt.Sprintf("%s: %d bytes", r.Path, r.Bytes)
		if r.Cut {
			part += ", cut"
		}
		if len(r.Removed)+len(r.Warning) > 0 {
			part += ", " + strings.Join(append(slices.Clone(r.Removed), r.Warning...), ", ")
		}
		parts = append(parts, part)
	}
	parts = append(parts, fmt.Sprintf("%d files", b.Total))
	if b.Error != "" {
		parts = append(parts, b.Error)
	}
	return strings.Join(parts, "; ")
}

func serverList(servers []event.Server) string {
	var parts []string
	for _, s := range servers {
		if s.Error != "" {
			parts = append(parts, s.Name+": "+s.Error)
			continue
		}
		parts = append(parts, fmt.Sprintf("%s: %d tools", s.Name, len(s.Tools)))
	}
	return strings.Join(parts, "; ")
}

func fetched(b *event.CommentsFetched) string {
	if b.Error != "" {
		return string(b.Reason) + " failed: " + b.Error
	}
	counts := map[event.CommentClass]int{}
	var order []event.CommentClass
	for _, c := range b.Comments {
		if counts[c.Verdict] == 0 {
			order = append(order, c.Verdict)
		}
		counts[c.Verdict]++
	}
	text := fmt.Sprintf("%s: %d known", b.Reason, b.Seen)
	for _, v := range order {
		text += fmt.Sprintf(", %d %s", counts[v], v)
	}
	return text
}

func replied(b *event.LLMReplied) string {
	text := fmt.Sprintf("%s, %d+%d tokens", b.Finish, b.Usage.Prompt, b.Usage.Completion)
	if b.CostUSD > 0 {
		text += ", " + i18n.USD(b.CostUSD) + " USD"
	}
	text += fmt.Sprintf(" in %d ms", b.DurationMS)
	for _, c := range b.Calls {
		text += "; calls " + c.Name
	}
	if line := firstLine(strings.TrimSpace(b.Text.View())); line != "" {
		text += ": " + line
	}
	return text
}

func size(t event.Text) int64 {
	if t.Spilled() {
		return t.Size
	}
	return int64(len(t.Inline))
}

func commentVerb(b *event.CommentRequested) string {
	if b.Edit != "" {
		return b.Purpose + ", edit of " + b.Edit + ": "
	}
	return b.Purpose + ": "
}

func until(u event.Until) string {
	if u.Kind == "time" {
		return stamp(u.Time)
	}
	return u.Kind
}

func short(commit string) string { return commit[:min(len(commit), 10)] }

// status is the HTTP status of a failed call, unless the message begins with it.
func status(b *event.LLMFailed) string {
	text := fmt.Sprintf("HTTP %d", b.Status)
	if b.Status == 0 || strings.HasPrefix(b.Message, text) {
		return ""
	}
	return text
}

func errorMark(isError bool) string {
	if isError {
		return "error, "
	}
	return ""
}

func adopted(yes bool) string {
	if yes {
		return " (found on the forge; its answer had been lost)"
	}
	return ""
}
