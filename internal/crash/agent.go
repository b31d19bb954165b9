package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// run starts the agent, under the given command if there is one, and gives its
// exit code (128 plus the number of the signal that ended it) and output.
func (w *world) run(under []string) (code int, output string) {
	argv := append(under, w.agent, "run", "--config", filepath.Join(w.dir, "config.yaml"))
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = w.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, out.String()
	case !errors.As(err, &exit):
		return -1, err.Error()
	case exit.ExitCode() < 0:
		return 128 + 9, out.String() // strace ends like the process that it traced
	}
	return exit.ExitCode(), out.String()
}

// strace follows the threads of the agent, and lets go of what it starts.
func strace(options ...string) []string {
	return append([]string{"strace", "-f", "-b", "execve", "-qq"}, options...)
}

// killed runs the agent until a thread makes its n-th call of this name, and
// reports whether it came to that.
func (w *world) killed(name string, n int) (bool, error) {
	code, out := w.run(strace("-o", "/dev/null", "-e", "trace="+name, "-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", name, n)))
	switch code {
	case 0:
		return false, nil
	case 128 + 9:
		return true, nil
	}
	return false, fmt.Errorf("exit code %d under strace\n%s", code, out)
}

// countCalls runs the agent to its end and counts its calls by name and thread.
func (w *world) countCalls(names []string) (map[string]threads, error) {
	trace := filepath.Join(w.dir, "trace")
	if code, out := w.run(strace("-o", trace, "-e", "trace="+strings.Join(names, ","))); code != 0 {
		return nil, fmt.Errorf("exit code %d under strace\n%s", code, out)
	}
	f, err := os.Open(trace)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	count := map[string]threads{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		thread, call, _ := strings.Cut(lines.Text(), " ")
		name, _, isCall := strings.Cut(strings.TrimSpace(call), "(")
		if !isCall || strings.HasPrefix(name, "<") {
			continue // the second half of an interrupted line
		}
		if count[name] == nil {
			count[name] = threads{}
		}
		count[name][thread]++
	}
	return count, nil
}
