package main

import (
	"slices"
	"time"

	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/internal/app"
	"agent/internal/app/rounds"
	"agent/internal/config"
	"agent/projections"
)

// statusReport is what `status --json` prints.
type statusReport struct {
	Healthy     bool           `json:"healthy"`
	Problems    []string       `json:"problems"`
	Counts      map[string]int `json:"counts"` // by state
	Running     []statusLine   `json:"running"`
	Interrupted []statusLine   `json:"interrupted"` // a process was killed; the next round goes on
	Waiting     []statusLine   `json:"waiting"`     // paused and awaiting
	Damaged     []statusLine   `json:"damaged"`
	Today       statusDay      `json:"today"`
	Forges      []statusForge  `json:"forges"`
	Round       time.Time      `json:"last_round,omitzero"`
	Paused      bool           `json:"pause_signal"`
}

// statusLine is one context that did not end, or cannot be read.
type statusLine struct {
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
	Stuck   bool      `json:"stuck,omitempty"`   // it waits for a person who did not ask for that
	Resume  bool      `json:"resume_requested,omitempty"`
	Error   string    `json:"error,omitempty"`
}

// statusDay is today's spending over all contexts; a limit of 0 is none.
type statusDay struct {
	Day        string  `json:"day"` // UTC
	Tokens     int     `json:"tokens"`
	CostUSD    float64 `json:"cost_usd"`
	MaxTokens  int     `json:"max_tokens"`
	MaxCostUSD float64 `json:"max_cost_usd"`
}

type statusForge struct {
	Host string `json:"host"`
	contexts.HostScan
}

func (a *cli) statusCommand() *cobra.Command {
	asJSON, check := false, false
	cmd := &cobra.Command{
		Use: "status [--check]", Short: "Show how things stand", Args: cobra.NoArgs,
		Long: `status shows the contexts that did not end, what the paused ones wait for, today's
spending, and when each forge was scanned last. With --check it prints one line and exits
with 1 if something is wrong: no forge was scanned for 3 intervals of the loop (5 minutes
at least) while no context was being worked on, a context is damaged, or one is paused
until a person acts and nobody asked for that pause.`,
		Example: `  agent status
  agent status --check || systemctl restart agent
  agent status --json | jq .today`,
		RunE: func(*cobra.Command, []string) error {
			l, err := a.look(config.Offline())
			if err != nil {
				return err
			}
			report, err := l.status()
			if err != nil {
				return err
			}
			return l.printStatus(report, asJSON, check)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	cmd.Flags().BoolVar(&check, "check", false, "one line, and exit 1 if something is wrong")
	return cmd
}

func (l *looker) status() (*statusReport, error) {
	r := &statusReport{Problems: []string{}, Counts: map[string]int{}, Running: []statusLine{}, Interrupted: []statusLine{}, Waiting: []statusLine{},
		Damaged: []statusLine{}, Forges: []statusForge{}}
	for _, entry := range l.entries() {
		r.count(l.statusOf(entry))
	}
	day := contexts.Day(l.now)
	tokens, usd, err := l.store.Spent(day)
	if err != nil {
		return nil, err
	}
	r.Today = statusDay{day, tokens, usd, l.config.Limits.MaxTokensPerDay, l.config.Limits.MaxCostUSDPerDay}
	scan, err := l.store.Scan()
	if err != nil {
		return nil, err
	}
	r.Round, r.Paused = scan.Round, app.PauseSignal(l.config)
	for _, f := range l.config.Forges() {
		r.Forges = append(r.Forges, statusForge{f.Host(), scan.Hosts[f.Host()]})
	}
	l.judge(r)
	return r, nil
}

// interrupted is the state of a context that runs by its log, and that no process holds.
const interrupted = "interrupted"

func (r *statusReport) count(line statusLine) {
	r.Counts[line.State]++
	switch line.State {
	case "running":
		r.Running = append(r.Running, line)
	case interrupted:
		r.Interrupted = append(r.Interrupted, line)
	case "paused", "awaiting":
		r.Waiting = append(r.Waiting, line)
	case "damaged":
		r.Damaged = append(r.Damaged, line)
	}
}

// statusOf folds a context that did not end. Of one that did, every byte is
// checked but nothing is decoded: there may be very many.
func (l *looker) statusOf(entry contexts.Entry) statusLine {
	if entry.Dir == contexts.Completed {
		state, err := l.ending(entry.UUID)
		if err != nil {
			return statusLine{UUID: entry.UUID, State: "damaged", Error: err.Error()}
		}
		return statusLine{UUID: entry.UUID, State: state}
	}
	g := l.glance(entry.UUID, nil)
	s := g.state
	line := statusLine{UUID: entry.UUID, State: string(s.Status), Started: s.Started, Last: s.Now}
	if s.Created != nil {
		line.TaskKey, line.Title = s.Created.TaskKey, s.Created.Title
	}
	if g.last.Body != nil {
		line.Event = g.last.Body.Type()
	}
	line.Reason, line.Until = waitsFor(s)
	if line.Until != "" {
		l.explain(&line, s)
	}
	if held, err := l.store.Locked(entry.UUID); line.State == "running" && err == nil && !held {
		line.State = interrupted
	}
	if g.err != nil {
		line.State, line.Error = "damaged", g.err.Error()
	}
	return line
}

// explain says in words why a context rests. One that was resumed waits for
// nobody: the next run takes it.
func (l *looker) explain(line *statusLine, s *projections.State) {
	pending, _ := l.store.Pending(line.UUID) // what cannot be read is no signal
	_, line.Resume = pending[contexts.Resume]
	line.Resume = line.Resume || s.Resume != nil
	line.Because, line.Stuck = rounds.Because(s, l.lang), rounds.NeedsPerson(s) && !line.Resume
}

// waitsFor says why a context rests and what ends that.
func waitsFor(s *projections.State) (reason, until string) {
	switch {
	case s.Status == projections.Awaiting:
		return "awaiting", "comment"
	case s.Status != projections.Paused || s.Paused == nil:
		return "", ""
	case s.Paused.Until.Kind == "time":
		return s.Paused.Reason, s.Paused.Until.Time.UTC().Format(time.RFC3339)
	}
	return s.Paused.Reason, s.Paused.Until.Kind
}

var endings = map[string]string{"context.completed": "completed", "context.stopped": "stopped", "context.failed": "failed"}

func (l *looker) ending(uuid string) (state string, err error) {
	state = "running" // by its log: the next run moves it
	for rec, err := range l.store.Records(uuid) {
		if err != nil && !isTorn(err) {
			return "", err
		}
		if end := endings[string(rec.Type)]; err == nil && end != "" {
			state = end
		}
	}
	return state, nil
}

func count(lines []statusLine, is func(statusLine) bool) (n int) {
	for _, line := range lines {
		if is(line) {
			n++
		}
	}
	return n
}

// judge finds what a supervisor has to know.
func (l *looker) judge(r *statusReport) {
	if n := len(r.Damaged); n > 0 {
		r.Problems = append(r.Problems, l.text("status.damaged", n))
	}
	if n := count(r.Waiting, func(s statusLine) bool { return s.Stuck }); n > 0 {
		r.Problems = append(r.Problems, l.text("status.stuck", n))
	}
	patience := max(3*time.Duration(l.config.Loop.IntervalSeconds)*time.Second, 5*time.Minute)
	// A round ends with its longest task: while one is worked on, no scan is missed.
	working := patience + time.Duration(l.config.LLM.TimeoutSeconds)*time.Second
	busy := slices.ContainsFunc(r.Running, func(s statusLine) bool { return l.now.Sub(s.Last) < working })
	for _, f := range r.Forges {
		seen := f.Success
		if r.Paused && r.Round.After(seen) {
			seen = r.Round // while the pause signal stands, nothing is scanned
		}
		switch {
		case seen.IsZero() && !busy:
			r.Problems = append(r.Problems, l.text("status.never", f.Host))
		case l.now.Sub(seen) > patience && !busy:
			r.Problems = append(r.Problems, l.text("status.stale", f.Host, age(l.now.Sub(seen))))
		}
	}
	r.Healthy = len(r.Problems) == 0
}
