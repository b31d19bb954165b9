package rounds

import (
	"context"
	"log/slog"

	"agent/eventlog/event"
	"agent/projections"
)

// logOf is the program's log for one context: each line names it and its task, so
// that a failure is found by either.
func (r *round) logOf(task, context string) *slog.Logger {
	return r.Log.With("task", task, "context", context)
}

// logEvent writes an event to the program's log. At debug level it writes all of
// them, at info level what people said and what the agent did about it (seeds/001 §3.5), and
// as a warning what failed and what is done about it.
func logEvent(log *slog.Logger, ev event.Event) {
	if log.Enabled(context.Background(), slog.LevelDebug) {
		log.Debug(projections.Describe(ev), "event", ev.Body.Type(), "seq", ev.Seq)
	}
	logPeople(log, ev.Body)
	logFailure(log, ev)
}

func logPeople(log *slog.Logger, body event.Body) {
	switch b := body.(type) {
	case *event.CommentsFetched:
		for _, c := range b.Comments {
			if b.Reason != "start" && (c.Verdict == event.NewComment || c.Verdict == event.EditedComment) {
				log.Info("new comment detected", "comment", c.ID, "author", c.Author)
			}
			for _, pattern := range c.Warning {
				log.Warn("a comment looks like an attempt to give orders", "comment", c.ID, "pattern", pattern)
			}
		}
	case *event.MessageAdded:
		if b.Purpose == event.CommentsMessage {
			log.Info("processing comments", "comments", b.Comments)
		}
	case *event.ContextAwaiting:
		log.Info("comments processed, waiting for an answer", "rounds", b.Rounds)
	case *event.ContextInherited:
		if b.Skipped { // seeds/002 §9
			log.Warn("an earlier context is not taken over", "reason", b.Reason)
			return
		}
		log.Info("previous context", "from", b.From, "reason", b.Reason)
	case *event.ContextCompleted:
		if b.Reason == event.EndKeyword {
			log.Info("completion keyword detected")
		}
		log.Info("marking as completed", "reason", b.Reason)
	}
}

// logFailure writes what did not work. A tool that ran and reported an error is the
// model's affair, and not one of them.
func logFailure(log *slog.Logger, ev event.Event) {
	warn := func(message string, args ...any) { log.Warn(message, append([]any{"seq", ev.Seq}, args...)...) }
	switch b := ev.Body.(type) {
	case *event.LLMFailed:
		warn("model call failed", "kind", b.Kind, "status", b.Status, "error", b.Message, "next", next(b))
	case *event.ToolFailed:
		warn("tool call failed", "kind", b.Kind, "error", b.Message, "next", "reported to the model")
	case *event.ToolInterrupted:
		warn("tool call interrupted", "error", b.Reason, "next", "not repeated; reported to the model")
	case *event.CommentFailed:
		warn("comment not written", "kind", b.Kind, "error", b.Message)
	case *event.LabelsFailed:
		warn("labels not changed", "kind", b.Kind, "error", b.Message)
	case *event.ChangeFailed:
		warn("change not published", "kind", b.Kind, "error", b.Message, "pushed", b.Pushed, "patch", !b.Patch.IsZero())
	case *event.WorkspacePrepared:
		if b.Error != "" {
			warn("no working copy", "error", b.Error)
		}
	case *event.ProjectRead:
		if b.Error != "" {
			warn("rules and files of the project could not be read", "error", b.Error)
		}
	case *event.ChangeMeasured:
		if b.Error != "" {
			warn("change could not be measured", "error", b.Error)
		}
	}
}

// next is what is done about a model call that failed.
func next(b *event.LLMFailed) string {
	if b.NotBefore.IsZero() {
		return "decided anew"
	}
	return "tried again at " + b.NotBefore.Local().Format("15:04:05 MST")
}

// logBegin and logEnd frame the work of this process on a context.
func logBegin(log *slog.Logger, s *projections.State) {
	log.Info("work begins", "title", s.Created.Title, "state", s.Status)
}

func logEnd(log *slog.Logger, s *projections.State, seconds float64, err error) {
	log = log.With("state", s.Status, "model_calls", s.Usage.LLMCalls, "tool_calls", s.Usage.ToolCalls, "tokens", s.Usage.Tokens(),
		"usd", s.Usage.CostUSD, "seconds", seconds)
	if s.Publishing.Opened != nil {
		log = log.With("change", s.Publishing.Opened.URL)
	}
	switch {
	case err != nil:
		log.Warn("work interrupted", "error", err, "next", "the next run goes on with it")
	case s.Status == projections.Failed:
		log.Warn("work ends")
	default:
		log.Info("work ends")
	}
}
