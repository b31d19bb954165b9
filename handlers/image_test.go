package handlers

import (
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/projections"
)

// TestMissingImage: an image that cannot be had pauses the task once it lasts. People are told once, and after a
// resume the work begins; what an earlier list of tools said counts no more.
func TestMissingImage(t *testing.T) {
	w := newWorld(t, "auto", text(`{"done":true,"comment":"Fixed."}`))
	w.missing = []event.Body{&event.ImageMissing{Message: "container: podman pull: no such image"},
		&event.ImageMissing{Message: "container: podman pull: no such image", Lasting: true}}
	w.rests = [][]event.Body{{&event.ResumeRequested{By: "command", Person: true}}}
	out := w.run()
	told := 0
	for _, b := range w.all {
		if c, ok := b.(*event.CommentRequested); ok && strings.Contains(c.Body.Inline, "container image") {
			told++
			if !strings.Contains(c.Body.Inline, "podman pull: no such image") || !strings.Contains(c.Body.Inline, "agent resume") {
				t.Errorf("told\n%s", c.Body.Inline)
			}
		}
	}
	if told != 1 || w.state.Status != projections.Completed || w.state.Image != nil {
		t.Errorf("told %d times, %s, %+v\n%s", told, w.state.Status, w.state.Image, out)
	}
}
