package main

import (
	"os"
	"slices"
	"syscall"
	"time"

	"agent/forge/forgetest"
	"agent/internal/world"
)

// provocations do to a machine what a fault that must be found does not bear. By build tag.
var provocations = map[string]func(s *soak, n int, p *process){
	"nofence":      (*soak).provokeAppend,
	"noleasecheck": (*soak).provokeEffect,
}

// provoke does nothing else to a machine.
func (s *soak) provoke(n int) {
	p := s.startOn(n, "loop", "--interval", "1")
	for s.pause(100 * time.Millisecond) {
		provocations[s.wrong](s, n, p)
	}
	p.kill()
}

// provokeAppend lets a worker sleep until others have taken over. The answer of the model
// is there when it wakes up, and it would append that.
func (s *soak) provokeAppend(_ int, p *process) {
	if s.stopIn(p, []string{"llm.requested"}) {
		s.pause(2*s.lease + time.Second)
		_ = p.cmd.Process.Signal(syscall.SIGCONT)
		s.count(func(c *counts) { c.stops++; c.effects++ })
	}
}

// provokeEffect cuts a worker off that posts a comment, for longer than its lease. The
// forge takes so long that another worker looks for the comment before it is there.
func (s *soak) provokeEffect(n int, p *process) {
	posts := slices.ContainsFunc(openLogs(p.cmd.Process.Pid), func(path string) bool {
		f, err := os.Open(path)
		if err != nil {
			return false
		}
		defer f.Close()
		return lastType(f) == "comment.requested"
	})
	if posts {
		s.machines[n].network.silence(true)
		s.pause(3 * s.lease)
		s.machines[n].network.silence(false)
		s.count(func(c *counts) { c.cuts++ })
	}
}

// slowForges take their time for comments. A client that goes away ends the wait.
func (s *soak) slowForges() {
	for _, f := range []world.Forge{s.world.Forge, s.world.Beside} {
		f.Fault(forgetest.Fault{Method: "POST", Path: ".*/(comments|notes)", Times: -1, Kind: forgetest.Slow, Delay: 2*s.lease + time.Second})
		defer f.ClearFaults()
	}
	<-s.over
}
