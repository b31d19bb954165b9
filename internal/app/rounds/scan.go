package rounds

import (
	"cmp"
	"errors"
	"sync"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/forge"
	"agent/internal/app"
	"agent/internal/i18n"
	"agent/projections"
)

// sightings collects what a round sees until it is written to scan.json.
type sightings struct {
	mu   sync.Mutex
	scan contexts.Scan
}

// saw notes what was made of an item, and why.
func (r *round) saw(taskKey, result, reason, uuid string) {
	r.seen.mu.Lock()
	defer r.seen.mu.Unlock()
	safe, _ := r.Redact.String(reason)
	r.seen.scan.Items = append(r.seen.scan.Items,
		contexts.Sighting{TaskKey: taskKey, Time: time.Now().UTC(), Outcome: result, Reason: safe, UUID: uuid})
}

// scanned notes the scan of a forge. It is written at once: whoever looks at the forge
// next waits for a free worker first.
func (r *round) scanned(host string, found int, err error) {
	h := contexts.HostScan{Time: time.Now().UTC(), Found: found}
	if err != nil {
		h.Error, _ = r.Redact.String(err.Error())
	} else {
		h.Success = h.Time
	}
	r.seen.mu.Lock()
	if r.seen.scan.Hosts == nil {
		r.seen.scan.Hosts = map[string]contexts.HostScan{}
	}
	r.seen.scan.Hosts[host] = h
	r.seen.mu.Unlock()
	r.writeScan()
}

// tellTurns says once that new tasks may wait for the turn of their project.
func (s *Rounds) tellTurns(at app.Site) {
	c, ok := at.Client.(forge.InTurns)
	if !ok {
		return
	}
	if within := c.EachWithin(); within > 0 {
		s.turns.Do(func() {
			s.Log.Warn("the forge does not list the items of all projects: each is asked in its turn", "forge", at.Host, "each_within", within.Round(time.Minute))
		})
	}
}

// becauseOf says why a task is begun.
func (r *round) becauseOf(trigger string) string { return r.text("seen.by." + i18n.ID(trigger)) }

// wokenBy says why a context goes on. One that nothing had to wake was interrupted.
func (r *round) wokenBy(wake event.Body) string {
	switch b := wake.(type) {
	case *event.ResumeRequested:
		return r.text("wake." + i18n.ID(b.By))
	case *event.StopRequested:
		return r.text("wake." + i18n.ID(b.By))
	case *event.StatusRequested:
		return r.text("wake.status")
	case *event.LimitRaised:
		return r.text("wake.budget")
	case *event.TimerFired:
		return r.text("wake.timeout")
	}
	return r.text("wake.interrupted")
}

// waits notes a look at a context that nothing wakes yet.
func (r *round) waits(s *projections.State, because string) {
	if s.Created == nil {
		return
	}
	if s.Status == projections.Paused {
		r.mu.Lock()
		r.summary.Paused++
		r.mu.Unlock()
	}
	uuid := s.Created.UUID
	r.saw(s.Created.TaskKey, contexts.Waiting, because, uuid)
	r.seen.mu.Lock()
	defer r.seen.mu.Unlock()
	if r.seen.scan.Polls == nil {
		r.seen.scan.Polls = map[string]contexts.Poll{}
	}
	r.seen.scan.Polls[uuid] = contexts.Poll{Count: 1, Last: time.Now().UTC()}
}

// keyOf is the task key of a job, as its context has it if there is one.
func (r *round) keyOf(j job) string {
	if j.uuid != "" {
		if first, err := r.Store.Creation(j.uuid); err == nil {
			return first.TaskKey
		}
	}
	return j.key.String()
}

// sawTrouble notes why a job came to nothing.
func (r *round) sawTrouble(j job, err error) {
	key := r.keyOf(j)
	var fault *Fault
	switch {
	case key == "":
	case errors.As(err, &fault):
		r.saw(key, contexts.Skipped, err.Error(), j.uuid)
	case errors.Is(err, contexts.ErrBusy):
		r.saw(key, contexts.Busy, r.text("seen.busy"), j.uuid)
	default:
		r.saw(key, contexts.Failed, err.Error(), j.uuid)
	}
}

// sawFault notes why the round ended, for `agent status`.
func (r *round) sawFault(f *Fault) {
	if r.ofTry() {
		return // it says so to whoever started it
	}
	safe, _ := r.Redact.String(f.Error())
	r.seen.mu.Lock()
	defer r.seen.mu.Unlock()
	r.seen.scan.Fault = &contexts.FaultSeen{Time: time.Now().UTC(), Class: f.Class, Text: safe}
}

// sawSound forgets the fault of an earlier round if this one looked and found none.
func (r *round) sawSound() {
	r.mu.Lock()
	sound := r.sound && r.fault == nil && !r.ofTry()
	r.mu.Unlock()
	if !sound {
		return
	}
	r.seen.mu.Lock()
	defer r.seen.mu.Unlock()
	r.seen.scan.Fault = &contexts.FaultSeen{}
}

// endLook writes the rest of what was seen.
func (r *round) endLook() {
	r.sawSound()
	r.seen.mu.Lock()
	r.seen.scan.Round = time.Now().UTC()
	r.seen.mu.Unlock()
	r.writeScan()
}

// writeScan writes what was noted since the last time. Nothing depends on it.
func (r *round) writeScan() {
	r.seen.mu.Lock()
	scan := r.seen.scan
	r.seen.scan = contexts.Scan{}
	r.seen.mu.Unlock()
	if r.noted.put(scan, r.looping) {
		r.writeNotes()
	}
}

// scanEvery is how often a loop writes times and counts that alone have changed.
const scanEvery = time.Minute

// noted are the notes of a process that were not written yet, and what it has written.
type noted struct {
	mu            sync.Mutex
	kept, written contexts.Scan
	at            time.Time
}

// put keeps notes, and tells whether they are to be written now.
func (n *noted) put(scan contexts.Scan, looping bool) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	fault := cmp.Or(scan.Fault, n.kept.Fault) // one without a class ends what is written
	n.kept.Add(scan)
	n.kept.Fault = fault
	return !looping || time.Since(n.at) >= scanEvery || n.written.News(scan)
}

func (n *noted) take() (scan contexts.Scan) {
	n.mu.Lock()
	defer n.mu.Unlock()
	scan, n.kept, n.at = n.kept, contexts.Scan{}, time.Now()
	n.written.Add(scan)
	return scan
}

func (s *Rounds) writeNotes() {
	if err := s.Store.Note(s.noted.take()); err != nil {
		s.Log.Warn("scan.json could not be written", "error", err)
	}
}
