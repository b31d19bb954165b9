package notify

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"agent/internal/sanitize"
)

const (
	maxOutput = 4 << 10 // bytes that are kept of a command's output
	tempFail  = 75      // EX_TEMPFAIL of sysexits.h: try later
)

// passedOn are the variables that a command gets of ours: what programs need to run and to find the desktop. None is secret.
var passedOn = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "TZ", "TMPDIR",
	"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"}

// command hands messages to a program.
type command struct {
	argv []string
	env  map[string]string
}

func (c command) send(ctx context.Context, m Message) error {
	env := environment()
	for _, fact := range [][2]string{{"ID", m.ID}, {"EVENT", m.Event}, {"TITLE", m.Title}, {"REASON", m.Reason}, {"STATE", m.State},
		{"TASK", m.Task}, {"URL", m.URL}, {"CHANGE", m.Change}, {"CONTEXT", m.Context}} {
		env = append(env, "AGENT_"+fact[0]+"="+fact[1])
	}
	for name, value := range c.env {
		env = append(env, name+"="+value)
	}
	return run(ctx, c.argv, env, m.Text+"\n")
}

func environment() (env []string) {
	for _, name := range passedOn {
		if value := os.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// run runs a program in a group of its own, which is killed at its end and at that of ctx.
func run(ctx context.Context, argv, env []string, input string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	out := &beginning{}
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = "/", env, strings.NewReader(input), out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	kill := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel, cmd.WaitDelay = kill, time.Second
	if err := cmd.Start(); err != nil {
		return &failure{text: err.Error()}
	}
	err := cmd.Wait()
	_ = kill() // what it left running
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // it ended well, and something that it started holds its output
		return nil
	case errors.As(err, &exit):
		text := exit.ProcessState.String()
		if said := sanitize.Line(out.String(), 200); said != "" {
			text += ": " + said
		}
		return &failure{text: text, missed: exit.ExitCode() == tempFail}
	}
	return &failure{text: err.Error()}
}

// beginning keeps the beginning of what is written.
type beginning struct{ kept bytes.Buffer }

func (b *beginning) Write(p []byte) (int, error) {
	b.kept.Write(p[:min(len(p), max(0, maxOutput-b.kept.Len()))])
	return len(p), nil
}

func (b *beginning) String() string { return b.kept.String() }

// email hands messages to sendmail.
type email struct {
	argv []string
	from string
	to   []string
}

func (e email) send(ctx context.Context, m Message) error {
	argv := append(append([]string{}, e.argv...), "-i")
	if e.from != "" {
		argv = append(argv, "-f", e.from)
	}
	return run(ctx, append(argv, e.to...), environment(), e.mail(m, time.Now()))
}

// mail is a message by RFC 5322. Nothing of the message can begin a header: each is one line.
func (e email) mail(m Message, now time.Time) string {
	host, _ := os.Hostname()
	var b strings.Builder
	if e.from != "" {
		fmt.Fprintf(&b, "From: %s\n", e.from)
	}
	fmt.Fprintf(&b, "To: %s\nSubject: %s\nDate: %s\nMessage-ID: <%s@%s>\n", strings.Join(e.to, ", "),
		mime.QEncoding.Encode("utf-8", "[agent] "+m.subject), now.Format(time.RFC1123Z), strings.ReplaceAll(m.ID, ":", "."), cmp.Or(host, "localhost"))
	b.WriteString("Auto-Submitted: auto-generated\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n")
	w := quotedprintable.NewWriter(&b)
	_, _ = w.Write([]byte(m.Text + "\n"))
	_ = w.Close()
	return strings.ReplaceAll(b.String(), "\r\n", "\n")
}
