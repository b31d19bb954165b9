package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"agent/internal/lazyregexp"
)

var identity = lazyregexp.New(`^([^<>[:cntrl:]]*[^<>[:cntrl:] ]) <([^<>[:cntrl:] ]+)>$`)

// mostCommits is how many commits of a working copy are kept apart. More become one.
const mostCommits = 50

// CommitSpec says what a branch is to hold.
type CommitSpec struct {
	Branch  string
	Base    string // the commit that the work began on
	Tree    string // what the last commit holds, see Tree
	Message string // of the commit of what is in no commit yet
	Author  string // "Name <address>"
	Trailer string // the last line of each message, "Key: value"
	When    time.Time
	Clean   func(string) string // makes messages fit to be published, and leaves those that are; nil: all are

	// Fit tells whether what a commit in between holds may be published. If one may
	// not, there is one commit, of Tree; nil: all may.
	Fit func(ctx context.Context, tree string) (bool, error)
}

// Commit makes the branch: the commits that stand since Base, then one of the
// rest. Whoever made them, all get the author, the trailer and clean messages,
// and merges become plain commits. The same spec on the same working copy gives
// the same commits, however often it is done. Without a difference to Base there
// is no branch, and Base is returned.
func (r *Repo) Commit(ctx context.Context, spec CommitSpec) (commit string, err error) {
	if err := checkBranch(spec.Branch); err != nil {
		return "", fmt.Errorf("git commit: %w", err)
	}
	if !identity.MatchString(spec.Author) {
		return "", fmt.Errorf("git commit: the author %q is not a name and an address", spec.Author)
	}
	if !hexName(spec.Base) || !hexName(spec.Tree) {
		return "", errors.New("git commit: the base and the tree must be names of objects")
	}
	if err := r.unlock("commit", "HEAD", "refs/heads/"+spec.Branch); err != nil {
		return "", err
	}
	made, err := r.made(ctx, spec)
	if err != nil {
		return "", err
	}
	before, err := r.git(ctx, "rev-parse", "--verify", spec.Base+"^{tree}")
	if err != nil {
		return "", err
	}
	at, tree := spec.Base, strings.TrimSpace(before)
	for _, next := range append(made, draft{spec.Tree, spec.When, spec.clean(spec.Message)}) {
		if next.tree == tree {
			continue
		}
		if at, err = r.commitTree(ctx, spec, at, next); err != nil {
			return "", err
		}
		tree = next.tree
	}
	if at == spec.Base {
		return at, nil
	}
	return at, r.enter(ctx, spec.Branch, at)
}

func (s CommitSpec) clean(message string) string {
	message = strings.ToValidUTF8(message, "?")
	if s.Clean == nil {
		return message
	}
	return s.Clean(message)
}

// draft is a commit to be made.
type draft struct {
	tree    string
	when    time.Time
	message string
}

// made reads the commits since the base, oldest first. A history that does not
// begin there, or is too long, counts for nothing: its files are in the tree.
func (r *Repo) made(ctx context.Context, spec CommitSpec) ([]draft, error) {
	if _, err := r.git(ctx, "merge-base", "--is-ancestor", spec.Base, "HEAD"); err != nil {
		return nil, ctx.Err()
	}
	out, err := r.git(ctx, "log", "--first-parent", "--reverse", "-z", "--no-show-signature", "--format=%T%n%at%n%B",
		"--max-count="+strconv.Itoa(mostCommits+1), spec.Base+"..HEAD")
	if err != nil || out == "" {
		return nil, err
	}
	var list []draft
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		part := strings.SplitN(entry, "\n", 3)
		if len(part) < 3 {
			return nil, nil
		}
		seconds, err := strconv.ParseInt(part[1], 10, 64)
		when := time.Unix(seconds, 0)
		if err != nil || seconds < 0 || when.After(spec.When) {
			when = spec.When
		}
		list = append(list, draft{part[0], when, spec.clean(part[2])})
	}
	if len(list) > mostCommits {
		return nil, nil
	}
	return r.fit(ctx, spec, list)
}

// fit drops all commits if one may not be published.
func (r *Repo) fit(ctx context.Context, spec CommitSpec, list []draft) ([]draft, error) {
	for _, d := range list {
		if spec.Fit == nil || d.tree == spec.Tree {
			continue
		}
		if fit, err := spec.Fit(ctx, d.tree); !fit || err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (r *Repo) commitTree(ctx context.Context, spec CommitSpec, parent string, d draft) (string, error) {
	who := identity.FindStringSubmatch(spec.Author)
	date := fmt.Sprintf("@%d +0000", d.when.Unix())
	out, err := r.run(ctx, command{
		name: "commit-tree", args: []string{"--no-gpg-sign", "-p", parent, "-F", "-", d.tree},
		input: withTrailer(d.message, spec.Trailer), env: []string{
			"GIT_AUTHOR_NAME=" + who[1], "GIT_AUTHOR_EMAIL=" + who[2], "GIT_AUTHOR_DATE=" + date,
			"GIT_COMMITTER_NAME=" + who[1], "GIT_COMMITTER_EMAIL=" + who[2], "GIT_COMMITTER_DATE=" + date,
		},
	})
	return strings.TrimSpace(out), err
}

// withTrailer makes a message that ends in the trailer, once.
func withTrailer(message, trailer string) string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSpace(message), "\n") {
		if line = strings.TrimRight(line, " \t\r"); trailer == "" || line != trailer {
			lines = append(lines, line)
		}
	}
	text := strings.TrimSpace(strings.Join(lines, "\n"))
	if text == "" {
		text = "Change"
	}
	if trailer != "" {
		text += "\n\n" + trailer
	}
	return text + "\n"
}

// enter makes a branch of a commit, and the current one.
func (r *Repo) enter(ctx context.Context, branch, commit string) error {
	if _, err := r.git(ctx, "update-ref", "--no-deref", "refs/heads/"+branch, commit); err != nil {
		return err
	}
	_, err := r.git(ctx, "symbolic-ref", "HEAD", "refs/heads/"+branch)
	return err
}

// unlock removes the locks of a git that was killed. Nobody else writes here:
// the caller holds the context's lock, and no git outlives its agent.
func (r *Repo) unlock(op string, names ...string) error {
	root, err := OpenDir(r.Dir)
	if err != nil {
		return fmt.Errorf("git %s: %w", op, err)
	}
	defer root.Close()
	for _, name := range names {
		err := root.Remove(".git/" + name + ".lock")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("git %s: %w", op, err)
		}
	}
	return nil
}

// Patch is what the commits since base change, as `git am` takes it.
func (r *Repo) Patch(ctx context.Context, base, commit string) ([]byte, error) {
	if !hexName(base) || !hexName(commit) {
		return nil, errors.New("git format-patch: not names of objects")
	}
	out, err := r.git(ctx, "format-patch", "--stdout", "--binary", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-signature",
		base+".."+commit, "--")
	return []byte(out), err
}
