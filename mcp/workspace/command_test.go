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
)

func TestRunCommand(t *testing.T) {
	b := open(t)
	b.write("run.sh", "#!/bin/sh\necho ran\n")
	if err := os.Chmod(b.dir+"/run.sh", 0o755); err != nil {
		t.Fatal(err)
	}
	sh := func(script string) args { return args{"argv": []string{"sh", "-c", script}} }
	b.write("sub/x", "")
	b.wantRun(args{"argv": []string{"echo", "$HOME; `x` *"}}, "exit code: 0\n[]\n$HOME; `x` *\n")
	b.wantRun(args{"command": "echo $((1+1)) | cat; echo \"a  b\""}, "exit code: 0\n[]\n2\na  b\n")
	b.wantRun(args{"command": "false | cat"}, "exit code: 1\n[]\n")
	b.wantRun(args{"command": "yes | head -n 1"}, "exit code: 141\n[a program wrote to a pipe that was closed, as by head]\ny\n")
	b.wantRun(args{"cmd": "pwd", "workdir": "sub"}, "exit code: 0\n[]\n"+b.dir+"/sub\n")
	b.wantRun(args{"command": []string{"echo", "a list"}, "timeout": 120000, "description": "x"}, "exit code: 0\n[]\na list\n")
	b.wantRun(args{"argv": "echo a line"}, "exit code: 0\n[]\na line\n")
	b.wantRun(args{"argv": []string{"./run.sh"}}, "exit code: 0\n[]\nran\n")
	b.wantRun(sh("echo a; echo b >&2; echo c; exit 3"), "exit code: 3\n[]\na\nb\nc\n")
	b.wantRun(sh("cat; pwd; echo $GIT_TERMINAL_PROMPT $GIVEN $TERM $NO_COLOR $CI; (: </dev/tty) || echo no terminal"),
		"exit code: 0\n[]\n"+b.dir+"\n0 yes dumb 1 true\nsh: 1: cannot open /dev/tty: No such device or address\nno terminal\n")
	b.wantRun(sh("kill -TERM $$"), "exit code: 143\n[]\n")
	b.wantRun(sh(`printf 'a\377b'`), "exit code: 0\n[]\na\uFFFDb")
	b.refused("run_command", args{"argv": []string{"no-such-program"}}, `cannot run "no-such-program": executable file not found`)
	b.refused("run_command", args{"argv": []string{"./missing"}}, `cannot run "./missing": file does not exist`)
	b.refused("run_command", args{"argv": []string{}}, "argv must name a program")
	b.refused("run_command", args{}, "command must be a command line")
	b.refused("run_command", args{"argv": []string{"ls"}, "command": "ls"}, "either command or argv")
	b.refused("run_command", args{"argv": []string{"ls"}, "timeout_seconds": 1801}, "must be 1 to 1800")
	b.refused("run_command", args{"command": "ls", "cwd": "../"}, "outside of the workspace")
	b.refused("run_command", args{"command": "ls", "cwd": "run.sh"}, "not a directory")
}

// TestOutputIsFolded: what a terminal would have overwritten or coloured is not shown.
func TestOutputIsFolded(t *testing.T) {
	b := open(t)
	for script, want := range map[string]string{
		`printf '\033[1;31mred\033[0m \033]0;title\007x\n'`: "red x\n",
		`printf ' 10%%\r 50%%\r100%%\ndone\n'`:              "100%\ndone\n",
		`printf 'dos\r\nend\r\n'`:                           "dos\nend\n",
		`printf 'abd\bc\n'`:                                 "abc\n",
		`printf 'cut \033['`:                                "cut ",
		`printf '\033(Bplain\033=\n'`:                       "plain\n",
		`printf 'no end\r'`:                                 "no end",
		`printf '\033[2K\033[1Gdownload 日本\n'`:              "download 日本\n",
	} {
		b.wantRun(args{"argv": []string{"sh", "-c", script}}, "exit code: 0\n[]\n"+want)
	}
}

// TestOutputIsCutInTheMiddle: the ends are shown, in whole lines, and the rest can be read.
func TestOutputIsCutInTheMiddle(t *testing.T) {
	b := open(t)
	got, _ := b.ran(args{"argv": []string{"seq", "100000", "199999"}})
	if want := "exit code: 0\n[659050 of 700000 bytes of output left out: command_output with id 1 shows them]\n100000\n"; !strings.HasPrefix(got, want) {
		t.Errorf("begins with %q", got[:200])
	}
	if want := "\n102924\n[659050 bytes left out]\n197075\n"; !strings.Contains(got, want) || !strings.HasSuffix(got, "\n199999\n") {
		t.Errorf("%q", got[20400:21000])
	}
	b.wantMatch("command_output", args{"id": 1, "start_line": 50000, "end_line": 50001}, `^\[command 1 ended after [0-9.]+ s with exit code 0: seq 100000 199999\]\n\[lines 50000 to 50001 of 100000\]\n50000\t149999\n50001\t150000$`)
	b.wantMatch("command_output", args{"id": 1}, `\[lines 99801 to 100000 of 100000\]\n(?s:.*)\n100000\t199999$`)
	b.wantMatch("command_output", args{"id": 1, "pattern": "1500.5$"}, `\]\n50006\t150005\n50016\t150015\n`)
	b.refused("command_output", args{"id": 7}, "id must be that of a command: 1")
	b.refused("command_output", args{}, "id must be that of a command: 1")
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
		got, _ := b.ran(args{"argv": []string{"sh", "-c", sleeper + file + " & while ! test -e " + file + "; do sleep 0.01; done; echo done"}})
		if want := "exit code: 0\n[processes that the command left running were killed]\ndone\n"; got != want {
			t.Errorf("got %q", got)
		}
		expectEnd(t, waitForPID(t, file))
	})
	t.Run("timeout", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "pid")
		got, isError := b.ran(args{"argv": []string{"sh", "-c", sleeper + file + " & echo begun; wait"}, "timeout_seconds": 1})
		if want := "exit code: killed\n[the command did not end within 1 s and was killed, with its children; timeout_seconds can be 1800, background has no limit]\nbegun\n"; got != want || !isError {
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
	if isError || !strings.Contains(got, "-one\n+two\n") || !strings.Contains(got, "diff --git a/.gitattributes b/.gitattributes\nnew file\n--- /dev/null\n+++ b/.gitattributes\n@@ -0,0 +1,1 @@\n+* diff=x\n") || !strings.Contains(got, "+++ b/trap.sh") {
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
