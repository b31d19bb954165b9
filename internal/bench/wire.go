package main

import (
	"net"
	"sync"
	"time"
)

// stopwatch is a listener that measures, on the wire, how long a client takes
// from an answer to its next request: from the moment before the last write of
// a connection to the first bytes that any connection brings after it.
type stopwatch struct {
	net.Listener

	mu      sync.Mutex
	first   time.Time // when the first request came
	wrote   time.Time
	waiting bool // an answer was written since the last request
	gap     time.Duration
	read    time.Time
	served  time.Duration // from the last bytes of the latest request to its answer
}

func newStopwatch() *stopwatch {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	return &stopwatch{Listener: l}
}

// Accept gives a connection that is watched.
func (s *stopwatch) Accept() (net.Conn, error) {
	c, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &watched{c, s}, nil
}

// last is the time that the latest request took to come.
func (s *stopwatch) last() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gap
}

// server is the time that the server took for the latest answer: it is not to be felt in what is measured.
func (s *stopwatch) server() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.served
}

func (s *stopwatch) begin() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first
}

type watched struct {
	net.Conn
	s *stopwatch
}

func (c *watched) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	now := time.Now()
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if n == 0 {
		return n, err
	}
	c.s.read = now
	if c.s.first.IsZero() {
		c.s.first = now
	}
	if c.s.waiting {
		c.s.gap, c.s.waiting = now.Sub(c.s.wrote), false
	}
	return n, err
}

func (c *watched) Write(p []byte) (int, error) {
	c.s.mu.Lock()
	c.s.wrote = time.Now()
	if !c.s.waiting {
		c.s.served, c.s.waiting = c.s.wrote.Sub(c.s.read), true
	}
	c.s.mu.Unlock()
	return c.Conn.Write(p)
}
