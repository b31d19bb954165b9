package rounds

import (
	"log/slog"

	"agent/eventlog/event"
	"agent/projections"
)

// logEvent writes an event to the application log: all of them at debug level,
// and at info level what people said and what the agent did about it (seeds/001 §3.5).
func (r *round) logEvent(task string, ev event.Event) {
	r.Log.Debug(projections.Describe(ev), "event", ev.Body.Type(), "seq", ev.Seq)
	log := r.Log.With(slog.String("task", task))
	switch b := ev.Body.(type) {
	case *event.CommentsFetched:
		for _, c := range b.Comments {
			if b.Reason != "start" && (c.Verdict == "new" || c.Verdict == "edited") {
				log.Info("new comment detected", "comment", c.ID, "author", c.Author)
			}
			for _, pattern := range c.Warning {
				log.Warn("a comment looks like an attempt to give orders", "comment", c.ID, "pattern", pattern)
			}
		}
	case *event.MessageAdded:
		if b.Purpose == "comments" {
			log.Info("processing comments", "comments", b.Comments)
		}
	case *event.ContextAwaiting:
		log.Info("comments processed, waiting for an answer", "rounds", b.Rounds)
	case *event.ContextInherited:
		log.Info("previous context", "from", b.From, "reason", b.Reason)
	case *event.ContextCompleted:
		if b.Reason == "keyword" {
			log.Info("completion keyword detected")
		}
		log.Info("marking as completed", "reason", b.Reason)
	}
}
