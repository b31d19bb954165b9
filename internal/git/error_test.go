package git

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestNoGit: that git is not there says nothing of the repository.
func TestNoGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Clone(context.Background(), Options{URL: "/no/such/repository", Dir: filepath.Join(t.TempDir(), "w")})
	wantError(t, err, Machine)
	if _, err := Version(context.Background()); !IsMachine(err) {
		t.Errorf("version: %v, want a fault of the machine", err)
	}
}

// TestKinds reads what git says of a remote. What it says of our own files is no answer of one.
func TestKinds(t *testing.T) {
	t.Parallel()
	var exit error = &exec.ExitError{}
	remote := command{auth: auth{url: "https://example.com/o/r.git"}}
	for text, want := range map[string]Kind{
		"fatal: unable to access 'https://example.com/o/r.git/': The requested URL returned error: 403":              Refused,
		"fatal: unable to access 'https://example.com/o/r.git/': The requested URL returned error: 401":              Auth,
		"fatal: unable to access 'https://example.com/o/r.git/': The requested URL returned error: 429":              Unreachable,
		"fatal: unable to access 'https://example.com/o/r.git/': The requested URL returned error: 503":              Unreachable,
		"fatal: unable to access 'https://example.com/o/r.git/': The requested URL returned error: 410":              Gone,
		"fatal: unable to access 'https://example.com/o/r.git/': The requested URL returned error: 418":              Other,
		"fatal: unable to access 'https://example.com/o/not found/': Could not resolve host: example.com":            Unreachable,
		"fatal: repository 'https://example.com/o/r.git/' not found":                                                 Gone,
		"fatal: Authentication failed for 'https://example.com/o/r.git/'":                                            Auth,
		"! [remote rejected] main -> main (protected branch hook declined) error: failed to push some refs":          Refused,
		"! [rejected] main -> main (fetch first) error: failed to push some refs":                                    Moved,
		"remote: error: 5 files are larger than 100 MB ! [remote rejected] main -> main (pre-receive hook declined)": Refused,
		"fatal: could not create work tree dir 'w': Permission denied":                                               Other,
	} {
		if got := remote.kindOf(exit, text); got != want {
			t.Errorf("%s, want %s: %s", got, want, text)
		}
	}
	if got := (command{}).kindOf(exit, "fatal: pathspec 'x' does not exist"); got != Other {
		t.Errorf("a command without a remote: %s", got)
	}
	if got := remote.kindOf(errors.New("fork/exec: permission denied"), "repository not found"); got != Machine {
		t.Errorf("a program that did not run: %s", got)
	}
}
