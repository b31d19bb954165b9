package contexts

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"agent/eventlog/event"
)

// The test binary runs itself as another process when this is set to the name
// of a role; the arguments are the store's directory and more.
const roleVar = "CONTEXTS_TEST_ROLE"

var roles = map[string]func(s *Store, args []string) error{
	"hold": hold, "append": appendEvents, "key": printKey, "create": createOnce, "live": liveOn,
}

func TestMain(m *testing.M) {
	role, ok := roles[os.Getenv(roleVar)]
	if !ok {
		os.Exit(m.Run())
	}
	s, err := openReal(os.Args[1], Options{})
	if err == nil {
		err = role(s, os.Args[2:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type process struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func start(t *testing.T, role string, args ...string) *process {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	p := &process{Cmd: exec.Command(exe, args...)}
	p.Env = append(os.Environ(), roleVar+"="+role)
	p.Stderr = os.Stderr
	out, err := p.StdoutPipe()
	must(t, err)
	p.in, err = p.StdinPipe()
	must(t, err, p.Start())
	p.out = bufio.NewScanner(out)
	t.Cleanup(func() { p.Process.Kill(); p.Wait() })
	return p
}

// line waits for the next line of output.
func (p *process) line(t *testing.T) string {
	t.Helper()
	if !p.out.Scan() {
		t.Fatalf("the process ended: %v", p.Wait())
	}
	return p.out.Text()
}

// kill is kill -9; it returns what was still in the pipe.
func (p *process) kill(t *testing.T) (rest []string) {
	t.Helper()
	must(t, p.Process.Kill())
	for p.out.Scan() {
		rest = append(rest, p.out.Text())
	}
	p.Wait()
	return rest
}

func hold(s *Store, args []string) error {
	c, err := s.Acquire(args[0], nil)
	if err != nil {
		return err
	}
	fmt.Println("held")
	io.Copy(io.Discard, os.Stdin)
	return c.Close()
}

// A lock is seen by other processes at once and dies with its holder.
func TestLockOfAnotherProcess(t *testing.T) {
	s, dir := realStore(t, Options{})
	made(t, s, idA)
	p := start(t, "hold", dir, idA)
	p.line(t)
	for _, err := range []error{
		second(s.Acquire(idA, nil)), second(s.Repair(idA, at)), second(s.Create(created(idA), at)),
	} {
		if !errors.Is(err, ErrBusy) || ExitCode(err) != ExitOK {
			t.Errorf("got %v", err)
		}
	}
	if events := drain(t, s, idA); len(events) != 1 {
		t.Errorf("readers see %d events", len(events))
	}
	p.kill(t)
	c, _ := acquire(t, s, idA)
	must(t, c.Close())
	p = start(t, "hold", dir, idA)
	p.line(t)
	must(t, p.in.Close(), p.Wait()) // a proper end frees it too
	acquire(t, s, idA)
}

const eventsEach = 15

func appendEvents(s *Store, args []string) error {
	for n := 0; n < eventsEach; {
		c, err := s.Acquire(args[0], nil)
		if errors.Is(err, ErrBusy) {
			runtime.Gosched()
			continue
		}
		if err != nil {
			return err
		}
		for _, b := range []event.Body{&event.MessageAdded{Role: args[1]}, &event.ContextPaused{}, &event.ContextResumed{}} {
			if _, err := c.Append(event.Event{Time: at, Body: b}); err != nil {
				return err
			}
			if err := c.Relocate(); err != nil {
				return err
			}
			n++
		}
		if err := c.Close(); err != nil {
			return err
		}
	}
	return nil
}

// Several processes that want the same context, which moves all the time,
// while it is read without a lock.
func TestProcessesInTurn(t *testing.T) {
	s, dir := realStore(t, Options{})
	made(t, s, idA)
	var all []*process
	for i := range 3 {
		all = append(all, start(t, "append", dir, idA, fmt.Sprint(i)))
	}
	ended := make(chan error, len(all))
	for _, p := range all {
		go func() { ended <- p.Wait() }()
	}
	for left := len(all); left > 0; {
		select {
		case err := <-ended:
			must(t, err)
			left--
		default:
			first, err := s.Creation(idA)
			if err != nil || first.UUID != idA {
				t.Fatal("reader:", err)
			}
		}
	}
	if events := drain(t, s, idA); len(events) != 1+3*eventsEach {
		t.Errorf("%d events", len(events))
	}
}

func printKey(s *Store, _ []string) error {
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadString('\n') // everybody begins together
	k, err := s.Key()
	fmt.Println(hex.EncodeToString(k))
	return err
}

func TestKeyOfManyProcesses(t *testing.T) {
	s, dir := realStore(t, Options{})
	var all []*process
	for range 4 {
		p := start(t, "key", dir)
		p.line(t)
		all = append(all, p)
	}
	for _, p := range all {
		fmt.Fprintln(p.in)
	}
	want := ""
	for _, p := range all {
		got := p.line(t)
		if want == "" {
			want = got
		}
		if got != want || len(got) != 2*keySize {
			t.Errorf("keys %q and %q", got, want)
		}
	}
	if k, err := s.Key(); err != nil || hex.EncodeToString(k) != want {
		t.Errorf("key %x, %v", k, err)
	}
	info, err := os.Stat(filepath.Join(dir, keyFile))
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if left, err := os.ReadDir(filepath.Join(dir, stagingDir)); err != nil || len(left) != 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

func createOnce(s *Store, args []string) error {
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadString('\n')
	lock, err := s.LockKey(key)
	for errors.Is(err, ErrBusy) {
		runtime.Gosched()
		lock, err = s.LockKey(key)
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	id, found, err := s.Active(key)
	if err != nil || found {
		fmt.Println("found", id)
		return err
	}
	c, err := s.Create(created(args[0]), at)
	if err != nil {
		return err
	}
	fmt.Println("made", args[0])
	return c.Close()
}

func TestOneLiveContextPerTask(t *testing.T) {
	_, dir := realStore(t, Options{})
	var all []*process
	for _, id := range []string{idA, idB, idC} {
		p := start(t, "create", dir, id)
		p.line(t)
		all = append(all, p)
	}
	for _, p := range all {
		fmt.Fprintln(p.in)
	}
	made, ids := 0, map[string]bool{}
	for _, p := range all {
		verb, id, _ := strings.Cut(p.line(t), " ")
		ids[id] = true
		if verb == "made" {
			made++
		}
	}
	if made != 1 || len(ids) != 1 {
		t.Errorf("%d made, ids %v", made, ids)
	}
}

// liveOn works on a context until it is killed and says what is acknowledged.
func liveOn(s *Store, args []string) error {
	c, err := s.Acquire(args[0], nil)
	if errors.Is(err, ErrUnknown) {
		c, err = s.Create(created(args[0]), at)
	}
	for i := 0; err == nil; i++ {
		bodies := []event.Body{&event.MessageAdded{Role: "user"}, &event.ContextPaused{}, &event.ContextResumed{}}
		var e event.Event
		if e, err = c.Append(event.Event{Time: at, Body: bodies[i%3]}); err == nil {
			fmt.Println(e.Seq)
			err = c.Relocate()
		}
	}
	return err
}

// kill -9 again and again: everything acknowledged stays, in exactly one place.
func TestKillLoop(t *testing.T) {
	s, dir := realStore(t, Options{})
	for round := range 12 {
		p := start(t, "live", dir, idA)
		last := ""
		for range round%5 + 1 {
			last = p.line(t)
		}
		if rest := p.kill(t); len(rest) > 0 {
			last = rest[len(rest)-1]
		}
		found, err := s.dirsWith(idA)
		if err != nil || len(found) != 1 {
			t.Fatalf("round %d: in %v, %v", round, found, err)
		}
		c, events := acquire(t, s, idA)
		if n := fmt.Sprint(len(events)); n != last && fmt.Sprint(len(events)-1) != last {
			t.Fatalf("round %d: %s events, the last acknowledged is %s", round, n, last)
		}
		must(t, c.Close())
	}
}
