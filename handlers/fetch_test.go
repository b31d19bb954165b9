package handlers

import (
	"strings"
	"testing"

	"agent/eventlog/event"
)

// TestUnreadComments: notify_fetch_failure holds for periodic looks too. People learn
// once that new comments could not be read, in words that do not speak of a pause.
func TestUnreadComments(t *testing.T) {
	for _, notify := range []bool{false, true} {
		w := newWorld(t, "json",
			text(`{"command":{"tool":"ws/read_file","args":{"path":"a"}}}`), text(`{"command":{"tool":"ws/read_file","args":{"path":"b"}}}`),
			text(`{"command":{"tool":"ws/read_file","args":{"path":"c"}}}`), text(`{"done":true,"comment":"Fixed."}`))
		w.tools["ws/read_file"] = &event.ToolReplied{Content: event.T("x")}
		w.state.Config.Comments.Interval, w.state.Config.Comments.Notify = 1, notify
		w.unheard = true
		out := w.run()
		want := 0
		if notify {
			want = 1
		}
		if n := strings.Count(out, "comment.requested  fetch"); n != want {
			t.Errorf("notify %v: told %d times, want %d:\n%s", notify, n, want, out)
		}
		if n := strings.Count(out, "comments.fetched   periodic"); n < 3 {
			t.Errorf("it looked %d times", n)
		}
	}
}
