package main

import (
	"fmt"
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/forge/forgetest"
	"agent/internal/exhaustive"
)

// TestClocksApart talks with a forge whose clock is up to a day off: an answer to a
// comment is lost, the author writes while it waits, a process is killed, and a label
// wakes it. Nothing is doubled, and nothing stays unread.
func TestClocksApart(t *testing.T) {
	t.Parallel()
	type apart struct {
		kind  string
		ahead time.Duration
	}
	var all []apart
	for i, ahead := range []time.Duration{-24 * time.Hour, -6 * time.Minute, 6 * time.Minute, 24 * time.Hour, 0} {
		all = append(all, apart{kinds[i%2*2], ahead}, apart{kinds[2-i%2*2], ahead})
	}
	for _, tt := range exhaustive.Sample(all, 5) {
		t.Run(fmt.Sprint(tt.kind, " ", tt.ahead), func(t *testing.T) {
			t.Parallel()
			c := newTalk(t, tt.kind, followUps)
			c.ahead(tt.ahead)
			c.extra = followUp
			c.fault(forgetest.Fault{Method: "POST", Path: c.listPath(), Kind: forgetest.StoreDrop, Times: 2})
			c.step(2, "awaiting", awaitingLabel)
			c.wantSaid(1, "✅ **Done** @alice")

			c.say("alice", "Said-waiting: another line, please.")
			p := c.start("run")
			c.awaitCalls(3)
			p.kill()
			c.agent(0, "run")
			wantTold(t, c.model.Requests()[len(c.model.Requests())-1], map[string]int{"Said-waiting:": 1})
			c.wantState("awaiting", awaitingLabel)
			c.wantSaid(2, "✅ **Done** @alice")

			c.label(botLabel)
			c.agent(0, "run")
			l := c.wantState("awaiting", awaitingLabel)
			resumed := find[*event.ResumeRequested](c.events(l.UUID))
			if last := resumed[len(resumed)-1]; last.By != "label" || last.Event == "" {
				t.Errorf("the label did not wake it: %+v", last)
			}
			c.wantExact(l.UUID)
		})
	}
}

// ahead sets the forge's clock apart from the machine's.
func (c *talk) ahead(d time.Duration) {
	switch g := c.thread.(type) {
	case *onGitHub:
		g.w.forge.Ahead(d)
	case *onGitLab:
		g.server.Ahead(d)
	}
}
