package main

import (
	"testing"

	"agent/eventlog/event"
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
				if c.Verdict == event.DeletedComment {
					deleted++
				}
			}
		}
	}
	if ids := w.fold(uuid).Comments.IDs(); deleted != 1 || len(ids) == 0 {
		t.Errorf("%d deleted comments were noticed, known are %v", deleted, ids)
	}
}
