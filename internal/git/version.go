package git

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"agent/internal/lazyregexp"
)

// Oldest is the oldest git that can be used: it takes settings from its
// environment, which keeps tokens out of arguments.
var Oldest = [2]int{2, 31}

var versionNumber = lazyregexp.New(`^git version (\d+)\.(\d+)`)

// Version is what `git --version` says, on one line. The error is of kind Machine
// if git cannot be run here, or is older than [Oldest].
func Version(ctx context.Context) (line string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	p := exec.CommandContext(ctx, "git", "--version")
	p.Env = command{}.environment()
	out, err := p.Output()
	if err != nil {
		return "", &Error{"--version", Machine, err.Error()}
	}
	line = strings.TrimSpace(string(out))
	m := versionNumber.FindStringSubmatch(line)
	if m == nil {
		return line, nil
	}
	major, _ := strconv.Atoi(m[1]) // digits, by the expression
	minor, _ := strconv.Atoi(m[2])
	if slices.Compare([]int{major, minor}, Oldest[:]) < 0 {
		return line, &Error{"--version", Machine, fmt.Sprintf("%s is older than %d.%d", line, Oldest[0], Oldest[1])}
	}
	return line, nil
}

// IsFull reports whether err means that the disk of this machine is full.
func IsFull(err error) bool {
	var failed *Error
	return errors.As(err, &failed) && failed.Kind == Full
}

// IsMachine reports whether err means that git cannot be run here.
func IsMachine(err error) bool {
	var failed *Error
	return errors.As(err, &failed) && failed.Kind == Machine
}
