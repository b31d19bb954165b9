package main

import (
	"errors"
	"syscall"
	"time"
)

// connects is how long a worker that starts may look for its servers before it gives up.
const connects = 25 * time.Second

// worker is another machine of the cluster, to which all happens that can happen to one.
func (s *soak) worker(n int) {
	for more := true; more; {
		p, began := s.startOn(n, "loop", "--interval", "1"), time.Now()
		for more = s.between(3*time.Second, 15*time.Second); more && s.random(3) > 0; more = s.between(3*time.Second, 10*time.Second) {
			s.harm(n, p)
		}
		switch killed := p.kill(); {
		case killed:
			s.count(func(c *counts) { c.kills++ })
		case p.code == 75 && p.ended.Sub(began) < connects: // all the servers were down
		default:
			s.problem("worker %d ended by itself with %d: %s", n, p.code, tail(p.out.String()))
		}
	}
}

// harm does something bad to a machine for a while.
func (s *soak) harm(n int, p *process) {
	m := s.machines[n]
	s.setAway(m, true)
	defer s.setAway(m, false)
	switch s.random(7) {
	case 0:
		s.sleepy(p)
	case 1, 2:
		s.sleepyInEffect(p)
	case 3:
		m.network.cut(true)
		s.longer()
		m.network.cut(false)
		s.count(func(c *counts) { c.cuts++ })
	case 4:
		m.network.silence(true)
		s.longer()
		m.network.silence(false)
		s.count(func(c *counts) { c.cuts++ })
	case 5:
		s.fullDisk(n)
	case 6:
		s.partition(m)
	}
	if s.random(2) == 0 {
		if err := s.step(n); err != nil {
			s.problem("%v", err)
		}
		s.count(func(c *counts) { c.steps++ })
	}
}

// partition takes the network away from a machine for longer than its lease. Without a network of its
// own it is cut off from the servers only.
func (s *soak) partition(m *machine) {
	if m.space.pid == 0 {
		m.network.silence(true)
		s.longer()
		m.network.silence(false)
		s.count(func(c *counts) { c.cuts++ })
		return
	}
	err := m.space.connect(false)
	s.longer()
	if err = errors.Join(err, m.space.connect(true)); err != nil {
		s.problem("%v", err)
	}
	s.count(func(c *counts) { c.partitions++ })
}

// longer waits for longer than a lease, now and then for a minute.
func (s *soak) longer() {
	if s.length > 4*time.Minute && s.random(8) == 0 {
		s.pause(time.Minute)
		return
	}
	s.between(s.lease+time.Second, 2*s.lease+5*time.Second)
}

// sleepy stops a worker for longer than its lease.
func (s *soak) sleepy(p *process) {
	_ = p.cmd.Process.Signal(syscall.SIGSTOP)
	s.longer()
	_ = p.cmd.Process.Signal(syscall.SIGCONT)
	s.count(func(c *counts) { c.stops++ })
}

// sleepyInEffect does so between an intent and its outcome.
func (s *soak) sleepyInEffect(p *process) {
	kinds := []string{"llm.requested", "tool.requested", "comment.requested", "labels.requested", "change.requested"}
	if s.random(3) > 0 {
		kinds = kinds[2:] // what others see
	}
	if !s.stopIn(p, kinds) {
		return
	}
	s.longer()
	_ = p.cmd.Process.Signal(syscall.SIGCONT)
	s.count(func(c *counts) { c.stops++; c.effects++ })
}

func (s *soak) fullDisk(n int) {
	m := s.machines[n]
	if m.holder == nil {
		return
	}
	empty, err := m.fill(s.storeOf(n))
	if err != nil {
		s.problem("machine %d: %v", n, err)
		return
	}
	s.longer()
	empty()
	s.count(func(c *counts) { c.full++ })
}

func (s *soak) setAway(m *machine, away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.away = away
}

// anyMachine is one that answers.
func (s *soak) anyMachine() int {
	if s.nodes == nil {
		return 0
	}
	n := s.random(s.workers)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.machines[n].away {
		return 0
	}
	return n
}
