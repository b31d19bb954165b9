package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
)

// receiveCommit makes a clone that holds one commit. The branch may be gone, or hold
// something else by now.
func (r *Repo) receiveCommit(ctx context.Context, dir string, o Options, notes [][2]string) error {
	if !hexName(o.Commit) {
		return errors.New("git clone: the commit must be the name of an object")
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("git clone: %w", err)
	}
	format, branch := "sha1", cmp.Or(o.Branch, "main")
	if len(o.Commit) == 64 {
		format = "sha256"
	}
	run := func(name string, args ...string) error {
		_, err := command{name: name, args: args, dir: dir, trees: []string{dir}}.run(ctx)
		return err
	}
	if err := run("init", "--quiet", "--template=", "--object-format="+format, "--initial-branch="+branch, dir); err != nil {
		return err
	}
	for _, s := range append([][2]string{{"remote.origin.url", o.URL}, {"remote.origin.fetch", "+refs/heads/" + branch + ":refs/remotes/origin/" + branch}}, notes...) {
		if err := run("config", "--local", s[0], s[1]); err != nil {
			return err
		}
	}
	clone := &Repo{Dir: dir, auth: r.auth}
	if _, err := clone.fetch(ctx, o.Commit); err != nil {
		return err
	}
	if o.Ref != "" {
		_, err := clone.git(ctx, "checkout", "--quiet", "--force", "--detach", o.Commit)
		return err
	}
	_, err := clone.git(ctx, "checkout", "--quiet", "--force", "--no-track", "-B", branch, o.Commit)
	return err
}

// Sound checks that git can work with the copy: its references, its index, and the commit
// that the work began on.
func (r *Repo) Sound(ctx context.Context, base string) error {
	if !hexName(base) {
		return errors.New("git: the commit must be the name of an object")
	}
	for _, args := range [][]string{{"rev-parse", "--quiet", "--verify", "HEAD^{tree}"}, {"rev-parse", "--quiet", "--verify", base + "^{tree}"}, {"ls-files", "-z"}} {
		if _, err := r.git(ctx, args[0], args[1:]...); err != nil {
			return err
		}
	}
	return nil
}

// Has reports whether the copy has an object.
func (r *Repo) Has(ctx context.Context, name string) bool {
	if !hexName(name) {
		return false
	}
	_, err := r.git(ctx, "cat-file", "-e", name)
	return err == nil
}
