package workspace_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRunCommand(t *testing.T) {
	b := open(t)
	b.write("run.sh", "#!/bin/sh\necho ran\n")
	if err := os.Chmod(b.dir+"/run.sh", 0o755); err != nil {
		t.Fatal(err)
	}
	sh := func(script string) args { return args{"argv": []string{"sh", "-c", script}} }
	b.want("run_command", args{"argv": []string{"echo", "$HOME; `x` *"}}, "exit code: 0\n$HOME; `x` *\n")
	b.want("run_command", args{"argv": []string{"./run.sh"}}, "exit code: 0\nran\n")
	b.want("run_command", sh("echo a; echo b >&2; echo c; exit 3"), "exit code: 3\na\nb\nc\n")
	b.want("run_command", sh("cat; pwd; echo $GIT_TERMINAL_PROMPT $GIVEN"), "exit code: 0\n"+b.dir+"\n0 yes\n")
	b.want("run_command", sh("kill -TERM $$"), "exit code: 143\n")
	b.want("run_command", sh(`printf 'a\377b'`), "exit code: 0\na\uFFFDb")
	b.refused("run_command", args{"argv": []string{"no-such-program"}}, `cannot run "no-such-program": executable file not found`)
	b.refused("run_command", args{"argv": []string{"./missing"}}, `cannot run "./missing": file does not exist`)
	b.refused("run_command", args{"argv": []string{}}, "argv must name a program")
	b.refused("run_command", args{"argv": "ls -l"}, "argument argv must not be a string")
	b.refused("run_command", args{"argv": []string{"ls"}, "timeout_seconds": 1801}, "must be 1 to 1800")
}

func TestOutputIsCutInTheMiddle(t *testing.T) {
	b := open(t)
	const lines = 100000
	got, _ := b.call("run_command", args{"argv": []string{"seq", "100000", "199999"}})
	var all strings.Builder
	for i := range lines {
		all.WriteString(strconv.Itoa(100000+i) + "\n")
	}
	half := 128 << 10
	text := all.String()
	want := "exit code: 0\n" + text[:half] + "\n[437856 bytes left out]\n" + text[len(text)-half:]
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
}

// waitForPID waits until a sleeper has written its pid.
func waitForPID(t *testing.T, file string) int {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		b, err := os.ReadFile(file)
		switch {
		case err == nil:
			pid, _ := strconv.Atoi(string(b))
			return pid
		case time.Now().After(deadline):
			t.Fatal("no pid in " + file)
		}
	}
}

// expectEnd waits until a process has ended, and ends it if it does not.
func expectEnd(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		switch {
		case err != nil || strings.Contains(string(stat), ") Z "):
			return
		case time.Now().After(deadline):
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatal("a process outlived its command")
		}
	}
}

func TestChildrenOfCommandsAreKilled(t *testing.T) {
	b := open(t)
	sleeper := os.Args[0] + " sleeper "
	t.Run("left behind", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "pid")
		got, _ := b.call("run_command", args{"argv": []string{"sh", "-c", sleeper + file + " & while ! test -e " + file + "; do sleep 0.01; done; echo done"}})
		if want := "exit code: 0\ndone\n\n[processes that the command left running were killed]"; got != want {
			t.Errorf("got %q", got)
		}
		expectEnd(t, waitForPID(t, file))
	})
	t.Run("timeout", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "pid")
		got, isError := b.call("run_command", args{"argv": []string{"sh", "-c", sleeper + file + " & echo begun; wait"}, "timeout_seconds": 1})
		if want := "the command did not end within 1 s and was killed, with its children; its output:\nbegun\n"; got != want || !isError {
			t.Errorf("got %q", got)
		}
		expectEnd(t, waitForPID(t, file))
	})
	t.Run("close", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "pid")
		b.call("run_command", args{"argv": []string{"sh", "-c", "setsid " + sleeper + file + " >/dev/null 2>&1 & while ! test -e " + file + "; do sleep 0.01; done"}})
		pid := waitForPID(t, file)
		_ = b.session.Close()
		expectEnd(t, pid)
	})
}

func TestGitDiff(t *testing.T) {
	b := open(t)
	b.refused("git_diff", nil, "not a git repository")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.com"}, args...)...)
		cmd.Dir = b.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	git("init", "-q")
	b.want("git_diff", args{}, "no changes")
	b.write("-n", "one\n")
	git("add", ".")
	if got, _ := b.call("git_diff", nil); !strings.Contains(got, "+++ b/-n\n@@ -0,0 +1 @@\n+one\n") {
		t.Errorf("before the first commit: %q", got)
	}
	git("commit", "-qm", "first")
	trap := filepath.Join(t.TempDir(), "trap")
	b.write("trap.sh", "#!/bin/sh\ntouch "+trap+"\ncat \"$2\"\n")
	if err := os.Chmod(b.dir+"/trap.sh", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"core.fsmonitor", "core.pager", "diff.external", "diff.x.textconv", "diff.x.command"} {
		git("config", key, b.dir+"/trap.sh")
	}
	b.write(".gitattributes", "* diff=x\n")
	b.write("-n", "two\n")
	b.write(".git/hooks/post-index-change", "#!/bin/sh\ntouch "+trap+"\n")
	if err := os.Chmod(b.dir+"/.git/hooks/post-index-change", 0o755); err != nil {
		t.Fatal(err)
	}
	got, isError := b.call("git_diff", nil)
	if isError || !strings.Contains(got, "-one\n+two\n") || !strings.HasSuffix(got, "Untracked files:\n.gitattributes\ntrap.sh\n") {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(trap); err == nil {
		t.Error("git ran a program of the repository")
	}
}

// TestGitCommit commits with what the agent noted in its clone, and nowhere else.
func TestGitCommit(t *testing.T) {
	b := open(t)
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = b.dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	b.refused("git_status", nil, "not a git repository")
	git("init", "-q", "-b", "main")
	b.write("-rf", "one\n")
	if got, _ := b.call("git_status", nil); got != "## No commits yet on main\n?? -rf\nno commits yet\n" {
		t.Errorf("status before the first commit: %q", got)
	}
	b.refused("git_commit", args{"message": "x"}, "people look at them")
	for key, value := range map[string]string{"user.name": "bot", "user.email": "bot@example.com", "agent.context": "3f2a"} {
		git("config", key, value)
	}
	ran := filepath.Join(t.TempDir(), "ran")
	b.write(".git/hooks/pre-commit", "#!/bin/sh\ntouch "+ran+"\n")
	if err := os.Chmod(b.dir+"/.git/hooks/pre-commit", 0o755); err != nil {
		t.Fatal(err)
	}
	b.refused("git_commit", args{"message": " \n"}, "message is empty")
	if got, isError := b.call("git_commit", args{"message": "--amend\n\nIt says $(id)."}); isError || !strings.HasPrefix(got, "committed ") || !strings.Contains(got, "1 file changed") {
		t.Errorf("commit: %q", got)
	}
	if got := git("log", "--format=%an <%ae>|%cn|%B"); got != "bot <bot@example.com>|bot|--amend\n\nIt says $(id).\n\nAgent-Context: 3f2a" {
		t.Errorf("log: %q", got)
	}
	b.want("git_commit", args{"message": "again"}, "nothing to commit")
	b.write("two", "2\n")
	if got, _ := b.call("git_status", nil); !strings.HasPrefix(got, "## main\n?? two\nLatest commits:\n") || !strings.HasSuffix(got, " --amend\n") {
		t.Errorf("status: %q", got)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a hook ran")
	}
}
