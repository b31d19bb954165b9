package projections

import (
	"time"

	"agent/eventlog/event"
	"agent/forge"
)

// Waiter is the part of a State by which it is decided what wakes a context that is
// paused or waits for people. It is small however long the log is, and can be kept
// beside it as JSON: package policy decides the same from both.
type Waiter struct {
	Seq      uint64                 `json:"seq"`
	Now      time.Time              `json:"now"`
	Started  time.Time              `json:"started"`
	Created  *event.ContextCreated  `json:"created"`
	Key      address                `json:"key"`
	Item     string                 `json:"item"`
	Home     string                 `json:"home"`
	Names    *event.Labels          `json:"names"` // nil: no configuration is in the log
	Task     bool                   `json:"task"`  // it was read
	Author   string                 `json:"author"`
	Assigned bool                   `json:"assigned"`
	Labels   []string               `json:"labels"`
	Status   Status                 `json:"status"`
	Paused   *event.ContextPaused   `json:"paused"`
	PausedAt time.Time              `json:"paused_at"`
	Wait     *event.ContextAwaiting `json:"wait"`
	Before   Before                 `json:"before"`
	Measured bool                   `json:"measured"`
	Tree     string                 `json:"tree"` // of the change that was measured
	Plan     Proposal               `json:"plan"` // that people were asked about last
	Seen     map[string]string      `json:"seen"` // hashes of comments by id
	Own      map[string]bool        `json:"own"`
	Obeyed   Obeyed                 `json:"obeyed"`
	Limits   event.Limits           `json:"limits"`
	Grants   map[string]float64     `json:"grants"`
	Usage    Usage                  `json:"usage"`
}

// address is a TaskKey whose JSON holds all of it.
type address forge.TaskKey

// WaiterOf takes it out of a state.
func WaiterOf(s *State) Waiter {
	w := Waiter{Seq: s.Seq, Now: s.Now, Started: s.Started, Created: s.Created, Key: address(s.Key), Item: s.Item, Home: s.Home, Labels: s.Labels, Status: s.Status,
		Plan: s.Planning.Posted, Paused: s.Paused, PausedAt: s.PausedAt, Wait: s.Wait, Before: s.Before, Seen: s.Comments.seen, Own: s.Comments.own,
		Obeyed: s.Obeyed, Grants: s.Grants, Usage: s.Usage}
	if s.Config != nil {
		w.Names, w.Limits = &s.Config.Labels, s.Config.Limits
	}
	if s.Task != nil {
		w.Task, w.Author, w.Assigned = true, s.Task.Author, s.Task.Assigned
	}
	if m := s.Publishing.Measured; m != nil {
		w.Measured, w.Tree = true, m.Tree
	}
	return w
}

// State makes a state that knows this and nothing else.
func (w *Waiter) State() *State {
	s := NewState()
	s.Started = w.Started
	s.Seq, s.Now, s.Created, s.Key, s.Item, s.Home, s.Labels, s.Status = w.Seq, w.Now, w.Created, forge.TaskKey(w.Key), w.Item, w.Home, w.Labels, w.Status
	s.Paused, s.PausedAt, s.Wait, s.Before = w.Paused, w.PausedAt, w.Wait, w.Before
	s.Planning.Posted = w.Plan
	s.Obeyed, s.Usage = w.Obeyed, w.Usage
	if w.Grants != nil {
		s.Grants = w.Grants
	}
	if w.Seen != nil {
		s.Comments.seen = w.Seen
	}
	if w.Own != nil {
		s.Comments.own = w.Own
	}
	if w.Names != nil {
		s.Config = &event.ConfigPinned{Labels: *w.Names, Limits: w.Limits}
	}
	if w.Task {
		s.Task = &event.TaskFetched{Author: w.Author, Assigned: w.Assigned}
	}
	if w.Measured {
		s.Publishing.Measured = &event.ChangeMeasured{Tree: w.Tree}
	}
	return s
}
