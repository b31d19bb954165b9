package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// killedCode is the exit code of a process that SIGKILL ended, and of its tracer.
const killedCode = 128 + int(syscall.SIGKILL)

// run starts the agent, under the given command if there is one, and gives its
// exit code and output.
func (w *scene) run(under ...string) (code int, output string) {
	argv := append(under, w.agent, "run", "--config", w.Path("config.yaml"))
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = w.Dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.Dir}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, out.String()
	case !errors.As(err, &exit):
		return -1, err.Error()
	}
	return exit.ExitCode(), out.String()
}

// traced runs the agent, kills it at its n-th call (0: never), and gives its
// exit code, its output and the names of the calls that it made. A process of
// its own does that: the tracer waits for any child.
func (w *scene) traced(n int, after bool) (code int, output string, made []string) {
	list := w.Path("calls")
	code, output = w.run(w.self, "trace", strconv.Itoa(n), strconv.FormatBool(after), list)
	data, err := os.ReadFile(list)
	if err != nil {
		return -1, output + err.Error(), nil
	}
	return code, output, strings.Fields(string(data))
}

// traceCommand is the other side of traced: args are n, after, the file for the
// names of the calls, and the command line.
func traceCommand(args []string) int {
	if len(args) < 4 {
		fmt.Fprintln(os.Stderr, "crash trace: N AFTER FILE COMMAND...")
		return 2
	}
	n, errN := strconv.Atoi(args[0])
	after, errAfter := strconv.ParseBool(args[1])
	status, made, err := trace(args[3:], n, after)
	if err == nil {
		err = os.WriteFile(args[2], []byte(strings.Join(made, "\n")), 0o600)
	}
	if err = errors.Join(errN, errAfter, err); err != nil {
		fmt.Fprintln(os.Stderr, "crash trace:", err)
		return 3
	}
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}
