package git

import (
	"context"
	"errors"
	"fmt"
)

// Since is what a branch of the remote changes since a commit, as [Repo.Apply] takes
// it. The branch must exist; the commit may be any that the remote gives out.
func (r *Repo) Since(ctx context.Context, branch, base string) (patch []byte, err error) {
	if err := checkBranch(branch); err != nil || !hexName(base) {
		return nil, errors.Join(errors.New("git diff: no branch, or no name of a commit"), err)
	}
	if _, err := r.git(ctx, "rev-parse", "--quiet", "--verify", base+"^{commit}"); err != nil {
		if _, err := r.fetch(ctx, base); err != nil {
			return nil, err
		}
	}
	tip, err := r.fetch(ctx, "refs/heads/"+branch)
	if err != nil {
		return nil, err
	}
	out, err := r.git(ctx, "diff", "--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv", base, tip, "--")
	return []byte(out), err
}

// Apply makes the files of a new working copy what HEAD and the patch make of them.
// It is a [Conflict] if the patch does not fit; the files are then those of HEAD.
func (r *Repo) Apply(ctx context.Context, patch []byte) error {
	if err := r.unlock("apply", "index"); err != nil {
		return err
	}
	if err := r.pristine(ctx); err != nil { // a process that was killed may have begun
		return err
	}
	_, err := r.run(ctx, command{name: "apply", args: []string{"--index", "--binary", "--whitespace=nowarn", "-"}, input: string(patch)})
	if err == nil || ctx.Err() != nil {
		return err
	}
	text := err.Error()
	if failed := (*Error)(nil); errors.As(err, &failed) {
		text = failed.Text
	}
	return errors.Join(&Error{"apply", Conflict, text}, r.pristine(ctx))
}

// pristine throws away what differs from HEAD.
func (r *Repo) pristine(ctx context.Context) error {
	for _, args := range [][]string{{"reset", "--quiet", "--hard", "HEAD"}, {"clean", "--quiet", "-ffd"}} {
		if _, err := r.git(ctx, args[0], args[1:]...); err != nil {
			return fmt.Errorf("git apply: %w", err)
		}
	}
	return nil
}
