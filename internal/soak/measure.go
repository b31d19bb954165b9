package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"agent/internal/world"
	"agent/llm"
	"agent/llm/llmtest"
)

// stage is a cluster on which something is measured: machines that work on one task each,
// and a model that says when it is asked.
type stage struct {
	*soak
	loops []*process
	asked chan time.Time
	done  atomic.Bool // the model ends the tasks
}

// modelTime is what the model takes.
const modelTime = 100 * time.Millisecond

// wait is for what takes seconds.
const wait = 5 * time.Minute

// measure prints how fast a cluster is.
func (s *soak) measure(dir string) error {
	if s.nodes = nil; s.node == "" {
		return errors.New("-measure needs -nats")
	}
	if err := s.build(dir); err != nil {
		return err
	}
	load, _ := os.ReadFile("/proc/loadavg")
	fmt.Printf("load %s", load)
	return errors.Join(s.measureThroughput(dir), s.measureTakeover(dir), s.measureOpen(dir))
}

// newStage makes a cluster. The model answers what script says at a turn of a conversation.
func (s *soak) newStage(dir, name string, machines int, files map[string]string, script func(t *stage, turns int) llmtest.Reply) (*stage, error) {
	t := &stage{soak: &soak{agent: s.agent, node: s.node, workers: machines, lease: 10 * time.Second, out: os.Stdout, began: time.Now()},
		asked: make(chan time.Time, 1000)}
	model := func(_ int, r llmtest.Request) llmtest.Reply {
		select {
		case t.asked <- time.Now():
		default:
		}
		if t.world.Model.Forget(); len(r.Tools) == 0 {
			return llmtest.Text("The files were read.")
		}
		return script(t, r.Turns())
	}
	dir = filepath.Join(dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	return t, t.arrange(world.Options{Dir: dir, Model: llmtest.New(model), Files: files, LLM: ", context_length: 10000000",
		Config: "workers: 1\nmax_llm_process_num: 100000\nrepeated_call_limit: 100000\n"})
}

// begin lets a machine work.
func (t *stage) begin(n int) *process {
	p := t.startOn(n, "loop", "--interval", "1")
	t.loops = append(t.loops, p)
	return p
}

func (t *stage) close() {
	for _, p := range t.loops {
		p.kill()
	}
	t.endMachines()
	if t.world != nil {
		t.world.Close()
	}
}

// next waits until the model is asked.
func (t *stage) next() (time.Time, error) {
	select {
	case at := <-t.asked:
		return at, nil
	case <-time.After(wait):
		return time.Time{}, errors.New("the model is not asked")
	}
}

// nextSince is next without what was asked before a moment.
func (t *stage) nextSince(moment time.Time) (time.Duration, error) {
	for {
		at, err := t.next()
		if err != nil || at.After(moment) {
			return at.Sub(moment), err
		}
	}
}

// open opens an issue.
func (t *stage) open() world.Item {
	return t.world.Forge.Issue(t.world.Forge.Open("Read", "Please read the files."))
}

// finish lets the model end a task, and waits for that.
func (t *stage) finish(i world.Item) error {
	t.done.Store(true)
	defer t.done.Store(false)
	for end := time.Now().Add(wait); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if slices.Equal(i.Labels(), []string{done}) {
			return nil
		}
	}
	return fmt.Errorf("the task does not end: %v", i.Labels())
}

func readOne(t *stage, turns int) llmtest.Reply {
	reply := llmtest.ToolCall("workspace__read_file", map[string]any{"path": "README.md"})
	if t.done.Load() || turns == steps {
		reply = llmtest.Text("I have read the files.")
	}
	reply.Delay = modelTime
	return reply
}

// steps are those of a task.
const steps = 40

var readme = map[string]string{"README.md": "# A project\n"}

// measureThroughput compares four machines with one.
func (s *soak) measureThroughput(dir string) error {
	one, err := s.throughput(dir, 1)
	if err != nil {
		return err
	}
	four, err := s.throughput(dir, 4)
	if err != nil {
		return err
	}
	fmt.Printf("throughput: 1 machine %.2f steps/s, 4 machines %.2f: %.2f times (goal 3.6)\n", one, four, four/one)
	if four < 3.6*one {
		return errors.New("the throughput is below its goal")
	}
	return nil
}

// throughput is how many steps machines do in a second while each has a task.
func (s *soak) throughput(dir string, machines int) (float64, error) {
	const window = 30 * time.Second
	t, err := s.newStage(dir, fmt.Sprint("throughput-", machines), machines, readme, readOne)
	defer t.close()
	if err != nil {
		return 0, err
	}
	for range 10 * machines {
		t.open()
	}
	for n := range machines {
		t.begin(n)
	}
	for range 20 * machines { // all have begun
		if _, err := t.next(); err != nil {
			return 0, err
		}
	}
	began, calls := time.Now(), 0
	for time.Since(began) < window {
		if _, err := t.next(); err != nil {
			return 0, err
		}
		calls++
	}
	return float64(calls) / time.Since(began).Seconds(), nil
}

// measureTakeover kills the machine that works, and waits until the model is asked by the other.
func (s *soak) measureTakeover(dir string) error {
	t, err := s.newStage(dir, "takeover", 2, largeRepository(), func(t *stage, _ int) llmtest.Reply { return readOne(t, 0) })
	defer t.close()
	if err != nil {
		return err
	}
	loops := []*process{t.begin(0), t.begin(1)}
	var took []string
	var most time.Duration
	for range 5 {
		issue := t.open()
		if _, err := t.nextSince(time.Now()); err != nil {
			return err
		}
		time.Sleep(time.Second) // it works, and the one before has ended
		owner, err := t.owner(loops)
		if err != nil {
			return err
		}
		loops[owner].kill()
		const late = time.Second // a request of the killed one may be on its way
		d, err := t.nextSince(time.Now().Add(late))
		if err != nil {
			return err
		}
		d += late
		took, most = append(took, d.Round(10*time.Millisecond).String()), max(most, d)
		loops[owner] = t.begin(owner)
		if err := t.finish(issue); err != nil {
			return err
		}
	}
	fmt.Printf("takeover after kill -9, lease 10 s, repository of 50 MB: %s (goal 13 s)\n", strings.Join(took, ", "))
	if most > 13*time.Second {
		return errors.New("the takeover is slower than its goal")
	}
	return nil
}

// owner is the machine that works on the only task, as soon as one does.
func (t *stage) owner(loops []*process) (int, error) {
	for end := time.Now().Add(wait); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if n := slices.IndexFunc(loops, func(p *process) bool { return len(openLogs(p.cmd.Process.Pid)) > 0 }); n >= 0 {
			return n, nil
		}
	}
	return 0, errors.New("nobody works on the task")
}

func largeRepository() map[string]string {
	files := map[string]string{"README.md": "# A project\n"}
	random := rand.NewChaCha8([32]byte{})
	for i := range 10 {
		text := make([]byte, 5<<20)
		_, _ = random.Read(text)
		files[fmt.Sprintf("data-%d.bin", i)] = string(text)
	}
	return files
}

// measureOpen gives a context of 10,000 events to another machine, and then to one that
// has seen nothing of it.
func (s *soak) measureOpen(dir string) error {
	const calls, turns = 20, 240 // an event for each request, reply, intent and outcome
	t, err := s.newStage(dir, "open", 3, readme, func(t *stage, n int) llmtest.Reply {
		if n < turns {
			return llmtest.ToolCalls(slices.Repeat([]llm.ToolCall{llmtest.Call("workspace__read_file", map[string]any{"path": "README.md"})}, calls)...)
		}
		return llmtest.Reply{Hang: true}
	})
	defer t.close()
	if err != nil {
		return err
	}
	t.open()
	first, second := t.begin(0), t.begin(1)
	for range turns + 1 {
		if _, err := t.next(); err != nil {
			return err
		}
	}
	owner, other := first, second
	if len(openLogs(first.cmd.Process.Pid)) == 0 {
		owner, other = second, first
	}
	leave := func(p *process) { _ = p.cmd.Process.Signal(syscall.SIGTERM); <-p.done }
	leave(owner)
	known, err := t.nextSince(owner.ended)
	if err != nil {
		return err
	}
	leave(other)
	fresh := time.Now()
	t.begin(2)
	unknown, err := t.nextSince(fresh)
	if err != nil {
		return err
	}
	fmt.Printf("a context of 10,000 events, from the end of its machine to the next call of the model: %s (goal 2 s); from the start of a machine that knows nothing: %s\n",
		known.Round(time.Millisecond), unknown.Round(time.Millisecond))
	if known > 2*time.Second {
		return errors.New("a context is opened more slowly than its goal")
	}
	return nil
}
