package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"strings"

	"agent/eventlog/event"
	"agent/handlers"
	"agent/projections"
)

// Difference is a decision that is not what Next decides now.
type Difference struct {
	Seq       uint64
	Recorded  string // type and data in the log
	Decided   string // type and data of today's decision
	Decisions int    // version of the decisions that the log's process had
}

// Report is the result of a replay.
type Report struct {
	Events      int
	Decisions   int // marks and intents that were decided again
	Requests    int // model requests whose bytes were rebuilt and whose SHA-256 is right
	Forgotten   int // messages and requests that held a text which was forgotten, and cannot be rebuilt
	Differences []Difference
	State       *projections.State
	Files       map[string][]byte // the projection files, whole

	lacks bool // a text of the log was forgotten
}

// Replay folds every prefix of a log, asks Next again, and compares. It touches
// nothing outside. An error of the log ends it; see eventlog for the kinds.
func Replay(events iter.Seq2[event.Event, error]) (Report, error) {
	r := Report{State: projections.NewState(), Files: map[string][]byte{}}
	files := projections.Files{}
	for ev, err := range events {
		if err != nil {
			return r, err
		}
		r.Events++
		if err := r.compare(ev); err != nil {
			return r, err
		}
		r.lacks = r.lacks || event.Lacks(ev.Body)
		r.State.Apply(ev)
		for _, c := range files.Apply(r.State, ev) {
			if c.Replace {
				r.Files[c.Name] = nil
			}
			r.Files[c.Name] = append(r.Files[c.Name], c.Data...)
		}
	}
	return r, nil
}

// compare checks an event that was decided: a mark, an intent, or what a read gave.
func (r *Report) compare(ev event.Event) error {
	role := event.RoleOf(ev.Body)
	isInput := reads[ev.Body.Type()]
	if role == event.Outcome || (role == event.Input && !isInput) || r.State.Open != nil || unasked(r.State, ev.Body) {
		return nil
	}
	decided, err := decision(handlers.Next(r.State))
	if err != nil {
		return err
	}
	recorded := ev.Body.Type()
	if !isInput {
		if recorded, err = form(ev.Body); err != nil {
			return err
		}
	}
	r.Decisions++
	if r.lacks && decided != recorded && r.forgotten(ev) {
		return nil
	}
	if decided != recorded {
		r.differ(ev.Seq, recorded, decided)
	} else if _, ok := ev.Body.(*event.LLMRequested); ok {
		r.Requests++
	}
	return nil
}

// forgotten deals with what was made from a text that is not there any more:
// everything but that text, its hash and its length is compared.
func (r *Report) forgotten(ev event.Event) bool {
	decided := body(handlers.Next(r.State))
	alike := false
	switch was := ev.Body.(type) {
	case *event.MessageAdded:
		now, ok := decided.(*event.MessageAdded)
		alike = ok && was.Purpose == event.InheritedMessage && now.Purpose == was.Purpose && now.Role == was.Role
	case *event.SummaryAdded:
		now, ok := decided.(*event.SummaryAdded)
		alike = compacts(was) || ok && now.Purpose == was.Purpose && now.From == was.From && now.To == was.To && now.Computed == was.Computed
	case *event.LLMRequested:
		alike = compacts(was) || compacts(decided)
		if now, ok := decided.(*event.LLMRequested); ok {
			same := *now
			same.SHA256, same.Estimated = was.SHA256, was.Estimated
			alike = alike || same == *was
		}
	}
	if alike {
		r.Forgotten++
	}
	return alike
}

// compacts is true for the steps of a compaction. When they are due depends on
// how long everything is, also what was forgotten.
func compacts(b event.Body) bool {
	switch b := b.(type) {
	case *event.LLMRequested:
		return b.Purpose == "compaction"
	case *event.SummaryAdded:
		return b.Purpose == event.CompactionSummary
	}
	return false
}

// body is what an effect would append, or nil.
func body(e handlers.Effect) event.Body {
	switch e := e.(type) {
	case handlers.Record:
		return e.Body
	case handlers.Act:
		return e.Intent
	}
	return nil
}

// reads are the inputs that Next asks for.
var reads = map[string]bool{"task.fetched": true, "workspace.prepared": true, "project.read": true, "tools.listed": true,
	"comments.fetched": true, "context.inherited": true, "change.measured": true}

// unasked is true for what the engine notices by itself: a tool list that
// changed since the conversation began, and a limit of the day.
func unasked(s *projections.State, b event.Body) bool {
	switch b := b.(type) {
	case *event.ToolsListed:
		return s.Tools != nil
	case *event.LimitReached:
		return strings.HasSuffix(b.Limit, "_per_day")
	}
	return false
}

func (r *Report) differ(seq uint64, recorded, decided string) {
	version := 0
	if p := r.State.Process; p != nil {
		version = p.Decisions
	}
	r.Differences = append(r.Differences, Difference{seq, recorded, decided, version})
}

// decision renders an effect as what the log would hold.
func decision(e handlers.Effect) (string, error) {
	switch e := e.(type) {
	case handlers.Record:
		return form(e.Body)
	case handlers.Act:
		return form(e.Intent)
	case handlers.Read:
		return string(e.Want), nil
	case handlers.Wait:
		return "wait until " + e.Until.String(), nil
	case handlers.Idle:
		return "nothing to do", nil
	}
	panic(fmt.Sprintf("engine: no form of %T", e))
}

// form is the type and the data of a body as they are stored, large texts as hashes.
func form(b event.Body) (string, error) {
	data, err := event.Encode(b, false)
	if err != nil {
		return "", err
	}
	// A copy, because spilling changes the body; blobs are hashed, not written.
	clone, _, err := event.DecodeBody(b.Type(), event.Version(b), data)
	if err != nil {
		return "", err
	}
	if err := event.Spill(clone, hashOnly); err != nil {
		return "", err
	}
	if data, err = event.Encode(clone, false); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %s", b.Type(), data), nil
}

func hashOnly(data []byte) (string, error) {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}
