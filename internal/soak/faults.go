package main

import (
	"time"

	"agent/forge/forgetest"
	"agent/internal/world"
	"agent/llm/llmtest"
)

// outages let one of the forges or the model fail for a while, again and again.
func (s *soak) outages() {
	for s.between(3*time.Second, 12*time.Second) {
		span := time.Second + time.Duration(s.random(int(3*time.Second)))
		if s.length > 4*time.Minute && s.random(8) == 0 {
			span *= 8
		}
		if n := s.random(3); n < 2 {
			s.forgeFails([]world.Forge{s.world.Forge, s.world.Beside}[n], span)
		} else {
			s.modelFails(span)
		}
	}
}

func (s *soak) forgeFails(f world.Forge, span time.Duration) {
	fault := []forgetest.Fault{
		{Kind: forgetest.Store500}, {Kind: forgetest.Store502HTML}, {Kind: forgetest.StoreDrop}, {Kind: forgetest.StoreGarbled},
		{Kind: forgetest.Drop}, {Kind: forgetest.Secondary, RetryAfter: time.Second},
		{Kind: forgetest.Primary, RetryAfter: span}, {Kind: forgetest.TooMany, RetryAfter: span},
	}[s.random(8)]
	fault.Times = -1
	switch limit := fault.RetryAfter > 0; {
	case limit && fault.Kind != forgetest.TooMany:
		fault.Path = "[^.]*" // of the API: git is refused with 429, and 403 is no limit there
	case !limit && s.random(2) == 0:
		fault.Method = "POST"
	}
	s.count(func(c *counts) {
		if c.outages++; fault.RetryAfter > 0 {
			c.limits++
		}
	})
	f.Fault(fault)
	s.pause(span)
	f.ClearFaults()
}

func (s *soak) modelFails(span time.Duration) {
	reset := time.Now().Add(span)
	s.model.fail([]func() llmtest.Reply{
		func() llmtest.Reply { return llmtest.ServerError(503) },
		func() llmtest.Reply { return llmtest.RateLimit(time.Until(reset).Truncate(time.Second) + time.Second) },
		llmtest.Drop, llmtest.HTML,
	}[s.random(4)])
	s.count(func(c *counts) { c.outages++ })
	s.pause(span)
	s.model.fail(nil)
}
