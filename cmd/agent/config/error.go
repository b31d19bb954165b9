package config

import (
	"fmt"
	"strings"
)

// ExitCode is what a program should end with after an [Error].
const ExitCode = 78

// Problem is one thing that is wrong. Text is one line and never holds a value.
type Problem struct {
	Where string // config.yaml:12, or "environment"
	Text  string
}

func (p Problem) String() string { return p.Where + ": " + p.Text }

// Warning is a problem that does not keep the program from running.
type Warning = Problem

// Error is everything that is wrong with a configuration.
type Error struct {
	Problems []Problem // never empty, in the order of lines
}

// Error gives one line for each problem.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// ExitCode is 78.
func (e *Error) ExitCode() int { return ExitCode }

func failure(where, format string, args ...any) *Error {
	return &Error{Problems: []Problem{{where, fmt.Sprintf(format, args...)}}}
}
