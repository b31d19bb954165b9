package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// watched are the system calls that leave something behind: they write, sync,
// rename, create, remove, lock or send.
var watched = map[uint64]string{
	unix.SYS_WRITE: "write", unix.SYS_PWRITE64: "pwrite64", unix.SYS_WRITEV: "writev",
	unix.SYS_FSYNC: "fsync", unix.SYS_FDATASYNC: "fdatasync", unix.SYS_FTRUNCATE: "ftruncate",
	unix.SYS_RENAMEAT: "renameat", unix.SYS_RENAMEAT2: "renameat2", unix.SYS_LINKAT: "linkat",
	unix.SYS_OPENAT: "openat", unix.SYS_MKDIRAT: "mkdirat", unix.SYS_UNLINKAT: "unlinkat", unix.SYS_FLOCK: "flock",
	unix.SYS_SENDTO: "sendto", unix.SYS_SENDMSG: "sendmsg",
}

// stop is what the kernel says about a thread that stopped at a system call.
type stop struct {
	Op   uint8
	_    [3]uint8
	Arch uint32
	_    [2]uint64 // where it stands
	Call uint64
	Args [6]uint64
	_    [8]uint64
}

const (
	getSyscallInfo = 0x420e // PTRACE_GET_SYSCALL_INFO
	atEntry        = 1
	exitKill       = 0x100000 // PTRACE_O_EXITKILL
)

// name gives the call if it is watched; of opens only those that may create.
func (s *stop) name() string {
	if s.Call == unix.SYS_OPENAT && s.Args[2]&(unix.O_CREAT|unix.O_TRUNC) == 0 {
		return ""
	}
	return watched[s.Call]
}

// tracer follows all threads of one process and nothing that it starts.
type tracer struct {
	pid     int
	target  int  // number of the call at which the process is killed, 0: none
	after   bool // when the call has returned, before the process learns of it
	made    []string
	pending map[int]bool // threads inside of the call that is the target
	known   map[int]bool
}

// trace runs a program, kills it at its n-th watched call, and returns its wait
// status and the names of the calls that it made. It waits for any child, so the
// process must have no other ones.
func trace(argv []string, n int, after bool) (syscall.WaitStatus, []string, error) {
	runtime.LockOSThread() // the tracer is a thread
	defer runtime.UnlockOSThread()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return 0, nil, err
	}
	t := &tracer{pid: cmd.Process.Pid, target: n, after: after, pending: map[int]bool{}, known: map[int]bool{}}
	status, err := t.follow()
	return status, t.made, err
}

func (t *tracer) follow() (syscall.WaitStatus, error) {
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(t.pid, &status, 0, nil); err != nil || !status.Stopped() {
		return status, fmt.Errorf("the program did not stop at its start: %w", err)
	}
	t.known[t.pid] = true
	if err := syscall.PtraceSetOptions(t.pid, syscall.PTRACE_O_TRACESYSGOOD|syscall.PTRACE_O_TRACECLONE|exitKill); err != nil {
		return status, err
	}
	for thread := t.pid; ; {
		signal := t.handle(thread, status)
		if err := syscall.PtraceSyscall(thread, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return status, err
		}
		for {
			var err error
			thread, err = syscall.Wait4(-1, &status, syscall.WALL, nil)
			if err != nil && !errors.Is(err, syscall.EINTR) {
				return status, err
			}
			if err == nil && status.Stopped() {
				break
			}
			if err == nil && thread == t.pid {
				return status, nil // the last of its threads
			}
		}
	}
}

// handle looks at a stop and gives the signal that the thread goes on with.
func (t *tracer) handle(thread int, status syscall.WaitStatus) int {
	signal := status.StopSignal()
	switch {
	case signal == syscall.SIGTRAP|0x80:
		t.atCall(thread)
		return 0
	case signal == syscall.SIGTRAP:
		return 0 // the start of the program or of a thread
	case signal == syscall.SIGSTOP && !t.known[thread]:
		t.known[thread] = true
		return 0 // the first stop of a new thread
	}
	return int(signal)
}

func (t *tracer) atCall(thread int) {
	var s stop
	_, _, errno := syscall.Syscall6(syscall.SYS_PTRACE, getSyscallInfo, uintptr(thread), unsafe.Sizeof(s), uintptr(unsafe.Pointer(&s)), 0, 0)
	if errno != 0 {
		return // it is dying
	}
	if s.Op != atEntry {
		if t.pending[thread] {
			t.kill()
		}
		return
	}
	name := s.name()
	if name == "" {
		return
	}
	t.made = append(t.made, name)
	if len(t.made) == t.target {
		if !t.after {
			t.kill()
		}
		t.pending[thread] = t.after
	}
}

func (t *tracer) kill() { _ = syscall.Kill(t.pid, syscall.SIGKILL) }
