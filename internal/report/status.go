package report

import (
	"slices"
	"strings"
	"time"

	"agent/contexts"
	"agent/projections"
)

// Status is what `status --json` prints. Its zero parts are empty, not null.
type Status struct {
	Healthy     bool            `json:"healthy"`
	Problems    []string        `json:"problems"`
	Counts      map[string]int  `json:"counts"` // by state
	Running     []StatusContext `json:"running"`
	Interrupted []StatusContext `json:"interrupted"` // a process was killed; the next round resumes them
	Waiting     []StatusContext `json:"waiting"`     // paused and awaiting
	Damaged     []StatusContext `json:"damaged"`
	Refused     []StatusContext `json:"refused"` // ended, but the forge did not take a last comment or label
	Today       Spending        `json:"today"`
	Forges      []ForgeScan     `json:"forges"`
	Round       time.Time       `json:"last_round,omitzero"`
	Paused      bool            `json:"pause_signal"`

	Fault *contexts.FaultSeen `json:"fault,omitempty"` // of the machine: it ended the latest round that began or resumed tasks
}

// StatusContext is one context that has not ended, or cannot be read.
type StatusContext struct {
	UUID    string    `json:"uuid"`
	TaskKey string    `json:"task_key"`
	Title   string    `json:"title"`
	State   string    `json:"state"`
	Started time.Time `json:"started,omitzero"`
	Last    time.Time `json:"last_event,omitzero"`
	Event   string    `json:"event,omitempty"` // type of the last event
	Reason  string    `json:"reason,omitempty"`
	Until   string    `json:"until,omitempty"`   // what ends the pause: signal | person | comment, or a time
	Because string    `json:"because,omitempty"` // the reason in words
	Stuck   bool      `json:"stuck,omitempty"`   // see [NeedsPerson]
	outage  bool      // see [WaitsForModel]
	Resume  bool      `json:"resume_requested,omitempty"`
	Error   string    `json:"error,omitempty"`
	Refused []string  `json:"refused,omitempty"` // the last writes that the forge did not take, and why
}

// Spending is what all contexts spent today. A limit of 0 means there is none.
type Spending struct {
	Day        string  `json:"day"` // UTC
	Tokens     int     `json:"tokens"`
	CostUSD    float64 `json:"cost_usd"`
	MaxTokens  int     `json:"max_tokens"`
	MaxCostUSD float64 `json:"max_cost_usd"`
}

type ForgeScan struct {
	Host string `json:"host"`
	contexts.HostScan
}

// Status reads every log that has not ended.
func (s Source) Status() (*Status, error) {
	r := &Status{Problems: []string{}, Counts: map[string]int{}, Running: []StatusContext{}, Interrupted: []StatusContext{}, Waiting: []StatusContext{},
		Damaged: []StatusContext{}, Refused: []StatusContext{}, Forges: []ForgeScan{}}
	for _, entry := range s.entries() {
		r.count(s.statusOf(entry))
	}
	day := contexts.Day(s.Now)
	tokens, usd, err := s.Store.Spent(day)
	if err != nil {
		return nil, err
	}
	r.Today = Spending{day, tokens, usd, s.Config.Limits.MaxTokensPerDay, s.Config.Limits.MaxCostUSDPerDay}
	scan, err := s.Store.Scan()
	if err != nil {
		return nil, err
	}
	r.Round, r.Paused, r.Fault = scan.Round, s.Paused, scan.Fault
	for _, f := range s.Config.Forges() {
		r.Forges = append(r.Forges, ForgeScan{f.Host(), scan.Hosts[f.Host()]})
	}
	r.Problems = append(r.Problems, s.problems(r)...)
	r.Healthy = len(r.Problems) == 0
	return r, nil
}

// Interrupted is the state of a context that is running by its log, but that no process holds.
const Interrupted = "interrupted"

func (r *Status) count(line StatusContext) {
	r.Counts[line.State]++
	switch line.State {
	case "completed", "stopped", "failed":
		if len(line.Refused) > 0 {
			r.Refused = append(r.Refused, line)
		}
	case "running":
		r.Running = append(r.Running, line)
	case Interrupted:
		r.Interrupted = append(r.Interrupted, line)
	case "paused", "awaiting":
		r.Waiting = append(r.Waiting, line)
	case "damaged":
		r.Damaged = append(r.Damaged, line)
	}
}

// statusOf folds a context that has not ended, or whose forge refused something. In
// the log of any other, every byte is checked but nothing is decoded: there may be
// very many.
func (s Source) statusOf(entry contexts.Entry) StatusContext {
	if entry.Dir == contexts.Completed {
		state, refused, err := s.ending(entry.UUID)
		switch {
		case err != nil:
			return StatusContext{UUID: entry.UUID, State: "damaged", Error: err.Error()}
		case !refused:
			return StatusContext{UUID: entry.UUID, State: state}
		}
	}
	log := s.fold(entry.UUID, nil)
	state := log.state
	line := StatusContext{UUID: entry.UUID, State: string(state.Status), Started: state.Started, Last: state.Now}
	if state.Created != nil {
		line.TaskKey, line.Title = state.Created.TaskKey, state.Created.Title
	}
	if log.last.Body != nil {
		line.Event = log.last.Body.Type()
	}
	line.Reason, line.Until = WaitsFor(state)
	if state.Status.Ended() {
		line.Refused = Refused(state)
	}
	if line.Until != "" {
		s.explain(&line, state)
	}
	line.State = stateOf(s.Store, entry.UUID, line.State)
	if log.err != nil {
		line.State, line.Error = "damaged", log.err.Error()
	}
	return line
}

// explain says in words why a context waits. One with a resume request waits for
// nobody: the next run takes it.
func (s Source) explain(line *StatusContext, state *projections.State) {
	pending, _ := s.Store.Pending(line.UUID) // what cannot be read is no signal
	_, line.Resume = pending[contexts.Resume]
	line.Resume = line.Resume || state.Resume != nil
	line.outage = WaitsForModel(state)
	line.Because, line.Stuck = Because(state, s.Lang), NeedsPerson(state) && !line.Resume
}

var endings = map[string]string{"context.completed": "completed", "context.stopped": "stopped", "context.failed": "failed"}

// ending reads how a context ended, and whether the forge refused a comment or labels.
func (s Source) ending(uuid string) (state string, refused bool, err error) {
	state = "running" // by its log; the next run moves its directory
	for rec, err := range s.Store.Records(uuid) {
		if err != nil && !contexts.IsTorn(err) {
			return "", false, err
		}
		kind := string(rec.Type)
		if end := endings[kind]; err == nil && end != "" {
			state = end
		}
		refused = refused || err == nil && (kind == "comment.failed" || kind == "labels.failed")
	}
	return state, refused, nil
}

// faultTold is true for a refusal of the model server while the task is paused that says so.
func (r *Status) faultTold() bool {
	return r.Fault.Class == "model" && slices.ContainsFunc(r.Waiting, func(c StatusContext) bool { return strings.HasPrefix(c.Reason, "model_") })
}

// FaultLine says what is wrong with the machine, and since when that is known.
func (s Source) FaultLine(r *Status) string {
	return s.text("status.fault", Age(s.Now.Sub(r.Fault.Time)), r.Fault.Text)
}

// problems finds what a supervisor has to know.
func (s Source) problems(r *Status) (all []string) {
	if r.Fault != nil && !r.faultTold() {
		all = append(all, s.FaultLine(r))
	}
	if n := len(r.Damaged); n > 0 {
		all = append(all, s.text("status.damaged", n))
	}
	stuck, outage := 0, 0
	for _, line := range r.Waiting {
		if line.Stuck {
			stuck++
		}
		if line.outage {
			outage++
		}
	}
	if outage > 0 {
		all = append(all, s.text("status.outage", outage))
	}
	if stuck > 0 {
		all = append(all, s.text("status.stuck", stuck))
	}
	return append(all, s.missedScans(r)...)
}

// missedScans names the forges without a successful scan for three intervals of
// the loop, five minutes at least.
func (s Source) missedScans(r *Status) (all []string) {
	patience := max(3*time.Duration(s.Config.Loop.IntervalSeconds)*time.Second, 5*time.Minute)
	// A round ends with its longest task, so no scan is due while one is running.
	working := patience + time.Duration(s.Config.LLM.TimeoutSeconds)*time.Second
	if slices.ContainsFunc(r.Running, func(c StatusContext) bool { return s.Now.Sub(c.Last) < working }) {
		return nil
	}
	for _, f := range r.Forges {
		seen := f.Success
		if r.Paused && r.Round.After(seen) {
			seen = r.Round // nothing is scanned while the pause signal is set
		}
		switch age := s.Now.Sub(seen); {
		case seen.IsZero():
			all = append(all, s.text("status.never", f.Host))
		case age > patience:
			all = append(all, s.text("status.stale", f.Host, Age(age)))
		}
	}
	return all
}
