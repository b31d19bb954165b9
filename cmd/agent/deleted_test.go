package main

import (
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/internal/app"
	"agent/internal/config"
	"agent/projections"
)

// TestDeletedComment notices at a resume that a comment is gone which was read before.
func TestDeletedComment(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hanging(1, greet()))
	gone := w.forge.AddComment(testRepo, 1, "alice", "Said-and-withdrawn.")
	w.forge.AddComment(testRepo, 1, "alice", "Said-and-kept.")
	uuid := w.pausedByCommand()
	w.forge.DeleteComment(testRepo, gone)
	w.agent(0, "resume", uuid)
	w.agent(0, "run")
	w.wantDone(1, w.only())
	deleted := 0
	for _, ev := range w.events(uuid) {
		if f, ok := ev.Body.(*event.CommentsFetched); ok && f.Reason == "resume" {
			for _, c := range f.Comments {
				if c.Verdict == "deleted" {
					deleted++
				}
			}
		}
	}
	if ids := w.fold(uuid).Comments.IDs(); deleted != 1 || len(ids) == 0 {
		t.Errorf("%d deleted comments were noticed, known are %v", deleted, ids)
	}
}

// TestExpiredPause ends a pause that nobody ended for the configured days.
func TestExpiredPause(t *testing.T) {
	r := &round{system: &system{App: &app.App{Config: config.Default()}}}
	r.Config.PauseResume.PausedTaskExpiryDays = 30
	old, young := projections.NewState(), projections.NewState()
	old.PausedAt, young.PausedAt = time.Now().AddDate(0, 0, -31), time.Now().AddDate(0, 0, -29)
	if !r.expired(old) || r.expired(young) {
		t.Error("a pause of 31 days has not expired, or one of 29 has")
	}
	r.Config.PauseResume.PausedTaskExpiryDays = 0
	if r.expired(old) {
		t.Error("it expires although nothing does")
	}
}
