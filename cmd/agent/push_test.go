package main

import (
	"os"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/forge/forgetest"
	"agent/internal/exhaustive"
)

// TestPushRefused: a protected branch, an account that may not write, and a forge
// that fails for a while.
func TestPushRefused(t *testing.T) {
	t.Parallel()
	for name, c := range exhaustive.SampleMap(map[string]struct {
		kind string
		hurt func(*talk)
		says string
	}{
		"protected": {kinds[2], func(c *talk) {
			must(c.t, os.WriteFile(c.path("origin.git", "hooks", "pre-receive"), []byte("#!/bin/sh\necho protected branch\nexit 1\n"), 0o700))
		}, "refused the push"},
		"no permission": {kinds[0], func(c *talk) {
			c.fault(forgetest.Fault{Path: `.*/git-receive-pack|.*info/refs`, Nth: 3, Times: -1, Kind: forgetest.Answer, Status: 403, Body: "no"})
		}, "refused the push"},
		"head branch is gone": {kinds[3], func(c *talk) { c.git("branch", "-D", headBranch) }, "no longer exists"},
	}, 3) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var talk *talk
			talk = newTalk(t, c.kind, then(greet(), 1, func() { c.hurt(talk) }))
			talk.agent(0, "run")
			talk.wantState("completed", doneLabel)
			body := talk.wantSaid(1, "✅ **Done**")
			if !strings.Contains(body, c.says) {
				t.Error(body)
			}
			if !strings.Contains(body, "`change.patch`") {
				t.Error(body)
			}
			talk.wantPatch()
			if n := len(find[*event.ChangeFailed](talk.events(talk.only().UUID))); n != 1 {
				t.Errorf("%d failures are recorded", n)
			}
		})
	}
	t.Run("token is refused for a while", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, kinds[0], greet())
		c.fault(forgetest.Fault{Path: `.*/git-receive-pack|.*info/refs`, Nth: 3, Times: -1, Kind: forgetest.Answer, Status: 401, Body: "no"})
		for range 6 { // more runs than a forge may be silent for, within seconds
			c.agent(78, "run")
		}
		c.forge.ClearFaults()
		c.agent(0, "run")
		c.wantState("completed", doneLabel)
		c.wantPublished()
		if n := len(c.opened()); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
	t.Run("down for a while", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, kinds[0], greet())
		c.fault(forgetest.Fault{Path: `.*/git-receive-pack`, Kind: forgetest.StoreDrop}) // pushed, and nobody knows
		c.agent(0, "run")
		c.wantState("completed", doneLabel)
		c.wantPublished()
		if n := len(c.opened()); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

// TestFork: of a request from a fork the change is a patch in a comment.
func TestFork(t *testing.T) {
	t.Parallel()
	c := newTalk(t, kinds[1], greet())
	c.pushes("main", "theirs.txt", "by a stranger")
	c.git("update-ref", "refs/pull/1/head", "main")
	c.git("update-ref", "refs/heads/main", "main~1")
	c.world.forge.SetHeadOwner(testRepo, 1, "mallory")
	before := c.git("for-each-ref")
	c.agent(0, "run")
	l := c.wantState("completed", doneLabel)
	body := c.wantSaid(1, "✅ **Done**")
	if !strings.Contains(body, "is in a fork") || !strings.Contains(body, "+hello") || strings.Contains(body, "by a stranger") {
		t.Error(body)
	}
	if after := c.git("for-each-ref"); after != before {
		t.Errorf("something was pushed: %s", after)
	}
	if s := c.fold(l.UUID); s.Workspace.Commit != strings.TrimSpace(c.git("rev-parse", "refs/pull/1/head")) {
		t.Errorf("the work began at %s", s.Workspace.Commit)
	}
	c.wantPatch()
}

// TestHeadIsDefaultBranch: a request that brings the default branch elsewhere does
// not make the agent push there.
func TestHeadIsDefaultBranch(t *testing.T) {
	exhaustive.Only(t)
	t.Parallel()
	w := emptyWorld(t, greet())
	w.git("branch", "release", "main")
	w.forge.AddRepository(testRepo, forgetest.Repository{Private: true, Git: w.path("origin.git")})
	c := &talk{w, &onGitHub{w: w, pull: true, number: w.forge.AddPullRequest(testRepo, "Release", "Greet, too.", "alice", "main", "release", botLabel)}}
	before := c.git("for-each-ref")
	c.agent(0, "run")
	c.wantExact(c.wantState("completed", doneLabel).UUID)
	if body := c.wantSaid(1, "✅ **Done**"); !strings.Contains(body, "is the default branch") || !strings.Contains(body, "+hello") {
		t.Error(body)
	}
	if after := c.git("for-each-ref"); after != before {
		t.Errorf("something was pushed: %s", after)
	}
	c.wantPatch()
}

// TestConfidential: what a confidential issue says does not show on a branch that
// more people see.
func TestConfidential(t *testing.T) {
	t.Parallel()
	for name, public := range map[string]bool{"public": true, "private": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := openTalk(t, kinds[2], greet(), public)
			c.permit("alice")
			c.labelAs("alice", botLabel)
			c.thread.(*onGitLab).item.Hide()
			c.agent(0, "run")
			c.wantExact(c.wantState("completed", doneLabel).UUID)
			body := c.wantSaid(1, "✅ **Done**")
			if held := strings.Contains(body, "is confidential") && strings.Contains(body, "+hello"); held != public {
				t.Error(body)
			}
			if pushed := c.git("for-each-ref", "refs/heads/agent") != ""; pushed == public || (len(c.opened()) > 0) == public {
				t.Errorf("pushed: %v, requests %+v", pushed, c.opened())
			}
		})
	}
}
