package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// Box is a policy as the kernel takes it.
type Box struct {
	ruleset int // descriptor; -1 where there is no Landlock
	flags   uint32
}

// Box compiles the policy. Paths that do not exist are left out, and so is what
// the kernel cannot do. path is the PATH of what will run inside.
func (p Policy) Box(path string) (*Box, error) {
	config := landlock.Config{HandledAccessFS: landlock.V11.HandledAccessFS, Scoped: landlock.V11.Scoped}
	if p.NoNetwork && !p.Alone { // else programs may talk to each other
		config.HandledAccessNet = landlock.V11.HandledAccessNet
	}
	return newBox(config, p.rules(path))
}

func (p Policy) rules(path string) []landlock.Rule {
	var rules []landlock.Rule
	for _, name := range p.readable(path) {
		rules = append(rules, readOnlyRule(name))
	}
	for _, name := range p.writable() {
		if isDir(name) {
			rules = append(rules, wholeTree(name))
		} else {
			rules = append(rules, landlock.PathAccess(inFiles&handled(), name))
		}
	}
	for _, name := range present(append([]string(nil), devices...)) {
		rules = append(rules, landlock.RWFiles(name).WithIoctlDev())
	}
	return rules
}

// What can be done in a tree, and with the files of one.
const (
	inTrees = landlock.AccessFSSet(ll.AccessFSMakeDir | ll.AccessFSMakeReg | ll.AccessFSMakeSock | ll.AccessFSMakeFifo |
		ll.AccessFSMakeSym | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSReadDir)
	inFiles = landlock.AccessFSSet(ll.AccessFSExecute | ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSTruncate)
)

// handled are the accesses to files that the kernel's Landlock knows.
func handled() landlock.AccessFSSet {
	if abi() < abiTruncate {
		return landlock.V11.HandledAccessFS &^ ll.AccessFSTruncate
	}
	return landlock.V11.HandledAccessFS
}

// wholeTree allows everything in a directory.
func wholeTree(name string) landlock.Rule {
	access := inTrees | inFiles
	if abi() >= abiReparent {
		access |= ll.AccessFSRefer
	}
	return landlock.PathAccess(access&handled(), name)
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// abi is the version of the kernel's Landlock, 0 for none.
func abi() int {
	version, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return version
}

// Restrict puts the calling thread, and what it starts from now on, into the
// box. The caller has locked the thread and never unlocks it.
func (b *Box) Restrict() error {
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("sandbox: capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("sandbox: no_new_privs: %w", err)
	}
	if b.ruleset < 0 {
		return nil
	}
	if err := ll.LandlockRestrictSelf(b.ruleset, b.flags); err != nil {
		return fmt.Errorf("sandbox: landlock: %w", err)
	}
	return nil
}

// Start calls start on a thread inside the box; the thread ends afterwards, so
// start must not ask for a parent-death signal.
func (b *Box) Start(start func() error) error {
	result := make(chan error, 1)
	go b.startHere(start, result)
	return <-result
}

// startHere is never done on the first thread: it stands for the whole process,
// and what is inside could read its memory if it were inside as well.
func (b *Box) startHere(start func() error, result chan<- error) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		defer runtime.UnlockOSThread()
		elsewhere := make(chan error, 1)
		go b.startHere(start, elsewhere)
		result <- <-elsewhere
		return
	}
	if err := b.Restrict(); err != nil { // no unlock: the thread ends with the goroutine
		result <- err
		return
	}
	result <- start()
}

// Close frees the box; what is inside stays inside.
func (b *Box) Close() {
	if b.ruleset >= 0 {
		_ = syscall.Close(b.ruleset)
	}
}
