package contexts

import (
	"errors"
	"fmt"
	"strings"

	"agent/internal/cluster"
)

var (
	// ErrBusy means that another process works on it.
	ErrBusy = errors.New("busy: another process works on it")
	// ErrUnknown means that there is no such context.
	ErrUnknown = errors.New("no such context")
	// ErrNoRoom means that the disk is too full to begin.
	ErrNoRoom = errors.New("not enough room on the disk")
	// ErrName is returned for a file name that a projection may not have.
	ErrName = errors.New("not a name for a projection file")
	// ErrNotEnded is returned for what is done only with contexts that have ended.
	ErrNotEnded = errors.New("it has not ended")
	// ErrReadOnly is returned by writing methods of a store opened read-only.
	ErrReadOnly = errors.New("store is opened for reading only")
)

// DamageError says that something in the store cannot be right. Nothing was changed.
type DamageError struct {
	Name   string // of the context or the file, relative to the store
	Reason string
}

func (e *DamageError) Error() string { return fmt.Sprintf("%s is damaged: %s", e.Name, e.Reason) }

// AmbiguousError says that a prefix fits several contexts.
type AmbiguousError struct {
	Ref        string
	Candidates []string // uuids, sorted
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q fits several contexts: %s", e.Ref, strings.Join(e.Candidates, ", "))
}

// Warning names an entry of the store that is not a context and is left alone.
type Warning struct {
	Name, Reason string
}

func (e *Warning) Error() string { return fmt.Sprintf("%s is ignored: %s", e.Name, e.Reason) }

// MayBeLost reports whether an error of an effect or of an append says that another worker of the
// cluster may have the context now.
func MayBeLost(err error) bool {
	return errors.Is(err, ErrBusy) || errors.Is(err, cluster.ErrLost) || errors.Is(err, cluster.ErrUnreachable)
}
