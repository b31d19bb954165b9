package git

import (
	"cmp"
	"errors"
	"os/exec"
	"strconv"
	"strings"

	"agent/internal/lazyregexp"
)

// Kind says what an error means for whoever wanted to clone, fetch or push.
type Kind string

// The kinds. Everything else is Other.
const (
	Moved       Kind = "moved"       // the branch has commits that we do not know
	Elsewhere   Kind = "transferred" // the branch would be another project's
	Conflict    Kind = "conflict"    // ours do not fit onto them
	Refused     Kind = "refused"     // a permission is missing, or the branch is protected
	Gone        Kind = "gone"        // the repository or the branch is not there
	Certificate Kind = "certificate" // the server's certificate is not one that git trusts
	Auth        Kind = "auth"        // the token is not taken
	Unreachable Kind = "unreachable" // may work later
	TooLarge    Kind = "too_large"   // a clone passed its bound
	Machine     Kind = "machine"     // git cannot be run here: no repository and no task is to blame
	Full        Kind = "full"        // the disk of this machine is
	Other       Kind = "other"
)

// Error is a command of git that failed. It is one line and holds no token.
type Error struct {
	Op   string
	Kind Kind
	Text string // in git's words
}

func (e *Error) Error() string { return "git " + e.Op + ": " + e.Text }

// IsTemporary reports whether an error says nothing of the repository: the same may work later.
func IsTemporary(err error) bool {
	var failed *Error
	if !errors.As(err, &failed) {
		return err != nil
	}
	switch failed.Kind {
	case Unreachable, Auth, Certificate, Machine, Full:
		return true
	default:
		return false
	}
}

// status is where git names the HTTP status with which a server refused it.
var status = lazyregexp.New(`The requested URL returned error: (\d{3})\b`)

// ofStatus are the kinds of those statuses; every other is Unreachable from 500 on, else Other.
var ofStatus = map[int]Kind{401: Auth, 403: Refused, 404: Gone, 410: Gone, 408: Unreachable, 429: Unreachable}

// signs are words of git, and of servers behind "remote:", those that decide first.
// git has one exit code for all of them.
var signs = []struct {
	kind  Kind
	words []string
}{
	{Certificate, []string{"SSL certificate problem", "server certificate verification failed", "server verification failed", "error setting certificate", "SSL CA cert"}},
	{Unreachable, []string{"unable to access"}}, // without a status: what follows is about the network
	{Moved, []string{"(non-fast-forward)", "(fetch first)", "(stale info)", "cannot lock ref", "failed to update ref", "incorrect old value"}},
	{Refused, []string{"[remote rejected]", "[rejected]"}},
	{Auth, []string{"Authentication failed", "could not read Username", "could not read Password", "terminal prompts disabled"}},
	{Gone, []string{"not found", "does not exist", "does not appear to be a git repository", "couldn't find remote ref"}},
	{Unreachable, []string{"Could not resolve", "Failed to connect", "Couldn't connect", "onnection re", "timed out", "RPC failed",
		"unexpected disconnect", "early EOF", "Empty reply", "hung up", "Recv failure"}},
}

// kindOf is the kind of a command that did not end well. Only what a remote was
// asked for is read for words; what git says of our own files is Other.
func (c command) kindOf(err error, text string) Kind {
	var exit *exec.ExitError
	switch {
	case !errors.As(err, &exit):
		return Machine // it did not run at all
	case strings.Contains(text, "No space left on device"), strings.Contains(text, "Disk quota exceeded"):
		return Full
	case c.auth.url == "":
		return Other
	}
	if m := status.FindStringSubmatch(text); m != nil {
		code, _ := strconv.Atoi(m[1]) // three digits
		return cmp.Or(ofStatus[code], map[bool]Kind{true: Unreachable}[code >= 500], Other)
	}
	for _, s := range signs {
		for _, word := range s.words {
			if strings.Contains(text, word) {
				return s.kind
			}
		}
	}
	return Other
}
