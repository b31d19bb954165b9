package workspace

import (
	"bytes"
	"context"
	"errors"

	"agent/eventlog/event"
	"agent/internal/git"
	"agent/projections"
)

// Unfinished is work that an earlier attempt at a task left. It is zero if there is none.
type Unfinished struct {
	From   string // uuid of its context
	Branch string // that was pushed; "": Patch holds it
	Base   string // the commit that the work began on
	Patch  []byte
}

// takeOver puts unfinished work of an earlier attempt into a new clone of a commit. Work that does
// not fit leaves the clone as it is, and it is said why. An error means that the
// same may succeed later.
func (w *Copy) takeOver(ctx context.Context, s *projections.State, repo *git.Repo, base string) (c event.Continued, err error) {
	if w.c.Earlier == nil {
		return c, nil
	}
	left := w.c.Earlier(s)
	if left.From == "" {
		return c, nil
	}
	c.From, c.Branch = left.From, left.Branch
	if left.Branch != "" {
		left.Patch, err = repo.Since(ctx, left.Branch, left.Base)
	}
	switch {
	case err == nil && len(bytes.TrimSpace(left.Patch)) == 0:
		err = errors.New("it holds no change")
	case err == nil:
		err = repo.Apply(ctx, left.Patch)
	}
	switch {
	case ctx.Err() != nil:
		return c, ctx.Err()
	case isTemporary(err):
		for i, path := range c.Files {
			c.Files[i] = shortPath(path)
		}
		c.Files = c.Files[:min(len(c.Files), listedFiles)]
		return c, err
	case err != nil:
		c.Error = reasonOf(err)
	default:
		c.Files, _, err = repo.New(ctx, base)
	}
	return c, err
}

func reasonOf(err error) string {
	if failed := (*git.Error)(nil); errors.As(err, &failed) {
		return failed.Text
	}
	return err.Error()
}
