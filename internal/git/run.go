package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
	"unicode"

	"agent/internal/lease"
)

const (
	cloneLimit  = 10 * time.Minute
	timeLimit   = 2 * time.Minute // of every other command
	outputLimit = 64 << 20
	errorLimit  = 64 << 10
	longestText = 400 // characters of git's own words in an error
)

// command is one run of git.
type command struct {
	name  string
	args  []string
	dir   string
	trees []string // that it may change
	input string
	env   []string
	magic bool          // pathspecs have their magic words
	limit time.Duration // 0 is timeLimit
	auth  auth
}

// settings hold for every command.
var settings = []string{
	"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.attributesFile=/dev/null", "core.excludesFile=/dev/null",
	"core.pager=cat", "core.editor=false", "core.askPass=", "core.sshCommand=false", "core.gitProxy=",
	"core.protectHFS=true", "core.protectNTFS=true", "core.fsync=all", "core.untrackedCache=false",
	"core.quotePath=false", "credential.helper=", "commit.gpgSign=false", "push.gpgSign=false", "diff.external=",
	"submodule.recurse=false", "fetch.recurseSubmodules=false", "push.recurseSubmodules=no",
	"http.followRedirects=false", "http.sslVerify=true", "gc.auto=0", "maintenance.auto=false", "core.commitGraph=false",
	"advice.detachedHead=false", "init.defaultBranch=main",
	"fetch.unpackLimit=1", // a pack is kept as it comes: few large files, each compressed again, took eight times as long
}

// Variables of our own environment that git gets as well.
var passed = []string{
	"PATH", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
}

func (c command) argv() []string {
	argv := []string{"--no-pager"}
	if !c.magic {
		argv = append(argv, "--literal-pathspecs")
	}
	for _, s := range settings {
		argv = append(argv, "-c", s)
	}
	return append(append(argv, c.name), c.args...)
}

func (c command) environment() []string {
	env := []string{
		"LC_ALL=C", "HOME=/dev/null", "XDG_CONFIG_HOME=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_DEFAULT_REF_FORMAT=files",
	}
	for _, name := range passed {
		if value, set := os.LookupEnv(name); set {
			env = append(env, name+"="+value)
		}
	}
	for git, ours := range certificates {
		if _, set := os.LookupEnv(git); !set && os.Getenv(ours) != "" {
			env = append(env, git+"="+os.Getenv(ours))
		}
	}
	return append(append(env, c.auth.environment()...), c.env...)
}

// certificates are git's names for the variables that this program reads itself:
// what it trusts, git trusts.
var certificates = map[string]string{"GIT_SSL_CAINFO": "SSL_CERT_FILE", "GIT_SSL_CAPATH": "SSL_CERT_DIR"}

// run returns what git wrote.
func (c command) run(ctx context.Context) (string, error) {
	if err := lease.Check(ctx); err != nil {
		return "", fmt.Errorf("git %s: %w", c.name, err)
	}
	limited, cancel := context.WithTimeout(ctx, cmp.Or(c.limit, timeLimit))
	defer cancel()
	p := exec.CommandContext(limited, "git", c.argv()...)
	p.Dir, p.Env, p.Stdin = c.dir, c.environment(), strings.NewReader(c.input)
	out, words := &bounded{limit: outputLimit}, &bounded{limit: errorLimit}
	p.Stdout, p.Stderr = out, words
	ownGroup(p)
	p.WaitDelay = 5 * time.Second
	err := c.start(p)
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("git %s: %w", c.name, ctx.Err())
	case limited.Err() != nil:
		return "", &Error{c.name, Unreachable, fmt.Sprintf("stopped after %v", cmp.Or(c.limit, timeLimit))}
	case err != nil:
		text, kind := c.reason(words.String(), err)
		return "", &Error{c.name, kind, text}
	case out.cut:
		return "", fmt.Errorf("git %s: more than %d MiB of output", c.name, outputLimit>>20)
	}
	return out.String(), nil
}

// reason makes one line of what git complained about. What a server says beside it
// explains a push that it refused, and decides nothing.
func (c command) reason(words string, err error) (string, Kind) {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		text := c.auth.redact(err.Error())
		return text, c.kindOf(err, text)
	}
	var chosen, remote []string
	for line := range strings.SplitSeq(words, "\n") {
		line = strings.TrimSpace(line)
		said, isRemote := strings.CutPrefix(line, "remote:")
		switch said = strings.TrimSpace(said); {
		case hasMark(line):
			chosen = append(chosen, line)
		case isRemote && strings.IndexFunc(said, unicode.IsLetter) >= 0:
			remote = append(remote, said)
		}
	}
	if len(chosen) == 0 {
		chosen, remote = strings.Fields(words), nil
	}
	kind := c.kindOf(err, strings.Join(chosen, " "))
	if kind == Refused && len(remote) > 0 {
		chosen = append([]string{shortened(strings.Join(remote, " "), longestText/2)}, chosen...)
	}
	text := shortened(c.auth.redact(strings.Join(chosen, " ")), longestText)
	if text == "" {
		text = exit.Error()
	}
	return text, kind
}

// hasMark is true for the lines in which git, or a server, says what is wrong.
func hasMark(line string) bool {
	for _, mark := range []string{"fatal:", "error:", "remote: error:", "! ["} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	return false
}

// shortened is text on one line of bounded length.
func shortened(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return text
}

// bounded keeps the beginning of what is written to it.
type bounded struct {
	bytes.Buffer
	limit int
	cut   bool
}

func (b *bounded) Write(p []byte) (int, error) {
	keep := min(len(p), b.limit-b.Len())
	b.cut = b.cut || keep < len(p)
	b.Buffer.Write(p[:keep])
	return len(p), nil
}
