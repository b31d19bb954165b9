package workspace_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"agent/internal/exhaustive"
	"agent/internal/sandbox"
	"agent/mcp"
)

func init() { intrude = tryIntrusion }

// tryIntrusion tries one thing that a sandbox forbids and that no shell command does.
func tryIntrusion(what, target string) error {
	switch what {
	case "trace":
		runtime.LockOSThread()
		pid := 0
		_, _ = fmt.Sscan(target, &pid)
		if err := syscall.PtraceAttach(pid); err != nil {
			return err
		}
		if _, err := syscall.Wait4(pid, nil, syscall.WALL, nil); err != nil {
			return err
		}
		return syscall.PtraceDetach(pid)
	case "open-memory":
		f, err := os.OpenFile("/proc/"+target+"/mem", os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return f.Close()
	case "mount":
		return syscall.Mount("proc", "/proc", "proc", 0, "")
	default:
		c, err := net.Dial(what, target)
		if err != nil {
			return err
		}
		return c.Close()
	}
}

// house is a machine's secrets around a workspace.
type house struct {
	*testing.T
	dir, work string
	pool      *mcp.Pool
	session   *mcp.Session
}

// secrets are files in the house; each holds its own name.
var secrets = []string{
	"home/.ssh/id_ed25519", "home/.gitconfig", "home/.netrc", "home/.config/agent/config.yaml", "home/.cargo/credentials.toml",
	"contexts/.key", "contexts/running/1/events.jsonl", "workspaces/other/main.go",
}

func build(t *testing.T, change func(*mcp.ServerConfig)) *house {
	t.Helper()
	return buildAt(t, "", change)
}

// buildAt builds a house whose home is another one.
func buildAt(t *testing.T, home string, change func(*mcp.ServerConfig)) *house {
	t.Helper()
	if s := sandbox.Available(); s.Landlock == 0 && !s.Namespaces {
		t.Fatalf("nothing can be proven: this machine has neither mechanism: %q", s.Lines())
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &house{T: t, dir: dir, work: filepath.Join(dir, "workspaces/mine")}
	for _, name := range append(secrets, "workspaces/mine/file") {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := mcp.ServerConfig{Name: "workspace", Command: []string{"agent", "mcp", "workspace", "--root", "{workspace}"}, Sandbox: "auto"}
	if change != nil {
		change(&config)
	}
	getenv := func(name string) string {
		if name == "HOME" && home == "" {
			return dir + "/home"
		}
		return os.Getenv(name)
	}
	pool := mcp.NewPool([]mcp.ServerConfig{config}, mcp.Options{Getenv: getenv, Deny: []string{dir + "/contexts", dir + "/workspaces", h.work + "/keys/app.pem", h.work + "/link.pem", h.work + "/own"},
		Stderr: func(_, line string) { t.Log(line) }})
	t.Cleanup(func() { _ = pool.Close() })
	h.pool, h.session = pool, pool.Session(h.work)
	return h
}

// inside runs a command in the sandbox and says whether it succeeded.
func (h *house) inside(argv ...string) (output string, ok bool) {
	h.Helper()
	raw, _ := json.Marshal(map[string]any{"argv": argv})
	result, err := h.session.Call(h.Context(), "workspace", "run_command", raw)
	if err != nil {
		h.Fatal(err)
	}
	return result.Text, strings.HasPrefix(result.Text, "exit code: 0\n")
}

// outside runs it without one.
func (h *house) outside(argv ...string) (output string, ok bool) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = h.work
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// forbidden expects that a command works, but not in the sandbox.
func (h *house) forbidden(argv ...string) {
	h.Helper()
	if out, ok := h.inside(argv...); ok {
		h.Errorf("%q works in the sandbox: %s", argv, out)
	}
	if out, ok := h.outside(argv...); !ok {
		h.Errorf("%q proves nothing, it does not work outside either: %s", argv, out)
	}
}

// withNamespaces says whether there are namespaces, and in the log what is not proven without.
func (h *house) withNamespaces(what string) bool {
	h.Helper()
	if s := sandbox.Available(); !s.Namespaces {
		h.Logf("not proven here, where there are no namespaces (%s): %s", s.Reason, what)
		return false
	}
	return true
}

// contained expects that a command makes a file that stands in the machine, but
// not if it runs in the sandbox, where it may make one that only itself sees.
func (h *house) contained(path string, argv ...string) {
	h.Helper()
	h.inside(argv...)
	if _, err := os.Lstat(path); err == nil {
		h.Errorf("%q leaves the sandbox", argv)
	}
	out, _ := h.outside(argv...)
	if err := os.Remove(path); err != nil {
		h.Errorf("%q proves nothing, it does not work outside either: %s", argv, out)
	}
}

// works expects that a shell script succeeds in the sandbox.
func (h *house) works(script string) {
	h.Helper()
	if out, ok := h.inside("sh", "-ec", script); !ok {
		h.Errorf("%q does not work in the sandbox: %s", script, out)
	}
}

// victim is a process of the same user.
func victim(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	cmd.Env = []string{"TOKEN=hunter2"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return fmt.Sprint(cmd.Process.Pid)
}

func TestSandboxHidesSecrets(t *testing.T) {
	h := build(t, nil)
	for _, name := range secrets {
		path := filepath.Join(h.dir, name)
		h.forbidden("cat", path)
		h.forbidden("sh", "-c", "ln -sf "+path+" link && cat link")
		h.forbidden("sh", "-c", "ln "+path+" hard && rm hard")
		h.forbidden("sh", "-c", "echo changed >> "+path)
		h.forbidden("cat", "/proc/self/root"+path)
	}
	h.forbidden("ls", h.dir+"/home/.ssh")
	h.forbidden("ls", h.dir+"/workspaces/other")
	h.forbidden("cat", "../other/main.go")
	for _, dir := range []string{h.dir, h.dir + "/home", h.dir + "/contexts", h.dir + "/workspaces", "/var/tmp"} {
		path := dir + "/agent-test-new"
		h.contained(path, "touch", path)
		h.contained(path, "mkdir", path)
		h.contained(path, "sh", "-c", "echo x > moved && mv moved "+path)
		h.contained(path, "ln", "-s", "x", path)
	}
	h.forbidden("sh", "-c", ": > "+h.dir+"/home/.netrc")
	if os.Geteuid() == 0 {
		h.forbidden("cat", "/etc/shadow")
	}
	if !h.withNamespaces("modes and times of files outside stay") {
		return
	}
	h.forbidden("chmod", "0644", h.dir+"/home/.netrc")
	owned := filepath.Join(filepath.Dir(os.Args[0]), "owned") // neither in /tmp nor in a home, if the tests are not there
	if err := os.WriteFile(owned, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(owned)
	h.forbidden("chmod", "0644", owned)
	h.forbidden("touch", "-d", "2001-01-01", os.Args[0])
	if os.Geteuid() == 0 {
		h.forbidden("chmod", "0644", "/etc/passwd")
	}
}

// TestDeniedInTheWorkspace: with a workspace that is worked on in place, the App's
// key or the configuration may lie in it. They are neither read nor changed.
func TestDeniedInTheWorkspace(t *testing.T) {
	h := build(t, nil)
	if !h.withNamespaces("denied files in the workspace") {
		return
	}
	const word = "words-of-the-key"
	hidden := []string{"keys/app.pem", "own/config.yaml", "real.pem"}
	for _, name := range hidden {
		path := filepath.Join(h.work, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(word), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("real.pem", h.work+"/link.pem"); err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{
		"cat $F", "cp $F x; cat x", "ln $F x && cat x", "ln -s $F y; cat y", "dd if=$F", "cat /proc/self/root$PWD/$F", "cat ./keys/../$F",
		"mv keys keys2; cat keys2/*; mv keys2 keys", "grep -r words .", "git init -q .; git add -A; git grep --cached words", "tar cf - . | grep -a words",
		"echo changed > $F", "rm -f $F", "umount $F; cat $F", "truncate -s 0 $F", "mount --bind $F file; cat file",
		"unshare -Urm sh -c 'umount $F; cat $F'",
	} {
		for _, name := range hidden {
			if out, _ := h.inside("sh", "-c", "F="+name+"; "+script); strings.Contains(out, word) {
				t.Errorf("%s: %s: %s", name, script, out)
			}
			if data, err := os.ReadFile(filepath.Join(h.work, name)); string(data) != word {
				t.Errorf("%s: %s: it is now %q %v", name, script, data, err)
			}
		}
	}
	h.works("echo x > new && cat new && rm -rf new x y")
}

func TestSandboxHidesProcesses(t *testing.T) {
	h := build(t, nil)
	pid, self := victim(t), os.Args[0]
	h.forbidden("sh", "-c", "test -n \"$(tr -d '\\0' < /proc/"+pid+"/environ)\"")
	h.forbidden("sh", "-c", "ls /proc/"+pid+"/cwd/ >/dev/null")
	h.forbidden("cat", "/proc/"+pid+"/cmdline")
	h.forbidden("kill", "-0", pid)
	h.forbidden(self, "intrude", "trace", pid)
	h.forbidden(self, "intrude", "open-memory", pid)
	h.works("cat file >/dev/null") // so that the server has a process
	if out, ok := h.inside("sh", "-c", "for p in /proc/[0-9]*; do test $p = /proc/$$ || tr '\\0' '\\n' < $p/environ; done 2>/dev/null | grep "+sandbox.Variable); ok {
		t.Errorf("the environment of the server can be read: %s", out)
	}
	if out, ok := h.inside("sh", "-c", "kill -0 $PPID || kill -0 1"); ok {
		t.Errorf("the server can be signalled: %s", out)
	}
	if out, ok := h.inside(self, "intrude", "mount", ""); ok {
		t.Errorf("file systems can be mounted: %s", out)
	}
	if out, ok := h.inside("sh", "-c", "env | grep "+sandbox.Variable); ok {
		t.Errorf("a command sees its policy: %s", out)
	}
	if out, ok := h.inside("sh", "-c", "cat /proc/1/cmdline | tr '\\0' '\\n' | grep -F -e contexts -e "+h.dir+"/home"); ok {
		t.Errorf("command lines show what is denied: %s", out)
	}
}

// listen waits for connections, on all that a machine has.
func (h *house) listen() (tcp, abstract, file string) {
	h.Helper()
	open := func(network, address string) string {
		l, err := net.Listen(network, address)
		if err != nil {
			h.Fatal(err)
		}
		h.Cleanup(func() { _ = l.Close() })
		return l.Addr().String()
	}
	name := fmt.Sprintf("@agent-test-%d", os.Getpid())
	return open("tcp", "127.0.0.1:0"), open("unix", name), open("unix", h.dir+"/home/socket")
}

func TestSandboxNetwork(t *testing.T) {
	self := os.Args[0]
	t.Run("on", func(t *testing.T) {
		h := build(t, nil)
		tcp, abstract, file := h.listen()
		h.works(self + " intrude tcp " + tcp)
		h.forbidden(self, "intrude", "unix", abstract)
		if sandbox.Available().Landlock >= 9 || h.withNamespaces("sockets in directories cannot be reached") {
			h.forbidden(self, "intrude", "unix", file)
		}
	})
	t.Run("off", func(t *testing.T) {
		h := build(t, func(c *mcp.ServerConfig) { c.Network = "off" })
		tcp, abstract, _ := h.listen()
		h.forbidden(self, "intrude", "tcp", tcp)
		h.forbidden(self, "intrude", "unix", abstract)
	})
}

func TestSandboxRequired(t *testing.T) {
	h := build(t, func(c *mcp.ServerConfig) { c.Sandbox, c.Network = "required", "off" })
	_, lack := sandbox.Policy{NoNetwork: true}.Check()
	server := h.session.List(t.Context())[0]
	if (server.Err == "") != (lack == nil) {
		t.Errorf("the machine lacks %v, the server says %q", lack, server.Err)
	}
}

// goTools links two programs only where time is no matter.
func goTools() string {
	if exhaustive.Brief() {
		return "go vet ."
	}
	return "go vet . && go test . && go test -c -o $TMPDIR/m.bin . && $TMPDIR/m.bin"
}

func TestToolsWorkInTheSandbox(t *testing.T) {
	home := os.Getenv("HOME")
	h := buildAt(t, home, func(c *mcp.ServerConfig) {
		c.Env = map[string]string{"GOFLAGS": "-buildvcs=false -modcacherw", "GOCACHE": home + "/.cache/go-build"} // an empty one costs a minute
		c.Write = []string{home + "/.cache/go-build"}
	})
	lock := ""
	if h.withNamespaces("shared memory works") {
		lock = "multiprocessing.Lock(); "
	}
	h.works(`test "$(cat file)" = workspaces/mine/file; echo new > made; mkdir -p a/b; mv made a/b/made; rm -r a; ln -s file l; test -r l`)
	h.works(`echo x > $HOME/x; echo x > $TMPDIR/x; mktemp; test "$(stat -c %a $TMPDIR/..)" = 700`)
	h.works(`echo x > /dev/null; head -c1 /dev/urandom >/dev/null; test -n "$(cat /proc/cpuinfo | head -1)"; cat /dev/fd/0 </dev/null`)
	h.works(`git init -q . && git -c user.name=n -c user.email=e@example.com commit -qm x --allow-empty && git log --oneline`)
	h.works(`printf 'module m\n\ngo 1.21\n' > go.mod
		printf 'package m\n\nimport "testing"\n\nfunc TestX(t *testing.T) { t.TempDir() }\n' > m_test.go
		` + goTools())
	for tool, script := range map[string]string{ // those that this machine has
		"python3": `python3 -c 'import os, tempfile, multiprocessing; tempfile.TemporaryFile(); ` + lock + `print(os.listdir("."))'`,
		"node":    `node -e 'require("fs").writeFileSync("n", String(require("os").cpus().length))'`,
		"rustc":   `printf 'fn main() {}' > r.rs && rustc r.rs && ./r`,
		"cc":      `printf 'int main(void) { return 0; }' > c.c && cc c.c && ./a.out`,
	} {
		if _, ok := h.outside(tool, "--version"); !ok {
			t.Logf("%s is not here and was not tried", tool)
			continue
		}
		h.works(script)
	}
}
