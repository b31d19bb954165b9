package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"agent/internal/world"
)

// The labels of the configuration's defaults.
const (
	processing = "coding agent processing"
	awaiting   = "coding agent awaiting response"
	paused     = "coding agent paused"
	done       = "coding agent done"
	stopped    = "coding agent stopped"
	failed     = "coding agent failed"
)

// What the person of a task does with it, beside thanking at the end.
const (
	thanks   = iota // nothing
	asksMore        // asks for another line when it is done
	pauses          // pauses it while it is worked on, and resumes it
	takesOff        // takes the label away while it is worked on
	kinds
)

// task is an issue and its person.
type task struct {
	id     int // of all tasks
	forge  world.Forge
	number int // on the forge
	item   world.Item
	kind   int
	acted  bool // the kind's act was done
	said   int  // answers of the person
	paused time.Time
	ended  time.Time
}

func (t *task) key() string  { return t.forge.Key(t.number) }
func (t *task) file() string { return fmt.Sprintf("task-%d.txt", t.id) }

const (
	body    = "Please write %s."
	another = "Another line, please."
)

// mostOpen is how many tasks are open at most: the machine decides how fast it goes.
const mostOpen = 10

// open opens issues.
func (s *soak) open() {
	for s.pause(s.pace) {
		if s.openTasks() >= mostOpen {
			continue
		}
		f := []world.Forge{s.world.Forge, s.world.Beside}[s.random(2)]
		s.mu.Lock()
		t := &task{id: len(s.tasks) + 1, forge: f, kind: len(s.tasks) % kinds}
		t.number = f.Open(fmt.Sprintf("Task %d", t.id), fmt.Sprintf(body, t.file()))
		t.item = f.Issue(t.number)
		s.tasks = append(s.tasks, t)
		s.mu.Unlock()
	}
}

func (s *soak) all() []*task {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.tasks)
}

func (s *soak) openTasks() (n int) {
	for _, t := range s.all() {
		if t.ended.IsZero() {
			n++
		}
	}
	return n
}

// people act, until nothing new is to happen.
func (s *soak) people() {
	for s.pause(300 * time.Millisecond) {
		s.actAll()
	}
}

func (s *soak) actAll() {
	for _, t := range s.all() {
		if t.ended.IsZero() {
			s.act(t)
		}
	}
}

// settle lets what was begun end without faults.
func (s *soak) settle() {
	most := max(s.length/3, 3*time.Minute)
	if s.wrong != "" {
		most = time.Minute // what does not end is found
	}
	end := time.Now().Add(most)
	for s.openTasks() > 0 && time.Now().Before(end) {
		time.Sleep(300 * time.Millisecond)
		s.actAll()
	}
	for _, t := range s.all() {
		if t.ended.IsZero() {
			s.problem("%s (kind %d) does not end: %v", t.key(), t.kind, t.item.Labels())
		}
	}
	for time.Now().Before(end) && s.live() > 0 {
		time.Sleep(100 * time.Millisecond) // the label comes before the end
	}
}

func (s *soak) live() (n int) {
	for _, dir := range []string{"running", "paused", ".control"} {
		of, _ := os.ReadDir(s.world.Path("contexts", dir))
		n += len(of)
	}
	return n
}

// patience is how long a person leaves a task paused that somebody else paused.
const patience = 90 * time.Second

// act does what a task's person does now.
func (s *soak) act(t *task) {
	labels := t.item.Labels()
	has := func(label string) bool { return slices.Contains(labels, label) }
	switch {
	case has(done), has(stopped), has(failed):
		if len(labels) > 1 {
			return // they are given and taken one by one
		}
		t.ended = time.Now()
		if has(failed) || has(stopped) && t.kind != takesOff {
			said := t.item.Comments()
			s.problem("%s (kind %d) ends with %v: %s", t.key(), t.kind, labels, tail(said[len(said)-1].Body))
		}
	case has(processing) && t.kind == pauses && !t.acted:
		t.acted = s.command("pause", t) // it may end meanwhile
	case has(processing) && t.kind == takesOff && !t.acted:
		t.acted = true
		t.item.Unlabel(processing)
	case has(paused):
		if t.paused.IsZero() {
			t.paused = time.Now()
		}
		if t.kind == pauses && t.acted && time.Since(t.paused) > time.Second || time.Since(t.paused) > patience {
			t.paused = time.Now()
			s.command("resume", t)
		}
	case has(awaiting):
		s.answer(t)
	}
}

// answer answers what the agent said last, once.
func (s *soak) answer(t *task) {
	answers := 0
	for _, c := range t.item.Comments() {
		if c.Author == world.Bot && (strings.Contains(c.Body, "✅ **Done**") || strings.Contains(c.Body, "⚠️")) {
			answers++
		}
	}
	if answers <= t.said {
		return
	}
	t.said = answers
	if t.kind == asksMore && !t.acted {
		t.acted = true
		t.item.Comment("alice", another)
		return
	}
	t.item.Comment("alice", "Thank you!")
}

// command gives a command about a task.
func (s *soak) command(name string, t *task) bool {
	code, out := s.startOn(s.anyMachine(), name, t.key()).wait(time.Minute)
	switch {
	case code == 75 && s.nodes != nil: // all its servers are down
	case code != 0 && code != 1:
		s.problem("agent %s %s ends with %d: %s", name, t.key(), code, out)
	case code == 0 && name == "pause":
		s.count(func(c *counts) { c.pauses++ })
	}
	return code == 0
}
