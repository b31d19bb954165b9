package cli

import (
	"errors"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/handlers/engine"
	"agent/internal/app"
	"agent/internal/app/rounds"
	"agent/internal/config"
	"agent/internal/trees"
)

// Exit codes, besides those of package contexts (65, 69, 74, 75, 78).
const (
	ExitFailed      = 1 // a task failed, or a replay differs
	ExitUsage       = 2
	ExitInterrupted = 130 // by Ctrl-C
	ExitTemporary   = contexts.ExitTemporary
)

// precedence puts the codes in the order in which they win when several apply.
var precedence = []int{contexts.ExitConfig, 74, ExitTemporary, contexts.ExitUnsupported, contexts.ExitDamage, ExitFailed}

// ExitCode is what the program ends with for an error.
func ExitCode(err error) int {
	var code codeError
	var usage usageError
	var badConfig *config.Error
	var badPrompt *app.PromptError
	var temporary *engine.Temporary
	var refused *engine.Refused
	var listing *rounds.ListError
	var store *app.StoreError
	var deaf *app.ListenError
	var ref *rounds.RefError
	var fault *rounds.Fault
	var past *trees.NoEventError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return code.code
	case errors.As(err, &usage), errors.As(err, &ref), errors.As(err, &past), isUsage(err):
		return ExitUsage
	case errors.As(err, &badConfig), errors.As(err, &badPrompt), errors.As(err, &deaf):
		return config.ExitCode
	case errors.As(err, &fault):
		return fault.ExitCode()
	case errors.As(err, &listing):
		return listing.ExitCode()
	case errors.As(err, &store):
		return store.ExitCode()
	case errors.As(err, &refused):
		return contexts.ExitConfig
	case errors.As(err, &temporary):
		return temporary.ExitCode()
	}
	return contexts.ExitCode(err)
}

// isUsage knows the errors of the library that have no type.
func isUsage(err error) bool {
	return slices.ContainsFunc([]string{"unknown command", "required flag(s)", "if any flags in the group"}, func(begin string) bool { return strings.HasPrefix(err.Error(), begin) })
}

// Worse gives the code that wins when both apply.
func Worse(a, b int) int {
	for _, code := range precedence {
		if a == code || b == code {
			return code
		}
	}
	return max(a, b)
}

// Hint says what to do about an error, if there is something.
func Hint(err error) string {
	var damaged *contexts.DamageError
	var lost *contexts.LostError
	var ambiguous *contexts.AmbiguousError
	var listing *rounds.ListError
	var store *app.StoreError
	var usage usageError
	var refused *engine.Refused
	var ref *rounds.RefError
	var beyond beyondRepair
	switch {
	case errors.As(err, &lost):
		return "put the directory back if you have it; agent forget " + lost.UUID + " gives the context up"
	case errors.As(err, &beyond):
		return "this cannot be repaired: put the context's directory back from a backup, or move it out of the contexts directory"
	case errors.As(err, &damaged):
		return "agent inspect shows what can be read; agent repair UUID --accept-loss keeps what is valid"
	case errors.As(err, &ambiguous):
		return "candidates: " + strings.Join(ambiguous.Candidates, " ")
	case errors.Is(err, contexts.ErrUnknown):
		return "agent list shows what there is"
	case errors.Is(err, contexts.ErrBusy):
		return "another agent is working on it; try again when it is done"
	case rounds.OfTaskFile(err):
		return "correct the files that are named; the tasks in the others are worked on"
	case rounds.OfDirectory(err):
		return "check files.directory, and that this user may read and write there"
	case errors.As(err, &listing) && listing.ExitCode() == contexts.ExitConfig, errors.As(err, &refused):
		return "agent doctor shows what the token can see"
	case errors.As(err, &store):
		return "set contexts_dir, or --contexts, to a directory on a local disk that belongs to you"
	case errors.Is(err, syscall.EADDRINUSE):
		return "another program listens there: choose another port, or port 0 for one that is free"
	case errors.As(err, &usage), errors.As(err, &ref) && ref.Unreadable, isUsage(err):
		return commandsHint
	}
	return ""
}

// commandsHint is the hint for a command line that cannot be understood.
const commandsHint = "agent --help shows the commands"

// hintFor is Hint for an error of a command: help about that command says more.
func hintFor(cmd *cobra.Command, err error) string {
	hint := Hint(err)
	if hint == commandsHint && cmd.HasParent() && cmd.Name() != "help" {
		return cmd.CommandPath() + " --help shows what it takes"
	}
	return hint
}

// Refused is for a command line that was understood and cannot be done: it ends
// as one that was not, but help about commands would not help.
func Refused(err error) error { return Coded(ExitUsage, err) }

// RoundCode is what a round ends with: the worst of what happened in it.
func RoundCode(s rounds.Summary) int {
	code := CodeOf(s.Errors)
	if s.Failed > 0 {
		code = Worse(code, ExitFailed)
	}
	if s.Outage {
		code = Worse(code, ExitTemporary)
	}
	return code
}

// CodeOf is the worst code of several errors, 0 for none.
func CodeOf(all []error) (code int) {
	for _, err := range all {
		code = Worse(code, ExitCode(err))
	}
	return code
}

// ErrQuiet ends a command whose own output said everything.
var ErrQuiet = errors.New("said already")

// usageError is a command line that cannot be understood.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

// Usage is the error for a command line that cannot be understood.
func Usage(err error) error { return usageError{err} }

// codeError carries an exit code for a command that has said what is wrong.
type codeError struct {
	code int
	error
}

func (c codeError) Unwrap() error { return c.error }

// Coded is an error with the exit code that it ends with.
func Coded(code int, err error) error { return codeError{code, err} }

// Quietly ends with a code and without another word.
func Quietly(code int) error {
	if code == 0 {
		return nil
	}
	return Coded(code, ErrQuiet)
}

// beyondRepair is damage that `agent repair` was tried on.
type beyondRepair struct{ error }

func (e beyondRepair) Unwrap() error { return e.error }

// BeyondRepair is the error for damage that `agent repair` was tried on.
func BeyondRepair(err error) error { return beyondRepair{err} }
