package sandbox

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// TestMain lets the test binary run a command in a box that is Landlock alone,
// as on machines where there are no namespaces.
func TestMain(m *testing.M) {
	switch args := os.Args[1:]; {
	case len(args) > 2 && args[0] == "in-box":
		fmt.Fprintln(os.Stderr, inBox(args[1], args[2:]))
		os.Exit(1)
	case len(args) == 3 && args[0] == "dial":
		if _, err := net.Dial(args[1], args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case len(args) == 2 && args[0] == "undumpable":
		Undumpable()
		fmt.Println("ready")
		_, _ = fmt.Scanln() // until the test ends
	case len(args) == 2 && args[0] == "host":
		runHost(args[1])
	default:
		os.Exit(m.Run())
	}
}

// runHost runs a script in namespaces of its own, where it can signal nobody
// else, and kills all of it when its input ends.
func runHost(script string) {
	cmd := exec.Command("sh", "-c", script)
	cmd.SysProcAttr = DieWithParent()
	cmd.SysProcAttr.Cloneflags = cloneFlags(false)
	runtime.LockOSThread()
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
	_, _ = fmt.Scanln()
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

func inBox(policy string, argv []string) error {
	runtime.LockOSThread()
	p, err := Parse(policy)
	if err != nil {
		return err
	}
	box, err := p.Box(os.Getenv("PATH"))
	if err != nil {
		return err
	}
	if err := box.Restrict(); err != nil {
		return err
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return err
	}
	return syscall.Exec(path, argv, os.Environ())
}

type bench struct {
	*testing.T
	policy Policy
	dir    string
}

func newBench(t *testing.T) bench {
	t.Helper()
	if abi() < abiScope {
		t.Fatalf("nothing can be proven here: Landlock has ABI %d, less than %d", abi(), abiScope)
	}
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	return bench{t, Policy{Write: []string{work}, Read: []string{os.Args[0]}}, dir}
}

func (b bench) run(argv ...string) (string, bool) {
	b.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = b.policy.Write[0]
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

func (b bench) forbidden(argv ...string) {
	b.Helper()
	if out, ok := b.run(append([]string{os.Args[0], "in-box", b.policy.Text()}, argv...)...); ok {
		b.Errorf("%q works in the box: %s", argv, out)
	}
	if out, ok := b.run(argv...); !ok {
		b.Errorf("%q proves nothing, it does not work outside either: %s", argv, out)
	}
}

func (b bench) works(argv ...string) {
	b.Helper()
	if out, ok := b.run(append([]string{os.Args[0], "in-box", b.policy.Text()}, argv...)...); !ok {
		b.Errorf("%q does not work in the box: %s", argv, out)
	}
}

func TestLandlockAlone(t *testing.T) {
	b := newBench(t)
	victim := exec.Command("sleep", "600")
	victim.Env = []string{"TOKEN=hunter2"}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = victim.Process.Kill(); _ = victim.Wait() }()
	pid := fmt.Sprint(victim.Process.Pid)
	secret := b.dir + "/secret"
	b.forbidden("cat", secret)
	b.forbidden("cat", "../secret")
	b.forbidden("cat", "/proc/self/root"+secret)
	b.forbidden("sh", "-c", "ln -sf "+secret+" l && cat l")
	b.forbidden("sh", "-c", "ln "+secret+" hard && rm hard")
	b.forbidden("sh", "-c", "echo x >> "+secret)
	b.forbidden("truncate", "-s", "1", secret)
	b.forbidden("sh", "-c", "touch "+b.dir+"/new && rm "+b.dir+"/new")
	b.forbidden("ls", b.dir)
	b.forbidden("cat", "/proc/"+pid+"/environ")
	b.forbidden("cat", "/proc/"+pid+"/cmdline")
	b.forbidden("ls", "/proc/"+pid)
	b.forbidden("sh", "-c", "head -c0 /proc/"+pid+"/mem")
	b.forbidden("kill", "-0", pid)
	b.works("sh", "-ec", "echo x > a; mkdir d; mv a d/a; ln -s d/a m; cat m; rm -r d; echo x > /dev/null; cat /proc/meminfo")
	if os.Geteuid() == 0 {
		b.forbidden("cat", "/etc/shadow")
		b.forbidden("sh", "-c", "mknod node b 7 0 && rm node")
	}
}

func TestLandlockRefusesTCP(t *testing.T) {
	b := newBench(t)
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	abstract, err := net.Listen("unix", fmt.Sprintf("@agent-box-%d", os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	defer abstract.Close()
	b.works(os.Args[0], "dial", "tcp", tcp.Addr().String())
	b.forbidden(os.Args[0], "dial", "unix", abstract.Addr().String())
	b.policy.NoNetwork = true
	b.forbidden(os.Args[0], "dial", "tcp", tcp.Addr().String())
}

// TestStartLeavesTheOthersFree proves that a box stays on the thread that was put in.
func TestStartLeavesTheOthersFree(t *testing.T) {
	b := newBench(t)
	box, err := b.policy.Box(os.Getenv("PATH"))
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	cmd := exec.Command("cat", b.dir+"/secret")
	if err := box.Start(cmd.Start); err != nil {
		t.Fatal(err)
	}
	if cmd.Wait() == nil {
		t.Error("the command was not in the box")
	}
	for range 100 {
		if _, err := os.ReadFile(b.dir + "/secret"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestUndumpable(t *testing.T) {
	cmd := exec.Command(os.Args[0], "undumpable", "x")
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close(); _ = cmd.Wait() }()
	if _, err := fmt.Fscanln(out, new(string)); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(fmt.Sprintf("/proc/%d/environ", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; owner != 0 {
		t.Errorf("it belongs to user %d", owner)
	}
	_, err = os.ReadFile(fmt.Sprintf("/proc/%d/environ", cmd.Process.Pid))
	if os.Geteuid() != 0 && err == nil { // root may, and is stopped by the sandbox
		t.Error("another process of the same user reads its environment")
	}
}
