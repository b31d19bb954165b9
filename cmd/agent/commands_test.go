package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/llm/llmtest"
)

// reactions are those to a comment.
func (c *talk) reactions(id int64) []string {
	if g, ok := c.thread.(*onGitLab); ok {
		return g.item.Reactions(id)
	}
	return c.forge.Reactions(testRepo, id)
}

// TestCommandsInComments: while a task runs, somebody who may write pauses it in a comment, and a later comment lets it go on.
// A stranger's words, a quick action of GitLab, and a comment that is edited later have no effect; each command has
// one, also if the process is killed after it.
func TestCommandsInComments(t *testing.T) {
	t.Parallel()
	for kind, slash := range map[string]string{kinds[0]: "/", kinds[2]: "agent "} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			held := make(chan struct{})
			reply := write("hello.txt", "hello\n")
			reply.Until = held
			c := openTalk(t, kind, llmtest.Turns(reply, llmtest.Done("I wrote hello.txt.")), true)
			c.extra = "loop: {interval_seconds: 1}\nnew_comment_handling: {enabled: false}\n"
			c.permit("bob")
			c.relabel("bob")
			loop := c.start("loop")
			c.awaitCalls(1)
			called := time.Now()
			stranger := c.say("mallory", slash+"stop")
			if slash != "/" {
				c.say("bob", "/stop") // GitLab's own
			}
			paused := c.say("bob", slash+"pause")
			c.until("the next check of the task is due", func() bool { return time.Since(called) > 1200*time.Millisecond })
			close(held)
			c.until("it is paused", func() bool { return c.list(0)[0].State == "paused" })
			loop.kill()
			c.edit(stranger, slash+"stop")
			c.edit(paused, slash+"pause please")
			c.edit(paused, slash+"pause")
			loop = c.start("loop")
			resumed := c.say("bob", slash+"resume")
			c.until("it is done", func() bool { return c.list(0)[0].State == "completed" })
			c.endLoop(loop)
			var wishes []string
			for _, ev := range c.events(c.only().UUID) {
				switch b := ev.Body.(type) {
				case *event.PauseRequested:
					wishes = append(wishes, "pause by "+b.By+" "+b.Actor)
				case *event.ResumeRequested:
					wishes = append(wishes, "resume by "+b.By+" "+b.Actor)
				case *event.StopRequested:
					wishes = append(wishes, "stop by "+b.By+" "+b.Actor)
				}
			}
			if want := []string{"pause by comment bob", "resume by comment bob"}; !slices.Equal(wishes, want) {
				t.Errorf("%q, want %q", wishes, want)
			}
			for _, id := range []int64{paused, resumed} {
				if got := strings.Join(c.reactions(id), " "); !strings.Contains(got, "+1") && !strings.Contains(got, "thumbsup") {
					t.Errorf("comment %d has the reactions %q", id, got)
				}
			}
			if got := c.reactions(stranger); len(got) != 0 {
				t.Errorf("the stranger's comment has the reactions %q", got)
			}
		})
	}
}
