package contexts

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"syscall"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/cluster"
	"agent/internal/fsx"
)

// Exit codes, as in sysexits.h.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitDamage      = 65 // damaged data
	ExitUnsupported = 69 // written by a newer release
	ExitIO          = 74
	ExitTemporary   = 75 // disk full and the like: goes away by itself
	ExitConfig      = 78 // modes, owner
)

// precedence orders the codes when several apply, the strongest first.
var precedence = []int{ExitConfig, ExitIO, ExitTemporary, ExitUnsupported, ExitDamage, ExitFailed, ExitUsage, ExitOK}

// ExitCode maps an error to the exit code of the process. Of joined errors the
// strongest counts. nil, busy and warnings are 0; what it does not know is 1.
func ExitCode(err error) int {
	if err == nil {
		return ExitOK
	}
	if code, ok := codeOf(err); ok {
		return code
	}
	var inner []error
	switch w := err.(type) {
	case interface{ Unwrap() error }:
		inner = []error{w.Unwrap()}
	case interface{ Unwrap() []error }:
		inner = w.Unwrap()
	}
	best := -1
	for _, e := range inner {
		if i := slices.Index(precedence, ExitCode(e)); e != nil && (best < 0 || i < best) {
			best = i
		}
	}
	if best < 0 {
		return ExitFailed
	}
	return precedence[best]
}

// codeOf classifies one link of an error chain.
func codeOf(err error) (int, bool) {
	switch e := err.(type) {
	case *DamageError, *LostError, *eventlog.DamageError, *eventlog.TornError:
		return ExitDamage, true
	case *AmbiguousError, *RefError:
		return ExitUsage, true
	case *AccessError:
		return ExitConfig, true
	case *Warning:
		return ExitOK, true
	case syscall.Errno:
		return codeOfErrno(e), true
	}
	// No map: a key of an incomparable type would panic.
	for _, s := range sentinels {
		if err == s.err {
			return s.code, true
		}
	}
	return 0, false
}

var sentinels = []struct {
	err  error
	code int
}{
	{ErrBusy, ExitOK},
	{fsx.ErrLocked, ExitOK},
	{ErrUnknown, ExitUsage},
	{ErrNotEnded, ExitUsage},
	{ErrNoRoom, ExitTemporary},
	{cluster.ErrUnreachable, ExitTemporary},
	{cluster.ErrLost, ExitTemporary},
	{cluster.ErrStale, ExitTemporary},
	{event.ErrNewer, ExitUnsupported},
	{eventlog.ErrPoisoned, ExitIO},
	{eventlog.ErrNothingValid, ExitDamage},
	{eventlog.ErrBlobMissing, ExitDamage},
	{eventlog.ErrBlobDamaged, ExitDamage},
	{fsx.ErrNotRegular, ExitDamage},
	{fsx.ErrTooLarge, ExitDamage},
	{fs.ErrNotExist, ExitIO},
	{fs.ErrExist, ExitIO},
	{fs.ErrPermission, ExitIO},
	{fs.ErrInvalid, ExitIO},
	{fs.ErrClosed, ExitIO},
	{io.ErrShortWrite, ExitIO},
	{io.ErrUnexpectedEOF, ExitIO},
}

func codeOfErrno(e syscall.Errno) int {
	switch e {
	case syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EMFILE, syscall.ENFILE:
		return ExitTemporary
	case syscall.ENOTDIR, syscall.ELOOP:
		// Something that must be a directory is a link or a file.
		return ExitDamage
	}
	return ExitIO
}

// isMissing tells a name that is not there from every other error.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
