package main

import (
	"errors"
	"slices"
	"strings"

	"agent/contexts"
	"agent/handlers/engine"
	"agent/internal/app"
	"agent/internal/app/rounds"
	"agent/internal/config"
)

// Exit codes, besides those of package contexts (65, 69, 74, 75, 78).
const (
	exitFailed      = 1 // a task failed, or a replay differs
	exitUsage       = 2
	exitInterrupted = 130 // by Ctrl-C
	exitTemporary   = contexts.ExitTemporary
)

// precedence puts the codes in the order in which they win when several apply.
var precedence = []int{contexts.ExitConfig, 74, exitTemporary, contexts.ExitUnsupported, contexts.ExitDamage, exitFailed}

func exitCode(err error) int {
	var code codeError
	var usage usageError
	var badConfig *config.Error
	var badPrompt *app.PromptError
	var temporary *engine.Temporary
	var refused *engine.Refused
	var listing *rounds.ListError
	var store *app.StoreError
	var ref *rounds.RefError
	var fault *rounds.Fault
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return code.code
	case errors.As(err, &usage), errors.As(err, &ref), isUsage(err):
		return exitUsage
	case errors.As(err, &badConfig), errors.As(err, &badPrompt):
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

// worse gives the code that wins when both apply.
func worse(a, b int) int {
	for _, code := range precedence {
		if a == code || b == code {
			return code
		}
	}
	return max(a, b)
}

// beyondRepair is damage that `agent repair` was tried on.
type beyondRepair struct{ error }

func (e beyondRepair) Unwrap() error { return e.error }

// hintOf says what to do about an error, if there is something.
func hintOf(err error) string {
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
	case errors.As(err, &listing) && listing.ExitCode() == contexts.ExitConfig, errors.As(err, &refused):
		return "agent doctor shows what the token can see"
	case errors.As(err, &store):
		return "set contexts_dir, or --contexts, to a directory on a local disk that belongs to you"
	case errors.As(err, &usage), errors.As(err, &ref) && ref.Unreadable, isUsage(err):
		return "agent --help shows the commands, agent COMMAND --help what one takes"
	}
	return ""
}

// refused is for a command line that was understood and cannot be done: it ends
// as one that was not, but help about commands would not help.
func refused(err error) error { return codeError{exitUsage, err} }

// roundCode is what a round ends with: the worst of what happened in it.
func roundCode(s rounds.Summary) int {
	code := codeOf(s.Errors)
	if s.Failed > 0 {
		code = worse(code, exitFailed)
	}
	if s.Outage {
		code = worse(code, exitTemporary)
	}
	return code
}

// codeOf is the worst code of several errors, 0 for none.
func codeOf(all []error) (code int) {
	for _, err := range all {
		code = worse(code, exitCode(err))
	}
	return code
}
