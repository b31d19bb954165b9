package workspace

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// gitTimeout bounds one git command.
const gitTimeout = time.Minute

// gitEnv keeps git from configuration and repositories outside of the root.
func (w *workspace) gitEnv() []string {
	return []string{
		"GIT_CONFIG_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0",
		"GIT_CEILING_DIRECTORIES=" + filepath.Dir(w.dir), "LC_ALL=C",
	}
}

// git runs git without what a repository could make it execute.
func (w *workspace) git(ctx context.Context, args ...string) (*ran, error) {
	return w.gitOutput(ctx, maxOutput, args...)
}

// gitOutput is git with so many bytes of output kept.
func (w *workspace) gitOutput(ctx context.Context, most int, args ...string) (*ran, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	argv := append([]string{"git", "--no-pager", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false"}, args...)
	r, err := w.run(ctx, program{argv: argv, env: w.gitEnv(), most: most})
	switch {
	case err != nil:
		return nil, err
	case r.killed:
		return nil, errors.New("git did not end in time")
	}
	return r, nil
}

// gitText is git for commands that should not fail.
func (w *workspace) gitText(ctx context.Context, args ...string) (string, error) {
	r, err := w.git(ctx, args...)
	if err != nil {
		return "", err
	}
	text := r.output.String()
	if r.code != 0 {
		first, _, _ := strings.Cut(text, "\n")
		return "", fmt.Errorf("git: %s", strings.TrimPrefix(first, "fatal: "))
	}
	return text, nil
}

func (w *workspace) gitStatus(ctx context.Context, _ struct{}) (string, error) {
	status, err := w.gitText(ctx, "status", "--short", "--branch", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty")
	if err != nil {
		return "", err
	}
	log, err := w.gitText(ctx, "log", "--max-count=10", "--no-show-signature", "--format=%h %s")
	if err != nil {
		return status + "no commits yet\n", nil
	}
	return status + "Latest commits:\n" + log, nil
}

type commitArgs struct {
	Message string `json:"message"`
}

// trailer is the key of the last line of a commit's message; see agent/internal/git.
const trailer = "Agent-Context"

// gitCommit commits everything, with the identity and the context that the
// agent noted in the configuration of its clone. Other repositories have none:
// there, committing is for people.
func (w *workspace) gitCommit(ctx context.Context, args commitArgs) (string, error) {
	if strings.TrimSpace(args.Message) == "" {
		return "", errors.New("the message is empty")
	}
	r, err := w.git(ctx, "config", "--local", "--get", "agent.context")
	switch {
	case err != nil:
		return "", err
	case r.code != 0:
		return "", errors.New("no commits are made in this repository: leave the changes as they are, people look at them")
	}
	uuid := strings.TrimSpace(r.output.String())
	if _, err := w.gitText(ctx, "add", "--all", "--", "."); err != nil {
		return "", err
	}
	if r, err = w.git(ctx, "diff", "--cached", "--quiet", "--no-ext-diff"); err != nil || r.code == 0 {
		return "nothing to commit", err
	}
	if _, err := w.gitText(ctx, "commit", "--quiet", "--no-verify", "--no-gpg-sign", "--cleanup=whitespace",
		"--message="+args.Message, "--trailer="+trailer+": "+uuid); err != nil {
		return "", err
	}
	return w.gitText(ctx, "show", "--stat", "--no-ext-diff", "--no-textconv", "--no-color", "--format=committed %h %s", "HEAD")
}

// base is what to compare with: the last commit, or an empty tree before the first one.
func (w *workspace) base(ctx context.Context) (string, error) {
	if _, err := w.gitText(ctx, "rev-parse", "--is-inside-work-tree"); err != nil {
		return "", err
	}
	r, err := w.git(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil || r.code == 0 {
		return "HEAD", err
	}
	empty, err := w.gitText(ctx, "hash-object", "-t", "tree", "/dev/null")
	return strings.TrimSpace(empty), err
}
