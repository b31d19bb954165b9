package viewer

import (
	"fmt"
	"strings"

	"agent/eventlog/event"
	"agent/internal/i18n"
)

func (s speaker) input(b event.Body) string {
	switch b := b.(type) {
	case *event.ContextCreated:
		return with(s.say("ev.context.created", b.TaskKey), b.Title)
	case *event.ContextForked:
		where := i18n.ID("ev.forked.apart")
		if b.Live {
			where = "ev.forked.live"
		}
		return with(s.also(s.say("ev.context.forked", b.Origin, b.Seq, b.By), s.when(b.Dropped > 0, "ev.forked.dropped", b.Dropped),
			s.when(b.Model.Model != "", "ev.forked.model", b.Model.Model), s.say(where)), beginningOf(b.Say))
	case *event.ConfigPinned:
		return s.say("ev.config.pinned", b.Model, b.Provider, b.ContextLength)
	case *event.ProcessStarted:
		return s.say("ev.process.started", b.Version, b.Host, b.PID)
	case *event.ProcessRecovered:
		return s.also(s.say("ev.process.recovered"), s.when(b.OpenSeq > 0, "ev.recovered.open", b.OpenSeq),
			s.when(b.TornBytes > 0, "ev.recovered.torn", b.TornBytes), s.when(b.GivenUp > 0, "ev.recovered.given", b.GivenUp), s.when(b.Healed > 0, "ev.recovered.healed", b.Healed))
	case *event.ProcessEnded:
		return s.say("ev.process.ended", i18n.State(s.lang, b.Reason))
	case *event.TaskFetched:
		return s.also(s.say("ev.task.fetched", b.Title, b.Author), s.when(len(b.Labels) > 0, "ev.labels", strings.Join(b.Labels, ", ")), s.takenOut(b.Removed))
	case *event.TaskChanged:
		return s.also(s.say("ev.task.changed"), s.takenOut(b.Removed))
	case *event.TaskMoved:
		return s.say(i18n.OrOther("ev.moved.", b.Reason), b.To)
	case *event.TaskSkipped:
		return with(s.say("ev.task.skipped"), b.Reason)
	case *event.ReadRefused:
		return with(s.say("ev.read.refused"), b.Message)
	case *event.ContextInherited:
		switch {
		case b.From != "":
			return s.say("ev.context.inherited", b.From)
		case b.Skipped:
			return s.say("ev.inherited.not")
		}
		return s.say("ev.inherited.none")
	case *event.CommentsFetched:
		return s.comments(b)
	case *event.TimerFired:
		return s.say("ev.timer.fired")
	case *event.BlobForgotten:
		return s.say("ev.blob.forgotten", b.By)
	}
	return ""
}

func (s speaker) comments(b *event.CommentsFetched) string {
	if b.Error != "" {
		return with(s.say("ev.comments.not"), b.Error)
	}
	counts := map[event.CommentClass]int{}
	var order []event.CommentClass
	for _, c := range b.Comments {
		if counts[c.Verdict]++; counts[c.Verdict] == 1 {
			order = append(order, c.Verdict)
		}
	}
	text := s.say("ev.comments.fetched", b.Seen)
	for _, class := range order {
		text = s.also(text, s.say(i18n.OrOther("ev.class.", string(class)), counts[class]))
	}
	return text
}

// files says what became of the working copy and its project.
func (s speaker) files(b event.Body) string {
	switch b := b.(type) {
	case *event.WorkspacePrepared:
		switch {
		case b.Reason == "empty":
			return with(s.say("ev.prepared.not"), s.say("ev.prepared.empty"))
		case b.Error != "":
			return with(s.say("ev.prepared.not"), b.Error)
		}
		return strings.TrimSpace(s.say("ev.workspace.prepared", b.Dir) + " " + b.Commit[:min(len(b.Commit), 10)])
	case *event.ProjectRead:
		var rules []string
		for _, r := range append(b.Rules[:len(b.Rules):len(b.Rules)], b.Nested...) {
			rules = append(rules, s.rule(r))
		}
		return s.also(s.say("ev.project.read", b.Total), s.when(len(rules) > 0, "ev.project.rules", strings.Join(rules, ", ")), b.Error)
	case *event.ChangeMeasured:
		if b.Error != "" {
			return with(s.say("ev.measured.not"), b.Error)
		}
		return s.say("ev.change.measured", b.Count, b.Added, b.Removed)
	case *event.ToolsListed:
		var parts []string
		for _, server := range b.Servers {
			part := fmt.Sprintf("%s (%d)", server.Name, len(server.Tools))
			if server.Error != "" {
				part = server.Name + ": " + server.Error
			}
			parts = append(parts, part)
		}
		return s.say("ev.tools.listed", strings.Join(parts, "; "))
	case *event.WorkspaceSaved:
		if b.Error != "" {
			return with(s.say("ev.saved.error"), b.Error)
		}
		text := s.also(with(s.say("ev.workspace.saved", b.Count, b.Added, b.Removed), s.paths(b.Files, b.Count)))
		if n := len(b.NotSaved); n > 0 {
			text = s.also(text, s.say("ev.saved.not", b.NotSaved[0].Path), s.when(n > 1, "ev.more", n-1))
		}
		return text
	case *event.WorkspaceRestored:
		if b.Error != "" {
			return with(s.say("ev.restored.error"), b.Error)
		}
		return s.also(s.say("ev.workspace.restored", b.Count), s.when(b.Kept != "", "ev.kept", b.Kept))
	case *event.WorkspaceChanged:
		id := i18n.ID("ev.workspace.changed")
		if b.Reason != "" {
			id = "ev.changed.damaged"
		}
		return s.also(s.say(id, s.paths(b.Files, b.Count)), s.when(b.Kept != "", "ev.kept", b.Kept))
	}
	return ""
}

// paths names the first files of a list.
func (s speaker) paths(files []event.SavedFile, count int) string {
	var names []string
	for _, f := range files[:min(len(files), 3)] {
		names = append(names, f.Path)
	}
	if more := count - len(names); more > 0 {
		names = append(names, s.say("ev.more", more))
	}
	return strings.Join(names, ", ")
}

// takenOut says which hidden text the model did not get.
func (s speaker) takenOut(removed []string) string {
	return s.when(len(removed) > 0, "ev.removed", strings.Join(removed, ", "))
}

// rule names a file of rules, with what the model did not get of it.
func (s speaker) rule(r event.RuleFile) string {
	var more []string
	if r.Cut {
		more = append(more, s.say("ev.rule.cut"))
	}
	if hidden := s.takenOut(r.Removed); hidden != "" {
		more = append(more, hidden)
	}
	if more = append(more, r.Warning...); len(more) == 0 {
		return r.Path
	}
	return r.Path + " (" + strings.Join(more, ", ") + ")"
}
