package rounds

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"agent/eventlog/event"
	"agent/mcp"
)

// Pulse knows what goes on and since when: the look at what there is to do, and each job.
// What waits by intent, as a loop between two looks, is not in it.
type Pulse struct {
	mu    sync.Mutex
	steps map[string]step
}

// step is the latest one of something, and how long the next may take.
type step struct {
	at   time.Time
	most time.Duration
}

const (
	theLook    = "the look for tasks"
	looksFor   = 30 * time.Minute // thousands of repositories, on a forge that is slow
	stepTakes  = 30 * time.Minute // a clone, a push, setup commands; a model call takes more on top
	callsMore  = 10 * time.Minute // than a call of a tool may take by itself
	heartbeats = 3                // signs of life in the time in which one is due
)

// beat notes that something took a step.
func (p *Pulse) beat(what string, most time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.steps == nil {
		p.steps = map[string]step{}
	}
	p.steps[what] = step{time.Now(), most}
}

// end notes that something is over, or waits by intent.
func (p *Pulse) end(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.steps, what)
}

// Stuck names what has taken no step for too long.
func (p *Pulse) Stuck(now time.Time) (all []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, what := range slices.Sorted(maps.Keys(p.steps)) {
		if s := p.steps[what]; now.Sub(s.at) > s.most {
			all = append(all, fmt.Sprintf("%s: no step for %s", what, now.Sub(s.at).Round(time.Second)))
		}
	}
	return all
}

// mayTake is how long the step after an event may take.
func (s *Rounds) mayTake(body event.Body) time.Duration {
	switch body.(type) {
	case *event.ToolRequested:
		return mcp.LongestCall + callsMore
	case *event.LLMRequested:
		return stepTakes + time.Duration(s.Config.LLM.TimeoutSeconds)*time.Second
	}
	return stepTakes
}

// signs gives signs of life to whom the service is of, as long as everything goes on.
func (s *Rounds) signs(ctx context.Context) {
	every := s.Service.Watchdog() / heartbeats
	if every <= 0 {
		return
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if stuck := s.pulse.Stuck(time.Now()); len(stuck) == 0 {
			s.Service.Alive()
		} else {
			s.Log.Error("the watchdog gets no sign of life", "stuck", stuck)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
