package config

import (
	"fmt"
	"strings"
)

// ExitCode is what a program should end with after an [Error].
const ExitCode = 78

// Problem is one thing that is wrong. Text is one line and never holds a value.
type Problem struct {
	Where string // /home/me/.config/agent/config.yaml:12, the same without a line, or "config" if it is in no file
	Text  string
	// Variable names an environment variable that the file asks for and that is
	// not set, or is empty.
	Variable string
}

func (p Problem) String() string { return p.Where + ": " + p.Text }

// Warning is a problem that does not keep the program from running.
type Warning = Problem

// Error is everything that is wrong with a configuration.
type Error struct {
	Problems []Problem // never empty, in the order of lines
}

// setIt is what to do about a variable that is not set; cron and a new shell know nothing of the old one.
const setIt = "  → put it into the file that env_file names, or set it in this shell, e.g. set -a; . ~/.config/agent/env; set +a"

// CredentialsVariable names the directory in which systemd gives a service its credentials.
const CredentialsVariable = "CREDENTIALS_DIRECTORY"

// AsService is how a command gets the credentials of the packaged service.
const AsService = "systemd-run --pipe --wait --collect -p User=agent -p LoadCredential=env:/etc/agent/env agent doctor"

// asService is what to do where the variable of systemd is missing.
const asService = "  → only a service of systemd has credentials; e.g. " + AsService

// Error gives one line for each problem, and one more if variables are not set.
func (e *Error) Error() string {
	var lines []string
	unset, credentials := false, false
	for _, p := range e.Problems {
		lines = append(lines, p.String())
		unset = unset || p.Variable != "" && p.Variable != CredentialsVariable
		credentials = credentials || p.Variable == CredentialsVariable
	}
	if credentials {
		return strings.Join(append(lines, asService), "\n") // what else is missing comes with them
	}
	if unset {
		lines = append(lines, setIt)
	}
	return strings.Join(lines, "\n")
}

// ExitCode is 78.
func (e *Error) ExitCode() int { return ExitCode }

func failure(where, format string, args ...any) *Error {
	return &Error{Problems: []Problem{{Where: where, Text: fmt.Sprintf(format, args...)}}}
}
