//go:build !linux

package sandbox

import (
	"errors"
	"syscall"
	"time"
)

// Available says that there is no sandbox on this system.
func Available() Status { return Status{Reason: "this system has none"} }

// Restricted says that there are no namespaces on this system.
func Restricted() string { return Available().Reason }

// Namespaces does nothing here.
func (p Policy) Namespaces(*syscall.SysProcAttr) {}

// Enter does nothing here.
func (p Policy) Enter() (now Policy, lacks, notes []string) { return p, nil, nil }

// Box is a policy as the kernel takes it: here, nothing.
type Box struct{}

// KillChildrenBut does nothing here: descendants cannot be found.
func KillChildrenBut([]int, time.Duration) (any bool, err error) { return false, nil }

// Box makes an empty box.
func (p Policy) Box(string) (*Box, error) { return &Box{}, nil }

// Restrict does nothing here.
func (b *Box) Restrict() error { return nil }

// Start calls start.
func (b *Box) Start(start func() error) error { return start() }

// Close does nothing here.
func (b *Box) Close() {}

// Undumpable does nothing here.
func Undumpable() {}

// Dumpable does nothing here.
func Dumpable() {}

// BecomeReaper does nothing here.
func BecomeReaper() {}

// DieWithParent are the attributes of any child here.
func DieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// KillDescendants does nothing here: descendants cannot be found.
func (p Policy) KillDescendants(time.Duration) (any bool, err error) { return false, nil }

// ReapChildrenBut does nothing here: process 1 collects orphans.
func ReapChildrenBut(...int) {}

// Box makes an empty box.
func (c Confinement) Box() (*Box, error) { return &Box{}, nil }

// Freeze fails here: processes cannot be looked at.
func Freeze(int, time.Duration) (thaw func(), err error) {
	return nil, errors.New("sandbox: processes cannot be stopped on this system")
}

// MostTasks is a bound that nothing enforces here.
const MostTasks = 4096

// MostMemory is a bound that nothing enforces here.
func MostMemory() uint64 { return 0 }

// Bound does nothing here.
func Bound(int, int, uint64) (release func()) { return func() {} }

// LimitSelf does nothing here.
func (p Policy) LimitSelf() {}

// Exceeded knows nothing here.
func (p Policy) Exceeded(...string) string { return "" }
