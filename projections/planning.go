package projections

import (
	"slices"

	"agent/eventlog/event"
)

// Names of the phases, as phase.entered has them.
const (
	Understanding = "understanding"
	Information   = "information"
	Assumption    = "assumption"
	PlanPhase     = "planning"
	Execution     = "execution"
	Reflection    = "reflection"
	Revision      = "revision"
	Replanning    = "replanning"
	Verification  = "verification"
)

// Clarification is the reason of a wait for the answer to a question.
const Clarification = "clarification"

// Planning is where a context that works by a plan stands. Every counter that
// limits something is here, so no pause, kill or change of the plan resets it.
type Planning struct {
	Phase   string // entered last
	Sub     string // the phase of pre-planning that was entered last
	Entered uint64 // seq of that
	Open    bool   // its result is still to come
	Seq     uint64 // of the latest event that changed anything here

	Understanding *event.Understanding
	Needs         *event.Needs
	Found         map[string]*Found // by need

	Plan    *event.Plan
	Actions []Action // in the order in which they are done
	Current int      // index of the action that is being done, -1: none
	Started uint64   // seq of its beginning
	Begun   int      // actions that were begun, repeated ones included
	Turns   int      // replies in the current action, else in the phase
	Hit     bool     // the tool that the current action names has succeeded in it
	Ran     bool     // some tool has succeeded in it
	Fault   string   // the latest error of a tool in it, empty after a success

	Trouble   *Trouble       // a failure that was not dealt with yet
	Since     int            // actions that ended since the latest reflection
	Reflect   bool           // people wrote, or the task was edited: look at the plan again
	Revise    string         // the plan is to be revised: what asked for it
	Proposed  event.Revision // how, if that is known already
	Lost      bool           // an action failed for good, or the model sees no way on
	Review    string         // phase after which a decision on replanning is due
	Questions []string       // to people, not answered yet
	Asked     uint64         // seq of the wait for their answer, 0: not waiting

	Posted   Proposal      // the plan that people were asked about last
	Posts    int           // how often they were asked
	Approved *PlanApproval // nil: no plan was approved since

	Rounds   int    // of verification
	Verified bool   // the latest one passed, and nothing was added since
	Words    string // the model's latest evaluation, for people
	Counts   Counts
}

// Action is an action of the plan and how it went.
type Action struct {
	event.Action
	Status  string // "", success or failed
	Detail  string
	Retries int
	Added   bool // by a verification or a replan decision
}

// Found is what became of a need.
type Found struct {
	Status     string // collected | failed | assumed | gap
	Summary    string
	Tries      int
	OK         bool // the latest try succeeded
	Assumption *event.Assumption
}

// Trouble is a failed action or verification.
type Trouble struct {
	Action    int // index, -1: a verification
	Reflected bool
}

// Counts bounds how often a plan is changed.
type Counts struct {
	Revisions      int            // that a reflection or a decision for a plan_revision asked for
	Reflected      int            // that a reflection asked for
	Clarifications int            // rounds of questions
	Decompositions int            // task_redecomposition, goal_revision and full_replan
	Regenerations  int            // action_regeneration
	Partial        int            // partial_replan
	Retries        int            // of actions
	Total          int            // replans that were carried out
	Triggers       map[string]int // target_phase:replan_type → how often carried out
}

func newPlanning() Planning {
	return Planning{Current: -1, Found: map[string]*Found{}, Counts: Counts{Triggers: map[string]int{}}}
}

// Action gives the current action, or nil.
func (p *Planning) Action() *Action {
	if p.Current < 0 || p.Current >= len(p.Actions) {
		return nil
	}
	return &p.Actions[p.Current]
}

// Next is the index of the first action that was not done yet, or -1.
func (p *Planning) Next() int {
	return slices.IndexFunc(p.Actions, func(a Action) bool { return a.Status == "" })
}

// Count gives how many actions ended with a status.
func (p *Planning) Count(status string) (n int) {
	for _, a := range p.Actions {
		if a.Status == status {
			n++
		}
	}
	return n
}
