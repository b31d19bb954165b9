// Package policy decides what only rounds and the engine can be asked: which item
// becomes a task ([Begin]), what wakes a paused or waiting one ([Wake]), who took a
// task away ([TakenAway]), and which comments count ([Classify]).
//
// The functions are pure. Facts cost requests to the forge, so nobody reads them
// all beforehand: a function that must know more answers with a [Need], the caller
// reads that fact and asks again. Without a need the answer is final.
package policy

import "agent/forge"

// Need is a fact that a decision lacks.
type Need int

const (
	Nothing    Need = iota // the decision is made
	Task                   // the item as it is on the forge now
	Comments               // its comments
	Labeller               // who set the label
	Self                   // whether an account is the agent's own
	Permission             // what an account may do in the project
	Reactions              // who reacted with a thumb up to the plan that waits for an approval
	Listed                 // whether the list of items with the paused label shows it
)

// Item is what decisions see of an item on the forge.
type Item struct {
	Kind    forge.Kind
	State   string // open, closed, merged, …
	Labels  []string
	Private bool // only members see the project
}

// Open reports whether the item can be worked on.
func (i Item) Open() bool { return i.State == "open" }

// ItemOf takes what matters from a task.
func ItemOf(t forge.Task) Item {
	return Item{Kind: t.Key.Kind, State: t.State, Labels: t.Labels, Private: t.Private}
}

// Trigger is the first of the trigger labels that the item carries, "" if none.
func (i Item) Trigger(triggers []string) string {
	for _, t := range triggers {
		if i.Kind.Carries(i.Labels, t) {
			return t
		}
	}
	return ""
}
