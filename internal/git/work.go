package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// git runs a command in the working copy, with its filters switched off.
func (r *Repo) git(ctx context.Context, name string, args ...string) (string, error) {
	return r.run(ctx, command{name: name, args: args})
}

func (r *Repo) run(ctx context.Context, c command) (string, error) {
	if err := checkDir(r.Dir); err != nil { // it may have been replaced since
		return "", fmt.Errorf("git %s: %w", c.name, err)
	}
	config, err := r.config(ctx)
	if err != nil {
		return "", err
	}
	c.dir, c.tree = r.Dir, r.Dir
	if c.extra, err = silence(config); err != nil {
		return "", fmt.Errorf("git %s: %w", c.name, err)
	}
	return c.run(ctx)
}

var driver = regexp.MustCompile(`^(filter\..+\.(clean|smudge|process|required)|(diff|merge)\..+\.(command|textconv|driver))$`)

// silence switches off the programs that a configuration attaches to paths.
func silence(config map[string]string) (settings []string, err error) {
	for key := range config {
		switch {
		case !driver.MatchString(key):
		case strings.Contains(key, "="): // an argument would end the key there
			return nil, fmt.Errorf("the working copy's configuration has a strange key: %q", key)
		case strings.HasSuffix(key, ".required"):
			settings = append(settings, key+"=false")
		default:
			settings = append(settings, key+"=")
		}
	}
	slices.Sort(settings)
	return settings, nil
}

// Head is the commit that is checked out, 40 or 64 hex digits.
func (r *Repo) Head(ctx context.Context) (commit string, err error) {
	out, err := r.git(ctx, "rev-parse", "--verify", "HEAD^{commit}")
	return strings.TrimSpace(out), err
}

// Status returns the paths that differ from the commit, sorted, relative, with
// slashes; untracked files one by one, ignored ones not at all.
func (r *Repo) Status(ctx context.Context) ([]string, error) {
	out, err := r.run(ctx, command{
		name: "status", args: []string{"--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"},
		env: []string{"GIT_OPTIONAL_LOCKS=0"},
	})
	if err != nil {
		return nil, err
	}
	var paths []string
	for entry := range strings.SplitSeq(out, "\x00") {
		if len(entry) > 3 { // two letters and a space
			paths = append(paths, entry[3:])
		}
	}
	slices.Sort(paths)
	return paths, nil
}

var identity = regexp.MustCompile(`^([^<>[:cntrl:]]*[^<>[:cntrl:] ]) <([^<>[:cntrl:] ]+)>$`)

// CommitAll puts everything that Status shows into one commit on branch, which
// is made from the current commit if it does not exist. author is
// "Name <address>". changed are the paths of the new commit; if there was
// nothing to commit it is empty, and commit is the branch's last one.
func (r *Repo) CommitAll(ctx context.Context, branch, message, author string) (commit string, changed []string, err error) {
	if err := checkBranch(branch); err != nil {
		return "", nil, fmt.Errorf("git commit: %w", err)
	}
	who := identity.FindStringSubmatch(author)
	if who == nil {
		return "", nil, fmt.Errorf("git commit: the author %q is not a name and an address", author)
	}
	if err := r.unlock(branch); err != nil {
		return "", nil, err
	}
	if err := r.enter(ctx, branch); err != nil {
		return "", nil, err
	}
	if _, err := r.git(ctx, "add", "--all", "--", "."); err != nil {
		return "", nil, err
	}
	staged, err := r.paths(ctx, "diff-index", "--cached", "--no-renames", "HEAD", "--")
	if err != nil {
		return "", nil, err
	}
	if len(staged) > 0 {
		_, err = r.run(ctx, command{
			name: "commit", args: []string{"--quiet", "--no-verify", "--no-gpg-sign", "--cleanup=whitespace", "--file=-"},
			input: message, env: []string{
				"GIT_AUTHOR_NAME=" + who[1], "GIT_AUTHOR_EMAIL=" + who[2],
				"GIT_COMMITTER_NAME=" + who[1], "GIT_COMMITTER_EMAIL=" + who[2],
			},
		})
		if err != nil {
			return "", nil, err
		}
	}
	commit, err = r.Head(ctx)
	return commit, staged, err
}

// unlock removes the locks of a git that was killed. Nobody else writes here:
// the caller holds the context's lock, and no git outlives its agent.
func (r *Repo) unlock(branch string) error {
	for _, name := range []string{"index", "HEAD", "refs/heads/" + branch} {
		err := os.Remove(filepath.Join(r.Dir, ".git", filepath.FromSlash(name)+".lock"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("git commit: %w", err)
		}
	}
	return nil
}

// enter makes branch the current one and keeps all changes.
func (r *Repo) enter(ctx context.Context, branch string) error {
	current, err := r.git(ctx, "rev-parse", "--symbolic-full-name", "HEAD")
	if err != nil {
		return err
	}
	if strings.TrimSpace(current) == "refs/heads/"+branch {
		return nil
	}
	known, err := r.git(ctx, "for-each-ref", "--format=%(refname)", "--", "refs/heads/"+branch)
	if err != nil {
		return err
	}
	if strings.TrimSpace(known) == "refs/heads/"+branch {
		_, err = r.git(ctx, "switch", "--quiet", "--no-guess", branch)
	} else {
		_, err = r.git(ctx, "switch", "--quiet", "--create", branch)
	}
	return err
}

// Changed returns the paths that differ between HEAD and the commit where it left base, sorted.
func (r *Repo) Changed(ctx context.Context, base string) ([]string, error) {
	if base == "" || strings.HasPrefix(base, "-") || strings.Contains(base, "..") {
		return nil, fmt.Errorf("git diff: %q is not a commit", base)
	}
	return r.paths(ctx, "diff", "--no-renames", "--no-ext-diff", "--no-textconv", base+"...HEAD", "--")
}

// paths runs a comparison and returns the names it prints.
func (r *Repo) paths(ctx context.Context, name string, args ...string) ([]string, error) {
	out, err := r.git(ctx, name, append([]string{"--name-only", "-z"}, args...)...)
	if err != nil || out == "" {
		return nil, err
	}
	paths := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	slices.Sort(paths)
	return paths, nil
}

// Keys that git itself writes into a clone's configuration.
var ordinary = regexp.MustCompile(`^(core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks)|` +
	`remote\.origin\.(url|fetch)|branch\..+\.(remote|merge)|extensions\.(objectformat|refstorage))$`)

// Push sends the branch to where the working copy was cloned from, never by
// force. What is there already is no error. A working copy from [Open] has no token.
func (r *Repo) Push(ctx context.Context, branch string) error {
	if err := checkBranch(branch); err != nil {
		return fmt.Errorf("git push: %w", err)
	}
	config, err := r.config(ctx)
	if err != nil {
		return err
	}
	for key := range config {
		if r.auth.token != "" && !ordinary.MatchString(key) {
			return fmt.Errorf("git push: the working copy's configuration was changed: %q", key)
		}
	}
	auth := r.auth
	if !auth.local && auth.scope == "" { // opened: the remote says of what kind it is
		if auth, err = newAuth(Options{URL: config["remote.origin.url"]}); err != nil {
			return fmt.Errorf("git push: %w", err)
		}
	}
	ref := "refs/heads/" + branch
	_, err = r.run(ctx, command{
		name: "push", args: []string{"--quiet", "--no-verify", "--no-signed", "--recurse-submodules=no", "--", "origin", ref + ":" + ref},
		auth: auth,
	})
	return err
}
