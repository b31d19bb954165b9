package cli

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"syscall"

	"agent/contexts"
	"agent/internal/term"
)

// stdout is where a command line prints when it does.
type stdout struct{ *Env }

func (o stdout) Write(p []byte) (int, error) { return o.Out.Write(p) }

// output notes the first error of what a command prints: a full disk is not to pass for success.
type output struct {
	io.Writer
	failed atomic.Pointer[error]
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if err != nil {
		o.failed.CompareAndSwap(nil, &err)
	}
	return n, err
}

// watch lets nothing be lost that is printed to a file or a pipe. The result is the error of the command,
// or that its output was lost.
func (e *Env) watch() (result func(error) error) {
	if term.Of(e.Out).Terminal {
		return func(err error) error { return err }
	}
	out := &output{Writer: e.Out}
	e.Out = out
	return func(err error) error {
		lost := out.failed.Load()
		if lost == nil || err != nil && !errors.Is(err, *lost) && !errors.Is(err, cause(*lost)) && !errors.Is(err, ErrQuiet) {
			return err
		}
		return Coded(contexts.ExitIO, fmt.Errorf("not all of the output could be written: %w", *lost))
	}
}

// cause is what the system says.
func cause(err error) error {
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return number
	}
	return err
}
