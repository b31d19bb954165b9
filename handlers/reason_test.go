package handlers

import (
	"strings"
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/handlers/format"
	"agent/internal/i18n"
	"agent/projections"
)

// said is the text of the latest comment of a purpose that was asked for.
func (w *world) said(purpose string) string {
	for i := len(w.all) - 1; i >= 0; i-- {
		if c, ok := w.all[i].(*event.CommentRequested); ok && c.Purpose == purpose {
			return c.Body.View()
		}
	}
	w.t.Fatalf("no comment of purpose %s", purpose)
	return ""
}

func wants(t *testing.T, text string, with, without []string) {
	t.Helper()
	for _, part := range with {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in:\n%s", part, text)
		}
	}
	for _, part := range without {
		if strings.Contains(text, part) {
			t.Errorf("%q is in:\n%s", part, text)
		}
	}
}

// What a comment says and what Reason says of the same rest or end.
func TestReasons(t *testing.T) {
	command := text(`{"command":{"comment":"I look.","tool":"ws/read_file","args":{"path":"a.go"}}}`)
	write := text(`{"command":{"comment":"I write.","tool":"ws/write_file","args":{"path":"a.go"}}}`)
	done := text(`{"done":true,"comment":"Fixed."}`)
	unchecked := "No command was run"
	tests := map[string]struct {
		purpose       string
		world         func(*testing.T) *world
		with, without []string // of the comment
		reason        string
		detail        string
	}{
		"pause by command": {"paused", func(t *testing.T) *world {
			w := newWorld(t, "json", command, done)
			w.before["2"] = []event.Body{&event.PauseRequested{By: "command"}}
			return w
		}, []string{"agent resume"}, []string{"ignal"}, "somebody asked for a pause. Run `agent resume` to continue", ""},
		"pause by signal": {"paused", func(t *testing.T) *world {
			w := newWorld(t, "json", command, done)
			w.before["2"] = []event.Body{&event.PauseRequested{By: "signal_file"}}
			return w
		}, []string{"signal"}, []string{"agent resume"}, "the pause signal is set. Remove that file to continue", ""},
		"limit": {"paused", func(t *testing.T) *world {
			w := newWorld(t, "json", command, done)
			w.state.Config.Limits.MaxTokens = 100
			return w
		}, []string{"tokens of a task", "110 of 100"}, nil,
			"the limit of tokens of a task was reached (110 of 100 used). To grant the same amount again, somebody with write access sets the label again, comments `agent approve`, or runs `agent resume`", ""},
		"bad key": {"paused", func(t *testing.T) *world { return newWorld(t, "json", failed("auth", 0)) },
			[]string{"`no`"}, []string{"see below"}, i18n.Text(i18n.En, "why.model_auth"), "no"},
		"out of reach": {"paused", func(t *testing.T) *world { return newWorld(t, "json", failed("rate_limited", time.Hour)) },
			[]string{"resumes automatically"}, nil, "the model is not answering. Work resumes automatically after 2026-01-02 04:04:05 UTC", "no"},
		"labels": {"paused", func(t *testing.T) *world {
			w := newWorld(t, "json", done)
			w.denied = true
			return w
		}, []string{"`no permission`"}, nil, i18n.Text(i18n.En, "why.labels"), "no permission"},
		"unusable": {"failed", func(t *testing.T) *world { return newWorld(t, "json", text("<think>x</think>I am a teapot.")) },
			[]string{"The latest reply: `I am a teapot.`"}, []string{unchecked}, i18n.Text(i18n.En, "why.unusable_replies"), "I am a teapot."},
		"refused": {"paused", func(t *testing.T) *world { return newWorld(t, "json", failed("invalid", 0)) },
			[]string{"`no`"}, []string{"latest reply"}, i18n.Text(i18n.En, "why.model_invalid"), "no"},
		"stop": {"stopped", func(t *testing.T) *world {
			w := newWorld(t, "json", command, command)
			w.before["2"] = []event.Body{&event.StopRequested{By: "command", Reason: "enough"}}
			return w
		}, []string{"enough"}, []string{unchecked}, "a person ran `agent stop`", "enough"},
		"call limit": {"completed", func(t *testing.T) *world {
			w := newWorld(t, "json", command)
			w.state.Config.Limits.MaxCalls = 1
			return w
		}, nil, []string{unchecked}, i18n.Text(i18n.En, "end.max_calls"), ""},
		"done": {"completed", func(t *testing.T) *world { return newWorld(t, "json", command, done) },
			[]string{unchecked}, []string{"working directory"}, "the model reported that it is done", ""},
		"done in place": {"completed", func(t *testing.T) *world {
			w := newWorld(t, "json", write, done)
			w.second = "write_file"
			return w
		},
			[]string{"working directory `w` ", "not committed"}, []string{"/w"}, "the model reported that it is done", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := test.world(t)
			for _, tool := range []string{"ws/read_file", "ws/write_file"} {
				w.tools[tool] = &event.ToolReplied{Content: event.T("ok")}
			}
			w.run()
			wants(t, w.said(test.purpose), test.with, test.without)
			if reason, detail := Reason(w.state, i18n.En); reason != test.reason || detail != test.detail {
				t.Errorf("the reason is %q, %q", reason, detail)
			}
			if ja, _ := Reason(w.state, i18n.Ja); i18n.Detect(ja) != i18n.Ja {
				t.Errorf("in Japanese: %q", ja)
			}
		})
	}
}

// A word that a newer release wrote has a reason as well, and a run has none.
func TestReasonOfTheUnknown(t *testing.T) {
	s := projections.NewState()
	s.Status = projections.Running
	if reason, _ := Reason(s, i18n.En); reason != "" {
		t.Errorf("running: %q", reason)
	}
	s.Status, s.Paused = projections.Paused, &event.ContextPaused{Reason: "full_moon", Until: event.Until{Kind: "person"}}
	if reason, _ := Reason(s, i18n.En); reason != i18n.Text(i18n.En, "why.other") {
		t.Errorf("unknown: %q", reason)
	}
	for x, want := range map[float64]string{3: "3", 1e6: "1000000", 0.039999999: "0.04", 12.5: "12.5"} {
		if got := format.Number(x); got != want {
			t.Errorf("%v: %s", x, got)
		}
	}
}
