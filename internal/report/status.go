package report

import (
	"cmp"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"agent/contexts"
	"agent/forge"
	"agent/internal/cluster"
	"agent/internal/config"
	"agent/internal/i18n"
	"agent/projections"
)

// Status is what `status --json` prints. Its zero parts are empty, not null.
type Status struct {
	Healthy     bool            `json:"healthy"`
	Problems    []string        `json:"problems"`  // the agent does not work
	Attention   []string        `json:"attention"` // it does, but somebody has to do something
	Counts      map[string]int  `json:"counts"`    // by state
	Running     []StatusContext `json:"running"`
	Interrupted []StatusContext `json:"interrupted"` // a process was killed; the next round resumes them
	Waiting     []StatusContext `json:"waiting"`     // paused and awaiting
	Damaged     []StatusContext `json:"damaged"`
	Refused     []StatusContext `json:"refused"` // ended, but the forge did not take a last comment or label
	Today       Spending        `json:"today"`
	Forges      []ForgeScan     `json:"forges"`
	Round       time.Time       `json:"round_ended_at,omitzero"`
	Paused      bool            `json:"pause_signal"`
	Workers     []cluster.Info  `json:"workers,omitempty"` // of the cluster
	Cluster     *ClusterHealth  `json:"cluster,omitempty"`

	Fault *contexts.FaultSeen `json:"fault,omitempty"` // of the machine: it ended the latest round that began or resumed tasks

	silent error // of the cluster, which did not name its workers
}

// StatusContext is one context that has not ended, or cannot be read.
type StatusContext struct {
	UUID     string    `json:"uuid"`
	TaskKey  string    `json:"task_key"`
	Title    string    `json:"title"`
	State    string    `json:"state"`
	Started  time.Time `json:"created_at,omitzero"`
	Last     time.Time `json:"updated_at,omitzero"`
	Event    string    `json:"event,omitempty"` // type of the last event
	Reason   string    `json:"reason,omitempty"`
	Until    string    `json:"until,omitempty"`   // what ends the pause: signal | person | comment, or a time
	Because  string    `json:"because,omitempty"` // the reason in words
	Stuck    bool      `json:"stuck,omitempty"`   // see [NeedsPerson]
	outage   bool      // see [WaitsForModel]
	operator bool      // see [NeedsOperator]
	forge    string    // host
	Resume   bool      `json:"resume_requested,omitempty"`
	Error    string    `json:"error,omitempty"`
	Refused  []string  `json:"refused,omitempty"` // the last writes that the forge did not take, and why
}

// Spending is what all contexts spent today. A limit of 0 means there is none.
type Spending struct {
	Day        string  `json:"day"` // UTC
	Tokens     int     `json:"tokens"`
	CostUSD    float64 `json:"cost_usd"`
	MaxTokens  int     `json:"max_tokens"`
	MaxCostUSD float64 `json:"max_cost_usd"`
}

// ForgeScan is the latest scan of a forge.
type ForgeScan struct {
	Host      string    `json:"host"`
	Time      time.Time `json:"scanned_at,omitzero"`
	Success   time.Time `json:"succeeded_at,omitzero"` // the latest scan without an error
	Found     int       `json:"found"`                 // labelled items of that one
	Error     string    `json:"error,omitempty"`       // of the latest scan
	distances contexts.HostScan
}

func scanOf(host string, h contexts.HostScan) ForgeScan {
	return ForgeScan{Host: host, Time: h.Time, Success: h.Success, Found: h.Found, Error: h.Error, distances: h}
}

// checkedEnded is how many of the contexts that ended last status looks at. Rounds and
// `agent verify` look at all.
const checkedEnded = 1000

// Status reads the logs that have not ended, and asks the index for the others. maxAge
// is how old the latest successful scan of a forge may be; 0: by the distance of
// the latest ones. [Source.Complete] adds what takes longer.
func (s Source) Status(maxAge time.Duration) (*Status, error) {
	r := &Status{Problems: []string{}, Attention: []string{}, Counts: map[string]int{}, Running: []StatusContext{}, Interrupted: []StatusContext{},
		Waiting: []StatusContext{}, Damaged: []StatusContext{}, Refused: []StatusContext{}, Forges: []ForgeScan{}}
	if err := s.contexts(r); err != nil {
		return nil, err
	}
	scan, err := s.Store.Scan()
	if err != nil {
		return nil, err
	}
	r.Round, r.Paused, r.Fault = scan.Round, s.Paused, scan.Fault
	s.workers(r)
	for _, f := range s.Config.Forges() {
		if f.Scoped() {
			r.Forges = append(r.Forges, scanOf(f.Host(), scan.Hosts[f.Host()]))
			continue
		}
		if s.Config.File() == "" {
			r.Problems = append(r.Problems, s.text("status.nofile"))
			continue
		}
		r.Problems = append(r.Problems, s.text("status.unscoped", f.Host()))
	}
	for i, c := range r.Interrupted {
		if seen, ok := scan.Of(c.TaskKey); ok && seen.Outcome == contexts.Failed && seen.Time.After(c.Last) {
			r.Interrupted[i].Because = seen.Reason
		}
	}
	s.find(r, maxAge)
	r.Healthy = len(r.Problems) == 0 && len(r.Damaged) == 0
	return r, nil
}

// workers adds the machines of the cluster, without which nothing is done.
func (s Source) workers(r *Status) {
	if !s.Config.Cluster.Shared() {
		return
	}
	var err error
	if r.Workers, err = s.Store.Workers(); err != nil {
		r.silent = err
		r.Problems = append(r.Problems, s.text("status.cluster.silent", err))
	} else if len(r.Workers) == 0 {
		r.Problems = append(r.Problems, s.text("status.cluster.none", s.Config.Cluster.Name))
	}
}

// Complete adds what was spent, for which it may have to read the logs of a day, and how the
// servers of the cluster are.
func (s Source) Complete(r *Status) error {
	s.health(r)
	day := contexts.Day(s.Now)
	tokens, usd, err := s.Store.Spent(day)
	r.Today = Spending{day, tokens, usd, s.Config.Limits.MaxTokensPerDay, s.Config.Limits.MaxCostUSDPerDay}
	return err
}

// contexts folds the live ones and counts the others.
func (s Source) contexts(r *Status) error {
	var live []contexts.Entry
	for entry, err := range s.Store.Unfinished() {
		if err != nil {
			s.Warn(err)
			continue
		}
		live = append(live, entry)
	}
	for _, line := range s.statusOfAll(live) {
		if !projections.Status(line.State).Ended() { // else its directory is behind, and the index counts it
			r.Counts[line.State]++
			r.list(line)
		}
	}
	counts, checked, err := s.Store.Ended(checkedEnded)
	if err != nil {
		return err
	}
	for state, n := range counts {
		r.Counts[state] += n
	}
	for _, i := range checked {
		switch {
		case i.State == contexts.StateDamaged:
			r.Damaged = append(r.Damaged, StatusContext{UUID: i.UUID, TaskKey: i.TaskKey, Title: i.Title, State: i.State, Error: i.Err.Error()})
		case i.Refused:
			r.list(s.statusOf(contexts.Entry{UUID: i.UUID, Dir: contexts.Completed}))
		}
	}
	lost, err := s.Store.Lost()
	for _, uuid := range lost {
		if slices.ContainsFunc(r.Damaged, func(c StatusContext) bool { return c.UUID == uuid }) {
			continue
		}
		r.Counts[contexts.StateDamaged]++
		r.Damaged = append(r.Damaged, StatusContext{UUID: uuid, State: contexts.StateDamaged, Error: (&contexts.LostError{UUID: uuid}).Error()})
	}
	return err
}

// Interrupted is the state of a context that is running by its log, but that no process holds.
const Interrupted = "interrupted"

func (r *Status) list(line StatusContext) {
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

// statusOfAll is statusOf for many, on all processors.
func (s Source) statusOfAll(entries []contexts.Entry) []StatusContext {
	lines := make([]StatusContext, len(entries))
	var wait sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wait.Go(func() {
			for i := w; i < len(entries); i += workers {
				lines[i] = s.statusOf(entries[i])
			}
		})
	}
	wait.Wait()
	return lines
}

// statusOf folds a context, unless it waits and a note says how.
func (s Source) statusOf(e contexts.Entry) StatusContext {
	uuid := e.UUID
	if e.Dir == contexts.Paused {
		if n := Sleeping(s.Store, uuid, s.Version, s.Lang); n != nil {
			return s.asleep(n)
		}
	}
	log := s.fold(uuid, nil)
	state := log.state
	line := StatusContext{UUID: uuid, State: string(state.Status), Started: state.Started, Last: state.Now}
	if state.Created != nil {
		line.TaskKey, line.Title, line.forge = state.Key.String(), state.Created.Title, state.Created.Forge
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
	line.State = stateOf(s.Store, uuid, line.State)
	if log.err != nil {
		line.State, line.Error = "damaged", log.err.Error()
	}
	return line
}

// asleep is statusOf from a note.
func (s Source) asleep(n *Sleeper) StatusContext {
	state := n.Waiter.State()
	line := StatusContext{UUID: state.Created.UUID, TaskKey: state.Key.String(), Title: state.Created.Title, State: string(state.Status),
		Started: state.Started, Last: state.Now, Event: n.Event, forge: state.Created.Forge}
	line.Reason, line.Until = WaitsFor(state)
	s.explain(&line, state)
	line.Because = n.Because
	return line
}

// explain says in words why a context waits. One with a resume request waits for
// nobody: the next run takes it.
func (s Source) explain(line *StatusContext, state *projections.State) {
	pending, _ := s.Store.Pending(line.UUID) // what cannot be read is no signal
	_, line.Resume = pending[contexts.Resume]
	line.Resume = line.Resume || state.Resume != nil
	line.outage, line.operator = WaitsForModel(state), NeedsOperator(state)
	line.Because, line.Stuck = Because(state, s.Lang), NeedsPerson(state) && !line.Resume && !s.OfTry(*line)
}

// faultTold is true for a refusal of the model server while the task is paused that says so.
func (s Source) faultTold(r *Status) bool {
	return r.Fault.Class == "model" && slices.ContainsFunc(r.Waiting, func(c StatusContext) bool { return !s.OfTry(c) && strings.HasPrefix(c.Reason, "model_") })
}

// FaultLine says what is wrong with the machine, and since when that is known.
func (s Source) FaultLine(r *Status) string {
	return s.text("status.fault", Age(s.Now.Sub(r.Fault.Time)), r.Fault.Text)
}

// find names what a supervisor has to know, and apart from it what a person of a task has to do.
func (s Source) find(r *Status, maxAge time.Duration) {
	person, operator, outage := 0, 0, 0
	for _, line := range r.Waiting {
		switch {
		case s.OfTry(line): // whoever started it knows
		case line.outage:
			outage++
		case line.Stuck && line.operator:
			operator++
		case line.Stuck:
			person++
		}
	}
	for id, n := range map[i18n.ID]int{"status.damaged": len(r.Damaged), "status.stuck": person} {
		if n > 0 {
			r.Attention = append(r.Attention, s.text(id, n))
		}
	}
	slices.Sort(r.Attention)
	if r.Fault != nil && !s.faultTold(r) {
		r.Problems = append(r.Problems, s.FaultLine(r))
	}
	if outage > 0 {
		r.Problems = append(r.Problems, s.text("status.outage", outage))
	}
	if operator > 0 {
		r.Problems = append(r.Problems, s.text("status.operator", operator))
	}
	r.Problems = append(r.Problems, s.missedScans(r, maxAge)...)
	r.Problems = append(r.Problems, s.unserved(r)...)
}

// patience is how long the latest successful scan of a forge may be ago: three times
// the distance of such scans, as the configuration and the latest of them have it.
func (s Source) patience(f ForgeScan) time.Duration {
	return max(3*time.Duration(s.Config.Loop.IntervalSeconds)*time.Second, 3*f.distances.Distance(), 5*time.Minute)
}

// missedScans names the forges that were not scanned successfully for too long.
func (s Source) missedScans(r *Status, maxAge time.Duration) (all []string) {
	for _, f := range r.Forges {
		patience := cmp.Or(maxAge, s.patience(f))
		// A round ends with its longest task, so no scan is due while one is running.
		working := patience + time.Duration(s.Config.LLM.TimeoutSeconds)*time.Second
		if slices.ContainsFunc(r.Running, func(c StatusContext) bool { return s.Now.Sub(c.Last) < working }) {
			continue
		}
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

// OfTry reports whether a context is one of `agent try`, which no run takes.
func (s Source) OfTry(c StatusContext) bool {
	return forge.OfTry(c.forge) && !slices.ContainsFunc(s.Config.Forges(), func(f config.Forge) bool { return f.Host() == c.forge })
}

// unserved names the forges of live contexts that are not configured any more: no run
// works on those.
func (s Source) unserved(r *Status) (all []string) {
	left := map[string]int{}
	for _, c := range slices.Concat(r.Running, r.Interrupted, r.Waiting) {
		if c.forge != "" && !s.OfTry(c) && !slices.ContainsFunc(r.Forges, func(f ForgeScan) bool { return f.Host == c.forge }) {
			left[c.forge]++
		}
	}
	for _, host := range slices.Sorted(maps.Keys(left)) {
		all = append(all, s.text("status.unserved", left[host], host))
	}
	return all
}
