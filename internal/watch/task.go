// Package watch shows tasks while they are worked on: a live line for each on a
// terminal, with the finished steps above them, or one plain line for each step.
//
// What a line says is computed from events and states, without a clock and
// without a terminal. [Display] draws it. Every text of the world is made safe
// for a terminal before it gets here into a line.
package watch

import (
	"strings"
	"time"

	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/internal/term"
	"agent/projections"
)

// Task is what people see of a task that is worked on. It is folded from events.
type Task struct {
	UUID, Ref string
	Phase     string // of planning
	Action    int    // number of the current one, 0: none
	Actions   int

	Calls, Tokens int
	CostUSD       float64
	Active        time.Duration // up to At
	At            time.Time     // of the latest event
	NotBefore     time.Time     // the model is asked again

	open event.Body // the effect in flight
	took time.Time  // since when
}

// Step is something that is finished.
type Step struct {
	Color term.Color
	Text  string // with its mark
	Took  time.Duration
}

// Apply takes an event that was just appended, and the state after it. ok tells
// whether it ended a step.
func (t *Task) Apply(ev event.Event, s *projections.State, lang i18n.Lang) (step Step, ok bool) {
	if s.Created != nil {
		t.UUID, t.Ref = s.Created.UUID, Ref(s.Key.String())
	}
	step, ok = t.step(ev, s, lang)
	if ok && t.open != nil {
		step.Took = ev.Time.Sub(t.took)
	}
	t.open = nil
	if s.Open != nil {
		t.open, t.took = s.Open.Body, s.Open.Time
	}
	t.Phase, t.Action, t.Actions = "", 0, 0
	if s.Planned() {
		t.Phase, t.Action, t.Actions = s.Planning.Phase, s.Planning.Current+1, len(s.Planning.Actions)
	}
	t.Calls, t.Tokens, t.CostUSD = s.Usage.LLMBegun, s.Usage.Tokens(), s.Usage.CostUSD
	t.Active, t.At, t.NotBefore = s.Usage.Active, ev.Time, s.Work.NotBefore
	return step, ok
}

// Ref is short for a task key: widgets#12, widgets!7 for a merge request.
func Ref(taskKey string) string {
	parts := strings.Split(strings.Replace(taskKey, "/-/", "/", 1), "/")
	if len(parts) < 3 {
		return term.Line(taskKey, 40)
	}
	project, kind, number := parts[len(parts)-3], parts[len(parts)-2], parts[len(parts)-1]
	mark := "#"
	if kind == "merge_requests" {
		mark = "!"
	}
	return term.Line(project, 30) + mark + term.Line(number, 10)
}

// Line is the task in one line of at most width columns: on the left what it does,
// on the right what it took so far.
func (t *Task) Line(now time.Time, width int, lang i18n.Lang) string {
	right := Took(lang, t.Calls, t.Tokens, t.CostUSD, t.Active+max(now.Sub(t.At), 0))
	left := t.Ref
	if t.Phase != "" {
		left += " · " + phase(lang, t.Phase)
		if t.Action > 0 {
			left += i18n.Text(lang, "watch.action", t.Action, t.Actions)
		}
	}
	left += " · " + t.does(now, lang)
	room := width - term.Columns(right) - 3
	if room < width/3 { // a narrow terminal
		return term.Line(left, width)
	}
	return term.Line(left, room) + " · " + right
}

// does says what the task does now.
func (t *Task) does(now time.Time, lang i18n.Lang) string {
	since := ""
	if d := now.Sub(t.took); t.open != nil && d >= 5*time.Second {
		since = " (" + Duration(d) + ")"
	}
	switch b := t.open.(type) {
	case *event.LLMRequested:
		return i18n.Text(lang, "watch.model") + since
	case *event.ToolRequested:
		return call(b) + since
	case *event.CommentRequested, *event.ReactionRequested:
		return i18n.Text(lang, "watch.comment") + since
	case *event.LabelsRequested:
		return i18n.Text(lang, "watch.labels") + since
	case *event.ChangeRequested:
		return i18n.Text(lang, "watch.change") + since
	}
	if wait := t.NotBefore.Sub(now); wait > 0 {
		return i18n.Text(lang, "watch.waits", Duration(wait))
	}
	return i18n.Text(lang, "watch.prepares")
}

// call is a tool and what it is called for.
func call(b *event.ToolRequested) string {
	return strings.TrimSpace(term.Line(b.Name(), 60) + " " + term.Line(projections.Subject(b.Args.View()), 200))
}

func phase(lang i18n.Lang, name string) string {
	return term.Line(i18n.Phase(lang, name), 30)
}
