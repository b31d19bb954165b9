package rounds

import (
	"context"

	"agent/contexts"
	"agent/internal/app"
)

// leftOver names items that carry the processing label though nothing here
// works on them: what did is gone, or works elsewhere (seeds/001 §5.1). Only a
// person can tell which, so nothing is changed.
func (r *round) leftOver(ctx context.Context, at app.Site) {
	label := at.Config.ProcessingLabel
	tasks, err := at.Client.ListTasks(ctx, label)
	if err != nil {
		return // the forge's troubles are said where the tasks are listed
	}
	for _, t := range tasks {
		key := t.Key.String()
		if r.isLive(key) {
			continue
		}
		now, err := at.Client.Task(ctx, t.Key) // it may have ended since it was listed
		if err != nil || !t.Key.Kind.Carries(now.Labels, label) || r.isLive(key) {
			continue
		}
		reason := r.text("seen.leftover", label, at.Config.BotLabel)
		r.voice.Note(r.text("round.left", key, reason))
		r.saw(key, contexts.Skipped, reason, "")
	}
}

// isLive is also true if it cannot be told.
func (r *round) isLive(taskKey string) bool {
	_, live, err := r.Store.Active(taskKey)
	return live || err != nil
}
