package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	defaultTimeout = 300  // seconds
	maxTimeout     = 1800 // seconds
)

type commandArgs struct {
	Command    text   `json:"command"`
	Argv       words  `json:"argv"`
	Dir        string `json:"cwd"`
	Timeout    *int   `json:"timeout_seconds"`
	Background bool   `json:"background"`
	Why        string `json:"description"` // some models add it; nobody reads it
}

// text is a command line. Other tools take a list here: it is as good.
type text struct {
	line string
	argv []string
}

func (t *text) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &t.argv) == nil {
		return nil
	}
	return json.Unmarshal(data, &t.line)
}

// words are a list of arguments, or a command line in its place.
type words struct{ text }

func (w *words) UnmarshalJSON(data []byte) error { return w.text.UnmarshalJSON(data) }

// argv is what is run, and line what stands for it in answers.
func (a commandArgs) argv() (argv []string, line string, err error) {
	argv, line = a.Argv.argv, cmp.Or(a.Command.line, a.Argv.line)
	if argv == nil {
		argv = a.Command.argv
	}
	switch {
	case argv != nil && line != "":
		return nil, "", errors.New("give either command or argv")
	case len(argv) > 0 && argv[0] != "":
		return argv, strings.Join(argv, " "), nil
	case argv != nil || strings.TrimSpace(line) == "":
		return nil, "", errors.New(`command must be a command line, for example "go test ./..."; argv must name a program, for example ["go", "test", "./..."]`)
	}
	return shell(line), line, nil
}

// shell runs a line. A failure before a pipe is one of the line: tests are piped to tail.
func shell(line string) []string {
	if _, err := exec.LookPath("bash"); err == nil {
		return []string{"bash", "-o", "pipefail", "-c", line}
	}
	return []string{"sh", "-c", line}
}

func (a commandArgs) seconds() (int, error) {
	if a.Timeout == nil {
		return defaultTimeout, nil
	}
	seconds := *a.Timeout
	if seconds > maxTimeout && seconds%1000 == 0 { // other tools count milliseconds
		seconds = min(seconds/1000, maxTimeout)
	}
	if seconds < 1 || seconds > maxTimeout {
		return 0, fmt.Errorf("timeout_seconds must be 1 to %d; a command with background runs on", maxTimeout)
	}
	return seconds, nil
}

func (w *workspace) runCommand(ctx context.Context, args commandArgs) (string, error) {
	argv, line, err := args.argv()
	if err != nil {
		return "", err
	}
	seconds, err := args.seconds()
	if err != nil {
		return "", err
	}
	p := program{argv: argv, env: calm()}
	if p.dir, err = w.commandDir(args.Dir); err != nil {
		return "", err
	}
	if args.Background {
		return w.startJob(ctx, p, line)
	}
	ctx, end := w.untilEnding(ctx)
	defer end()
	limited, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	r := w.record(line)
	p.out = r
	stop := reportProgress(ctx, r.latest)
	ran, err := w.run(limited, p)
	stop()
	if err != nil {
		return "", err
	}
	code, why, failed := ran.said(seconds)
	if ran.killed && ctx.Err() != nil {
		why = "the agent was ending, or waited no longer: the command was killed, with its children"
	}
	r.finish(code, why)
	w.junit(r)
	if failed {
		return "", errors.New(r.answer())
	}
	return r.answer(), nil
}

// untilEnding gives a context that ends with the call or with the server.
func (w *workspace) untilEnding(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	go func() {
		select {
		case <-w.ending:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// said is how a command ended: its exit code or "killed", and more about it.
func (r *ran) said(seconds int) (end, why string, failed bool) {
	switch {
	case r.exceeded != "":
		return "killed", fmt.Sprintf("the command used %s and was killed, with its children", r.exceeded), true
	case r.killed:
		return "killed", fmt.Sprintf("the command did not end within %d s and was killed, with its children; timeout_seconds can be %d, background has no limit", seconds, maxTimeout), true
	}
	end = fmt.Sprint(r.code)
	if killed, known := ends[r.code]; known {
		return end, "the command " + killed, true
	}
	if r.code == 128+int(syscall.SIGPIPE) {
		why = "a program wrote to a pipe that was closed, as by head"
	}
	if r.leftovers {
		why = strings.TrimPrefix(why+"; processes that the command left running were killed", "; ")
	}
	return end, why, false
}

// commandDir is the directory that a command runs in: a real one in the workspace.
func (w *workspace) commandDir(path string) (string, error) {
	if path == "" {
		return w.dir, nil
	}
	name, err := w.relative(path)
	if err != nil {
		return "", err
	}
	if name, err = w.resolve(name); err != nil {
		return "", plain(path, err)
	}
	info, err := w.root.Stat(name)
	switch {
	case err != nil:
		return "", plain(path, err)
	case !info.IsDir():
		return "", fmt.Errorf("%q is not a directory", path)
	}
	return filepath.Join(w.dir, name), nil
}

// calm are variables that keep programs from colours, pagers, and questions that nobody answers.
func calm() []string {
	return []string{
		"TERM=dumb", "NO_COLOR=1", "CI=true", "PAGER=cat", "GIT_PAGER=cat", "GIT_EDITOR=true", "EDITOR=true", "PYTHONUNBUFFERED=1",
		"DEBIAN_FRONTEND=noninteractive", "PIP_NO_INPUT=1", "PIP_DISABLE_PIP_VERSION_CHECK=1", "npm_config_fund=false", "npm_config_update_notifier=false",
	}
}

// ends says in words why the kernel ended a command: the bare numbers tell a model nothing.
var ends = map[int]string{
	128 + int(syscall.SIGXFSZ): "wrote a file that is larger than the limit of 4 GiB and was killed",
	128 + int(syscall.SIGXCPU): "used more processor time than it may and was killed",
	128 + int(syscall.SIGKILL): "was killed from outside, as the system does when memory runs out",
}
