package engine_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/llm"
	"agent/llm/llmtest"
	"agent/projections"
)

// talk is what people do between the runs of the agent, one after the other.
type talk struct {
	name   string
	config func(*event.ConfigPinned)
	people []func(w *world) error
}

func comments(texts ...string) func(w *world) error {
	return func(w *world) error {
		w.raised.Store(false)
		for _, text := range texts {
			w.forge.AddComment(project, 1, "alice", text)
		}
		w.forge.AddComment(project, 1, "linter[bot]", "0 problems")
		return nil
	}
}

func followUp(c *event.ConfigPinned) {
	c.FollowUp = event.FollowUp{Enabled: true, MaxRounds: 3, TimeoutHours: 24}
}

// stop asks for an end, as the command does.
func stop(w *world) error {
	w.raised.Store(false)
	store, err := contexts.Open(w.disk, contexts.Options{Now: time.Now})
	if err != nil {
		return err
	}
	for entry, err := range store.List() {
		if err != nil {
			return err
		}
		if err := store.Send(entry.UUID, contexts.Stop, []byte("solved otherwise")); err != nil {
			return err
		}
	}
	return nil
}

// talks begin with a task that pauses in the middle of its work.
var talks = []talk{
	{"resumed", func(*event.ConfigPinned) {}, []func(*world) error{comments("WISH one.txt", "WISH two.txt")}},
	{"followed up", followUp, []func(*world) error{comments("WISH one.txt"), comments("WISH two.txt"), comments("Thanks!")}},
	{"stopped", func(*event.ConfigPinned) {}, []func(*world) error{stop}},
	{"stopped while it waits", followUp, []func(*world) error{comments("WISH one.txt"), stop}},
}

// playWishes does what playGoals does, then opens a file for every wish of a
// comment. It raises the pause signal once, in its second turn. In planning mode
// it goes by a plan instead.
func (w *world) playWishes(n int, r llmtest.Request) llmtest.Reply {
	if w.config.Planning.Enabled && !strings.Contains(r.System(), "final summary") {
		return w.playPlan(r)
	}
	if len(r.Tools) > 0 && r.Turns() > 0 && w.once.CompareAndSwap(false, true) {
		w.raised.Store(true)
	}
	reply := playGoals(n, r)
	if reply.Text != closing {
		return reply
	}
	for _, m := range r.Messages {
		if m.Role != llm.User {
			continue
		}
		for _, line := range strings.Split(m.Content, "\n") {
			path, isWish := strings.CutPrefix(line, "WISH ")
			wish := goal{tool: "append", args: toolArgs{Path: path, Text: "wished"},
				proven: func(tool, result string) bool { return tool == "append" || strings.Contains(result, "wished") }}
			if _, done := wish.state(resultsOf(r)); isWish && !done {
				return llmtest.ToolCall("files__append", wish.args)
			}
		}
	}
	return reply
}

// converse lets agent and people take turns. The process is killed at one
// point; the next one takes its place.
func (w *world) converse(s talk, p point) (contacts int64, err error) {
	w.config.Comments.Notify, w.config.Comments.ExcludeBots = true, true
	s.config(&w.config)
	if p.operation > 0 {
		w.disk.KillAt(p.operation, p.inside)
	}
	for _, act := range append([]func(*world) error{func(*world) error { return nil }}, s.people...) {
		if err := act(w); err != nil { // the command was killed
			w.disk = p.rise(w.disk)
			if err := act(w); err != nil {
				return contacts, err
			}
		}
		for killed := true; killed; {
			l := w.born()
			l.last, l.after = max(p.contact-contacts, 0), p.after
			err := l.run()
			contacts += l.contacts
			if killed = l.dead(); killed {
				w.disk = p.rise(w.disk)
			} else if err != nil {
				return contacts, fmt.Errorf("the next process: %w", err)
			}
		}
	}
	return contacts, nil
}

// talkPoint is a point in a talk.
type talkPoint struct {
	point
	talk talk
}

func (p talkPoint) try(t testing.TB, want reference) error {
	w := newWorld(t, scenario{nil, correction.notes})
	defer w.close()
	if _, err := w.converse(p.talk, p.point); err != nil {
		return err
	}
	w.dark = p.power != 0
	got, err := w.verify()
	if err != nil {
		return err
	}
	return errors.Join(got.compareTalk(want.end), w.wantTurns(p.talk))
}

// compareTalk is compare for talks: how far the work was when the pause came may differ.
func (e end) compareTalk(want end) error {
	want.counts = e.counts // of a call that is made again after the pause nobody takes notice
	want.counts.model -= e.counts.lostReplies
	want.exact = e.exact
	if e.Status == string(projections.Stopped) {
		e, want = e.withoutFiles().withoutNotes(), want.withoutFiles().withoutNotes()
	}
	return e.compare(want)
}

// notes are the lines of a comment on progress.
var notes = regexp.MustCompile(`(?m)^- I .*\n`)

func (e end) withoutNotes() end {
	e.Comments = slices.Clone(e.Comments)
	for i, c := range e.Comments {
		e.Comments[i] = notes.ReplaceAllString(c, "")
	}
	return e
}

// wantTurns wants every comment of a person in the conversation once, and none of a bot.
func (w *world) wantTurns(s talk) (problems error) {
	all := ""
	for _, m := range w.lastWork().Messages {
		if m.Role == llm.User {
			all += m.Content + "\n"
		}
	}
	for _, c := range w.forge.Comments(project, 1) {
		text := c.Body
		want := 1
		if c.Author != "alice" || text == "Thanks!" || text == approval || strings.HasPrefix(text, "agent ") {
			want = 0
		}
		if c.Author == bot {
			continue
		}
		if n := strings.Count(all, text); n != want {
			problems = errors.Join(problems, fmt.Errorf("%q was heard %d times", text, n))
		}
	}
	return problems
}

// Killed in the middle of a talk, at points spread over all of it.
func TestKilledInATalk(t *testing.T) {
	for _, s := range talks {
		t.Run(s.name, func(t *testing.T) {
			_, want := s.undisturbed(t)
			sweep(t, want, s.points(want))
		})
	}
}

// undisturbed is a talk that nobody kills.
func (s talk) undisturbed(t *testing.T) (*world, reference) {
	t.Helper()
	w := newWorld(t, scenario{nil, correction.notes})
	t.Cleanup(w.close)
	contacts, err := w.converse(s, point{})
	if err != nil {
		t.Fatal(err)
	}
	want := reference{scenario: scenario{nil, correction.notes}, operations: w.disk.Ops(), contacts: contacts}
	if want.end, err = w.verify(); err != nil {
		t.Fatal(err)
	}
	if err := w.wantTurns(s); err != nil {
		t.Fatal(err)
	}
	return w, want
}

// talkPoints is how many operations of the disk, and contacts, a talk is killed at.
const talkPoints = 18

func (s talk) points(want reference) (all []talkPoint) {
	for i := range talkPoints {
		n := 1 + i*want.operations/talkPoints
		all = append(all, talkPoint{point{name: fmt.Sprintf("operation %d", n), operation: n, inside: i%2 == 0}, s},
			talkPoint{point{name: fmt.Sprintf("power at operation %d", n+1), operation: n + 1, inside: i%2 == 1, power: int64(n)}, s})
		c := 1 + int64(i)*want.contacts/talkPoints
		all = append(all, talkPoint{point{name: fmt.Sprintf("contact %d", c), contact: c, after: i%2 == 0}, s})
	}
	return all
}
