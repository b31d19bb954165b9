package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"agent/llm/llmtest"
)

// onTerminal is a process whose terminal a test holds the other end of.
type onTerminal struct {
	*process
	w        *world
	terminal *os.File
	shown    lockedBuffer
	writes   []time.Time
	read     chan struct{}
}

// startOnTerminal starts the agent on a terminal of its own.
func (w *world) startOnTerminal(columns uint16, args ...string) *onTerminal {
	w.t.Helper()
	master, slave := openTerminal(w.t, columns)
	p := &onTerminal{process: &process{t: w.t, cmd: exec.Command(agentPath(w.t), append(args, "--config", w.configure())...)}, w: w, terminal: master, read: make(chan struct{})}
	p.cmd.Dir = w.dir
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "TMPDIR=" + w.path("tmp"), "LANG=C.UTF-8", "TZ=UTC", "TERM=xterm", "AGENT_PAGER="}, w.env...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = slave, slave, slave
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must(w.t, p.cmd.Start())
	must(w.t, slave.Close())
	go p.listen()
	w.t.Cleanup(func() { _ = p.cmd.Process.Kill(); p.wait(); _ = master.Close() })
	return p
}

func openTerminal(t *testing.T, columns uint16) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	must(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	must(t, err)
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	must(t, err)
	resize(t, master, columns)
	return master, slave
}

func resize(t *testing.T, master *os.File, columns uint16) {
	t.Helper()
	must(t, unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}))
}

func (p *onTerminal) listen() {
	defer close(p.read)
	buf := make([]byte, 64<<10)
	for {
		n, err := p.terminal.Read(buf)
		p.writes = append(p.writes, time.Now())
		_, _ = p.shown.Write(buf[:n])
		if err != nil { // EIO: nobody holds the other end any more
			return
		}
	}
}

// end waits for the process and gives its exit code and what it wrote.
func (p *onTerminal) end() (int, string) {
	code := p.wait()
	<-p.read
	return code, strings.ReplaceAll(p.shown.String(), "\r\n", "\n")
}

var erasure = regexp.MustCompile(`^\x1b\[(\d+)A\r\x1b\[J`)

// left is what stands on a terminal that was written to, as far as the live lines
// of the agent need one: lines, "up" and "erase below".
func left(written string) string {
	var lines []string
	row := 0
	for line := range strings.Lines(written) {
		for m := erasure.FindStringSubmatch(line); m != nil; m = erasure.FindStringSubmatch(line) {
			up, _ := strconv.Atoi(m[1])
			row = max(row-up, 0)
			line = line[len(m[0]):]
		}
		lines = append(lines[:row], line)
		row++
	}
	return strings.Join(lines, "")
}

// A person sees what a run does now, what is finished, and in the end where the change is.
func TestRunIsWatched(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	turns := llmtest.Turns(write("hello.txt", "hello\n"), command("sh", "-c", "echo broken\x1b[2J >&2; exit 3"), llmtest.Done("I wrote hello.txt."))
	w := newWorld(t, func(n int, r llmtest.Request) llmtest.Reply {
		if n == 2 {
			<-gate
		}
		return turns(n, r)
	})
	p := w.startOnTerminal(80, "run")
	w.until("the terminal shows what the task waits for", func() bool { return strings.Contains(p.shown.String(), "widgets#1 · waits for the model") })
	w.until("the finished steps stand above", func() bool { return strings.Contains(p.shown.String(), "✗ widgets#1 workspace/run_command") })
	resize(t, p.terminal, 100)
	begun, seen := time.Now(), len(p.shown.String())
	w.until("the terminal is drawn again", func() bool { return strings.Count(p.shown.String()[seen:], "widgets#1") > 5 })
	if n := strings.Count(p.shown.String()[seen:], "\x1b[J"); float64(n) > time.Since(begun).Seconds()*10+2 {
		t.Errorf("%d frames in %s", n, time.Since(begun))
	}
	for line := range strings.Lines(p.shown.String()[seen:]) {
		if i := strings.LastIndex(line, "\x1b[0m"); i > 0 && len([]rune(line[i:])) > 100+len("\x1b[0m") {
			t.Errorf("a live line is wider than the terminal: %q", line)
		}
	}
	close(gate)
	code, written := p.end()
	last := left(written)
	for _, want := range []string{"✓ widgets#1 workspace/write_file hello.txt", `✗ widgets#1 workspace/run_command`, "✓ widgets#1 completed: http://", "/pull/2 · calls: 4 · "} {
		if !strings.Contains(last, want) {
			t.Errorf("the terminal lacks %q:\n%q", want, last)
		}
	}
	if code != 0 || strings.Contains(last, "⠋") || strings.Contains(last, "level") || strings.Contains(last, "\x1b[2J") {
		t.Errorf("exit %d; the terminal shows\n%q", code, last)
	}
}

// Ctrl-C says what is kept and how to go on, and what it says is true.
func TestCtrlC(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hanging(1, greet()))
	p := w.startOnTerminal(80, "run")
	w.awaitCalls(2)
	_, err := io.WriteString(p.terminal, "\x03")
	must(t, err)
	code, written := p.end()
	short := w.only().UUID[:8]
	if last := left(written); code != 130 || !strings.Contains(last, "interrupted; what was done is kept. Go on with: agent run "+short) {
		t.Errorf("exit %d; the terminal shows\n%s", code, last)
	}
	w.agent(0, "run", short)
	w.wantDone(1, w.only())
}

// Where there is no terminal, a line for each step is printed if somebody asks.
func TestRunVerbose(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	out, errOut := w.agent(0, "run", "--verbose")
	step := regexp.MustCompile(`(?m)^✓ widgets#1 workspace/write_file hello\.txt(  \d+\.\d+s)?$`) // a slow machine shows the time
	if !step.MatchString(out) || strings.Contains(out, "\x1b") || errOut != "" {
		t.Errorf("stdout:\n%s\nstderr:\n%s", out, errOut)
	}
}

// onTerminal starts the agent in the project, on a terminal of its own.
func (u *user) onTerminal(args ...string) *onTerminal {
	u.t.Helper()
	master, slave := openTerminal(u.t, 120)
	p := &onTerminal{process: &process{t: u.t, cmd: exec.Command(agentPath(u.t), args...)}, w: u.world, terminal: master, read: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = u.project, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + u.dir, "TMPDIR=" + u.path("tmp"), "LANG=C.UTF-8", "TERM=xterm", "OLLAMA_HOST=" + u.host}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = slave, slave, slave
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must(u.t, p.cmd.Start())
	must(u.t, slave.Close())
	go p.listen()
	u.t.Cleanup(func() {
		if u.t.Failed() {
			u.t.Log(p.shown.String())
		}
		_ = p.cmd.Process.Kill()
		p.wait()
		_ = master.Close()
	})
	return p
}

// Who tries something sees what the task does now, and Ctrl-C says that the work is kept.
func TestTryIsWatched(t *testing.T) {
	t.Parallel()
	u := newUser(t, hanging(1, fix()))
	p := u.onTerminal("try", "fix it")
	u.until("the terminal shows what the task waits for", func() bool { return strings.Contains(p.shown.String(), "waits for the model") })
	u.awaitCalls(2)
	_, err := io.WriteString(p.terminal, "\x03")
	must(t, err)
	code, written := p.end()
	last := left(written)
	_, rest, found := strings.Cut(last, "interrupted; what was done is kept. To go on: agent try --resume ")
	if code != 130 || !found || strings.Contains(last, "is running") || strings.Contains(last, "⠋") {
		t.Fatalf("exit %d; the terminal shows\n%s", code, last)
	}
	u.try(0, "", "--resume", strings.Fields(rest)[0], "--json")
}

// TestTryOnATerminal answers there: to what the agent asks before it goes on, and to
// what becomes of the diff.
func TestTryOnATerminal(t *testing.T) {
	t.Parallel()
	secret := write("key.txt", "ghp_"+strings.Repeat("a1B2", 9)+"\n") // needs an approval
	u := newUser(t, llmtest.Turns(secret, llmtest.Done("I wrote the key."), llmtest.Done("For a test."), llmtest.Done("For a test.")))
	p := u.onTerminal("try", "write the key")
	for _, step := range []struct {
		sees  string
		times int
		types string
	}{{"Your answer", 1, "why that?\n"}, {"Your answer", 2, "agent approve\n"}, {"apply? [y/N]", 1, "y\n"}} {
		u.until(step.sees, func() bool { return strings.Count(p.shown.String(), step.sees) == step.times })
		_, err := p.terminal.WriteString(step.types)
		must(t, err)
	}
	code, shown := p.end()
	if code != 0 || !strings.Contains(shown, "Applied: "+u.project) || !strings.HasPrefix(u.get("key.txt"), "ghp_") {
		t.Errorf("exit %d\n%s", code, shown)
	}
}
