package git

import "strings"

// Kind says what an error means for whoever wanted to clone, fetch or push.
type Kind string

// The kinds. Everything else, as a full disk, is Other.
const (
	Moved       Kind = "moved"       // the branch has commits that we do not know
	Conflict    Kind = "conflict"    // ours do not fit onto them
	Refused     Kind = "refused"     // a permission is missing, or the branch is protected
	Gone        Kind = "gone"        // the repository or the branch is not there
	Auth        Kind = "auth"        // the token is not taken
	Unreachable Kind = "unreachable" // may work later
	TooLarge    Kind = "too_large"   // a clone passed its bound
	Other       Kind = "other"
)

// Error is a command of git that failed. It is one line and holds no token.
type Error struct {
	Op   string
	Kind Kind
	Text string // in git's words
}

func (e *Error) Error() string { return "git " + e.Op + ": " + e.Text }

// signs are words of git and of servers, those that decide first.
var signs = []struct {
	kind  Kind
	words []string
}{
	{Moved, []string{"non-fast-forward", "fetch first", "stale info", "cannot lock ref", "failed to update ref", "incorrect old value"}},
	{Refused, []string{"[remote rejected]", "protected branch", "hook declined", "error: 403", "Permission denied", "not allowed to push"}},
	{Auth, []string{"Authentication failed", "could not read Username", "could not read Password", "error: 401", "terminal prompts disabled"}},
	{Gone, []string{"not found", "does not exist", "not appear to be a git repository", "couldn't find remote ref", "error: 404", "error: 410"}},
	{Unreachable, []string{"Could not resolve", "Failed to connect", "Couldn't connect", "onnection re", "timed out", "RPC failed", "error: 5", "error: 429",
		"unexpected disconnect", "early EOF", "Empty reply", "hung up", "unable to access", "Recv failure", "stopped after"}},
}

func kindOf(text string) Kind {
	for _, s := range signs {
		for _, word := range s.words {
			if strings.Contains(text, word) {
				return s.kind
			}
		}
	}
	return Other
}
