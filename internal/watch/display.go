package watch

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/internal/term"
	"agent/projections"
)

// every bounds how often a terminal is written to while tasks run.
const every = 100 * time.Millisecond

// Display shows tasks on a terminal: a live line for each at the bottom, and what
// is finished above. It is safe for several workers, and owns the terminal: who
// writes there meanwhile does so with [Display.Print] or [Display.Writer].
type Display struct {
	screen term.Screen
	lang   i18n.Lang
	now    func() time.Time
	size   func() (width, height int)

	mu     sync.Mutex
	tasks  []*Task // oldest first
	above  []string
	live   []string // as they are on the terminal now
	frame  int
	closed bool
	wake   chan struct{} // ends the clock; nil while there is none
}

// NewDisplay shows tasks on a terminal. Whoever gets it closes it.
func NewDisplay(screen term.Screen, lang i18n.Lang, now func() time.Time) *Display {
	return &Display{screen: screen, lang: lang, now: now, size: screen.Size}
}

// Event takes an event that a task appended, and its state.
func (d *Display) Event(ev event.Event, s *projections.State) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.Created == nil || d.closed {
		return
	}
	t := d.task(s.Created.UUID)
	if step, ok := t.Apply(ev, s, d.lang); ok {
		d.above = append(d.above, d.screen.Paint(step.Color, step.Line(t.Ref, d.width())))
	}
}

func (d *Display) task(uuid string) *Task {
	for _, t := range d.tasks {
		if t.UUID == uuid {
			return t
		}
	}
	t := &Task{UUID: uuid}
	d.tasks = append(d.tasks, t)
	if d.wake == nil {
		d.wake = make(chan struct{})
		go d.clock(d.wake)
	}
	return t
}

// Left takes away the line of a task that nobody works on any more.
func (d *Display) Left(uuid string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, t := range d.tasks {
		if t.UUID == uuid {
			d.tasks = append(d.tasks[:i], d.tasks[i+1:]...)
			break
		}
	}
	if len(d.tasks) == 0 {
		d.stopClock()
	}
	d.draw()
}

// Print writes a line above the live ones. It must be safe for a terminal.
func (d *Display) Print(out io.Writer, line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.erase()
	fmt.Fprintln(out, line)
	d.draw()
}

// Writer writes whole lines above the live ones, for a log of the program.
func (d *Display) Writer(out io.Writer) io.Writer { return &above{d, out} }

type above struct {
	d   *Display
	out io.Writer
}

func (a *above) Write(p []byte) (int, error) {
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	a.d.erase()
	n, err := a.out.Write(p)
	a.d.draw()
	return n, err
}

// Close takes the live lines away.
func (d *Display) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopClock()
	d.tasks, d.closed = nil, true
	d.draw()
}

func (d *Display) clock(end chan struct{}) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-end:
			return
		case <-tick.C:
		}
		d.mu.Lock()
		if d.wake == end {
			d.frame++
			d.draw()
		}
		d.mu.Unlock()
	}
}

func (d *Display) stopClock() {
	if d.wake != nil {
		close(d.wake)
		d.wake = nil
	}
}

// width leaves the last column free: a terminal wraps a line that fills it.
func (d *Display) width() int {
	width, _ := d.size()
	return width - 1
}

// erase takes the live lines off the terminal. After a resize each of them may
// take several rows.
func (d *Display) erase() { io.WriteString(d.screen, d.erasing()) }

func (d *Display) erasing() string {
	width, height := d.size()
	rows := 0
	for _, line := range d.live {
		rows += max((term.Columns(line)+width-1)/width, 1)
	}
	d.live = nil
	if rows == 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA\r\x1b[J", min(rows, height-1))
}

// draw writes what is finished, then the live lines, with one write.
func (d *Display) draw() {
	if len(d.above) == 0 && len(d.tasks) == 0 && len(d.live) == 0 {
		return
	}
	var b strings.Builder
	b.WriteString(d.erasing())
	for _, line := range d.above {
		b.WriteString(line + "\n")
	}
	d.above = nil
	d.live = d.lines()
	for _, line := range d.live {
		b.WriteString(d.screen.Paint(term.Waits, line[:spinnerLen]) + line[spinnerLen:] + "\n")
	}
	io.WriteString(d.screen, b.String())
}

var spinner = []string{"⠋", "⠙", "⠸", "⠴", "⠦", "⠇"}

const spinnerLen = len("⠋")

// lines are the live lines, no more than the terminal has rows for.
func (d *Display) lines() (lines []string) {
	_, height := d.size()
	most := max(height-2, 1)
	mark := spinner[d.frame%len(spinner)] + " "
	for i, t := range d.tasks {
		if i == most-1 && len(d.tasks) > most {
			return append(lines, mark+i18n.Text(d.lang, "watch.more", len(d.tasks)-i))
		}
		lines = append(lines, mark+t.Line(d.now(), d.width()-2, d.lang))
	}
	return lines
}

// Plain prints one line for each step, for where there is no terminal.
type Plain struct {
	Print func(line string)
	Lang  i18n.Lang

	mu    sync.Mutex
	tasks map[string]*Task
}

// Event takes an event that a task appended, and its state.
func (p *Plain) Event(ev event.Event, s *projections.State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.Created == nil {
		return
	}
	if p.tasks == nil {
		p.tasks = map[string]*Task{}
	}
	t := p.tasks[s.Created.UUID]
	if t == nil {
		t = &Task{}
		p.tasks[s.Created.UUID] = t
	}
	if step, ok := t.Apply(ev, s, p.Lang); ok {
		p.Print(step.Line(t.Ref, term.PlainWidth))
	}
}

// Left forgets a task.
func (p *Plain) Left(uuid string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.tasks, uuid)
}
