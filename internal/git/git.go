// Package git makes and uses working copies through the git binary.
//
// What lies in a working copy is not trusted: it comes from a repository and
// from tools that a model drives, .git included. So no command reads the
// configuration, hooks, attributes, grafts or remotes in .git: git takes them
// from a directory of our own, made for each command, that shares only the
// commits, references and index. Commands also run without pagers, prompts,
// repositories inside of the working copy, credential helpers and the
// configuration of the user and the machine, in a small environment, with a
// time limit, and as a process group that dies with its context. A .git that
// holds anything but plain files and directories, or borrows objects, is refused.
//
// Clones are shallow, unless asked for otherwise, and of a single branch: the work needs
// the latest files, and a push needs no more. [Repo.Deepen] fetches more of the history
// when somebody looks at it. There is one remote: the URL that [Clone] got. A token goes
// to git in its environment only, bound to that repository; it is in no argument,
// URL, file or error.
//
// State: a directory with .git inside. [Clone] makes it beside its place and
// renames it, and [Adopt] moves .git last, so it is there whole or not at all.
// One process at a time uses a working copy: the caller holds the context's lock.
//
// Errors are one line: the operation and what git said; see [Error] for those of
// git itself.
package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agent/internal/scratch"
)

// Options say what to clone and where to.
type Options struct {
	URL       string   // https://…, http://…, file:///… or an absolute path; without user or password
	Dir       string   // the working copy
	Branch    string   // "" is the remote's default branch
	Commit    string   // of a new clone: that commit is checked out on Branch, whatever the branch holds now
	Ref       string   // instead: any reference of the remote, as refs/pull/7/head; the work begins there, on no branch
	Formerly  []string // addresses that the same repository had, which an existing working copy may name
	Token     string   // secret; "" where none is needed
	AllowHTTP bool     // permits a token over http to hosts that are not loopback
	MaxBytes  int64    // that a new clone may take; one that takes more is a TooLarge error. 0 is no bound
	Depth     int      // commits of history that a new clone gets; 0 is one, a negative number is all
	Tags      bool     // with the tags on those commits

	// Author and Context are noted in the configuration of a new clone, for tools
	// that commit in it. What is published does not depend on that.
	Author  string // "Name <address>"; "" notes nothing
	Context string // value of the Trailer
}

// notes are settings for tools that commit.
func (o Options) notes() (settings [][2]string, err error) {
	if o.Author == "" {
		return nil, nil
	}
	who := identity.FindStringSubmatch(o.Author)
	if who == nil {
		return nil, fmt.Errorf("git clone: the author %q is not a name and an address", o.Author)
	}
	return [][2]string{{"user.name", who[1]}, {"user.email", who[2]}, {"agent.context", o.Context},
		{"core.trustctime", "false"}, // Adopt changes those of some files
	}, nil
}

// Repo is a working copy.
type Repo struct {
	Dir  string // absolute
	Made bool   // it was cloned, not found
	auth auth
}

// Clone makes the working copy, or takes the one that is there already if it
// is a clone of the same URL; that one stays on its branch with its changes.
func Clone(ctx context.Context, o Options) (*Repo, error) {
	a, err := newAuth(o)
	if err != nil {
		return nil, fmt.Errorf("git clone: %w", err)
	}
	for _, name := range []string{o.Branch, o.Ref} {
		if err := checkBranch(name); name != "" && err != nil {
			return nil, fmt.Errorf("git clone: %w", err)
		}
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil || o.Dir == "" {
		return nil, fmt.Errorf("git clone: %q is not a directory's name", o.Dir)
	}
	r := &Repo{Dir: dir, auth: a}
	if _, err = os.Lstat(dir); err == nil {
		err = r.reuse(ctx, append([]string{o.URL}, o.Formerly...))
	} else if errors.Is(err, fs.ErrNotExist) {
		err, r.Made = r.make(ctx, o), true
	} else {
		err = fmt.Errorf("git clone: %w", err)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Adopt moves what is in a clone that was made with the same options to their place, an empty directory in which
// processes may be by now. The last is .git: without it nobody takes the place for a working copy.
func Adopt(o Options, from string) (*Repo, error) {
	a, err := newAuth(o)
	if err != nil {
		return nil, fmt.Errorf("git clone: %w", err)
	}
	if err := moveInto(o.Dir, from); err != nil {
		return nil, fmt.Errorf("git clone: %w", err)
	}
	return &Repo{Dir: o.Dir, Made: true, auth: a}, nil
}

func moveInto(dir, from string) error {
	if there, err := os.ReadDir(dir); err != nil || len(there) > 0 {
		return cmp.Or(err, fs.ErrExist)
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	const last = ".git"
	for _, e := range entries {
		if e.Name() == last {
			continue
		}
		if err := os.Rename(filepath.Join(from, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return os.Rename(filepath.Join(from, last), filepath.Join(dir, last))
}

// Reach asks the remote of o for its default branch, as a clone does first, and copies nothing.
func Reach(ctx context.Context, o Options) error {
	_, err := references(ctx, o, "HEAD")
	return err
}

// IsEmpty reports whether the remote of o has no reference at all.
func IsEmpty(ctx context.Context, o Options) (bool, error) {
	all, err := references(ctx, o)
	return err == nil && strings.TrimSpace(all) == "", err
}

// references are those of a remote that fit patterns, all of them without.
func references(ctx context.Context, o Options, patterns ...string) (string, error) {
	a, err := newAuth(o)
	if err != nil {
		return "", fmt.Errorf("git ls-remote: %w", err)
	}
	dir, remove, err := scratch.Dir(scratch.Git)
	if err != nil {
		return "", fmt.Errorf("git ls-remote: %w", err)
	}
	defer remove()
	return command{name: "ls-remote", args: append([]string{"--quiet", "--", o.URL}, patterns...), auth: a, dir: dir, trees: []string{dir}}.run(ctx)
}

// make clones beside the working copy's place, and moves it there when it is whole.
func (r *Repo) make(ctx context.Context, o Options) error {
	notes, err := o.notes()
	if err != nil {
		return err
	}
	half := r.Dir + ".tmp"
	if err := os.RemoveAll(half); err != nil { // left by a run that was killed
		return fmt.Errorf("git clone: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(r.Dir), 0o700); err != nil {
		return fmt.Errorf("git clone: %w", err)
	}
	if err := r.fill(ctx, half, o, notes); err != nil {
		_ = os.RemoveAll(half) // the next clone does it again
		return err
	}
	if err := os.Rename(half, r.Dir); err != nil {
		return fmt.Errorf("git clone: %w", err)
	}
	return nil
}

// fill makes a clone in dir with the settings that are noted.
func (r *Repo) fill(ctx context.Context, dir string, o Options, notes [][2]string) error {
	bounded, stop := within(ctx, dir, o.MaxBytes)
	defer stop()
	return judge(bounded, dir, o.MaxBytes, r.receive(bounded, dir, o, notes))
}

// receive gets the files of the branch, or of the reference.
func (r *Repo) receive(ctx context.Context, dir string, o Options, notes [][2]string) error {
	args := []string{"--quiet", "--no-local", "--no-recurse-submodules", "--template=", "--origin=origin",
		"--single-branch"}
	args = append(args, o.history()...)
	if o.Commit != "" {
		return r.receiveCommit(ctx, dir, o, notes)
	}
	if o.Branch != "" {
		args = append(args, "--branch="+o.Branch)
	}
	for _, s := range notes {
		args = append(args, "--config="+s[0]+"="+s[1])
	}
	c := command{name: "clone", limit: cloneLimit, args: append(args, "--", o.URL, dir), auth: r.auth, dir: filepath.Dir(dir), trees: []string{dir}}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("git clone: %w", err)
	}
	if _, err := c.run(ctx); err != nil || o.Ref == "" {
		return err
	}
	return (&Repo{Dir: dir, auth: r.auth}).checkout(ctx, o.Ref)
}

// checkout begins at a reference of the remote, on no branch.
func (r *Repo) checkout(ctx context.Context, ref string) error {
	commit, err := r.fetch(ctx, ref)
	if err != nil {
		return err
	}
	_, err = r.git(ctx, "checkout", "--quiet", "--force", "--detach", commit)
	return err
}

// reuse checks that the directory is a whole clone of one of urls.
func (r *Repo) reuse(ctx context.Context, urls []string) error {
	if err := r.check(); err != nil {
		return fmt.Errorf("git clone: %w", err)
	}
	config, err := r.config(ctx)
	if err != nil {
		return err
	}
	if origin := config["remote.origin.url"]; len(origin) != 1 || !slices.Contains(urls, origin[0]) {
		return fmt.Errorf("git clone: %s exists and is no clone of the same URL", r.Dir)
	}
	_, err = r.git(ctx, "rev-parse", "--quiet", "--verify", "HEAD")
	return err
}

// Trailer is the key of the line of a commit that names its context.
const Trailer = "Agent-Context"

// Open takes an existing working copy as it is, without a remote.
func Open(dir string) (*Repo, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir) // the operator may name a link; what is in it may not be one
	}
	if err != nil {
		return nil, fmt.Errorf("git open: %w", err)
	}
	if err := checkDir(dir); err != nil {
		return nil, fmt.Errorf("git open: %w", err)
	}
	return &Repo{Dir: dir}, nil
}

// checkDir wants a real .git directory: a file or link could lead anywhere.
func checkDir(dir string) error {
	info, err := os.Lstat(filepath.Join(dir, ".git"))
	if err != nil || !info.IsDir() {
		return fmt.Errorf("%s is not a working copy", dir)
	}
	return nil
}
