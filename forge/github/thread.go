package github

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/google/go-github/v89/github"

	"agent/forge"
	"agent/forge/rest"
)

const (
	maxPasses    = 5
	longestPlace = 200 // characters of a review comment's path and of the line it is about

)

// thread reads the lists of comments of one item.
type thread struct {
	c           *Client
	op          string
	owner, repo string
	number      int
	since       time.Time
}

// mark is what an item says of its list: it changes whenever a comment comes or goes.
type mark struct {
	of      int64 // id of the item
	n       int   // comments
	updated time.Time
}

// settled reads a list of pages that may change meanwhile.
//
// Pages shift when a comment is deleted or comes into the list while they are
// read, and one can slip through. A list of several pages therefore counts if the item
// says the same before and after, and as many as were read; marked is nil for a list that
// no item counts. Else it is read until two passes agree; new comments at the end are no
// disagreement.
func settled[T interface{ GetID() int64 }](t thread, ctx context.Context, marked func(context.Context) (mark, error), page func(github.ListOptions) ([]T, *github.Response, error)) ([]T, error) {
	if marked != nil {
		now, ok, err := once(t, ctx, marked, page)
		if ok || err != nil {
			return now, err
		}
	}
	var before []T
	for pass := range maxPasses {
		now, err := all(t.c, ctx, t.op, page)
		if err != nil {
			return nil, err
		}
		if len(now) < pageSize || (pass > 0 && extends(now, before)) {
			return now, nil
		}
		before = now
	}
	return nil, &forge.Error{Kind: forge.Transient, Op: t.op, Message: "the comments kept changing while they were read"}
}

// once reads each page once; it is not ok if the list changed meanwhile.
func once[T interface{ GetID() int64 }](t thread, ctx context.Context, marked func(context.Context) (mark, error), page func(github.ListOptions) ([]T, *github.Response, error)) (list []T, ok bool, err error) {
	first, response, err := page(github.ListOptions{Page: 1, PerPage: pageSize})
	if err != nil || first == nil || len(first) < pageSize && response.NextPage <= 1 {
		list, err = all(t.c, ctx, t.op, func(github.ListOptions) ([]T, *github.Response, error) { return first, response, err })
		return list, true, err
	}
	before, err := marked(ctx)
	if err != nil {
		return nil, false, err
	}
	list, err = all(t.c, ctx, t.op, page) // the first page, too: it is older than the mark
	if err != nil {
		return nil, false, err
	}
	after, err := marked(ctx)
	return list, before == after && after.n == len(list), err
}

// extends reports whether a begins with the comments of b.
func extends[T interface{ GetID() int64 }](a, b []T) bool {
	return len(a) >= len(b) && slices.EqualFunc(a[:len(b)], b, func(x, y T) bool { return x.GetID() == y.GetID() })
}

// growing reads a list of comments that the forge counts. Of a long one that is known,
// only what changed since is fetched, as long as nothing was deleted.
func (t thread) growing(ctx context.Context, kind string, count func(context.Context) (mark, error),
	read func(context.Context, time.Time, rest.Thread) ([]remark, error)) ([]remark, error) {
	name := fmt.Sprintf("%s/%s/%s/%d %s", t.c.api.BaseURL(), t.owner, t.repo, t.number, kind)
	if known, ok := t.c.threads.Get(name); ok {
		now, err := count(ctx)
		if err != nil {
			return nil, err
		}
		if now.of == known.Of && now.n >= len(known.Comments) {
			changed, err := read(ctx, known.Since(), known)
			if err != nil {
				return nil, err
			}
			if all := known.With(plain(changed)); len(all) == now.n {
				t.c.threads.Put(name, rest.Thread{Of: now.of, Comments: all})
				return numbered(t.op, rest.UpdatedSince(all, t.since))
			}
		}
	}
	remarks, err := read(ctx, t.since, rest.Thread{})
	if err != nil || len(remarks) < pageSize || !t.since.IsZero() {
		return remarks, err
	}
	now, err := count(ctx)
	if err != nil {
		return nil, err
	}
	t.c.threads.Put(name, rest.Thread{Of: now.of, Comments: rest.Thread{}.With(plain(remarks))})
	return remarks, nil
}

func plain(remarks []remark) (all []forge.Comment) {
	for _, r := range remarks {
		all = append(all, r.Comment)
	}
	return all
}

func numbered(op string, comments []forge.Comment) (all []remark, err error) {
	for _, c := range comments {
		id, err := strconv.ParseInt(c.ID, 10, 64)
		if err != nil {
			return nil, unreadable(op, reading)
		}
		all = append(all, remark{c, id})
	}
	return all, nil
}

func (t thread) conversation(ctx context.Context) ([]remark, error) {
	return t.growing(ctx, "comment", t.countComments, t.comments)
}

func (t thread) countComments(ctx context.Context) (mark, error) {
	issue, err := one(t.c, ctx, t.op, func() (*github.Issue, *github.Response, error) {
		return t.c.api.Issues.Get(ctx, t.owner, t.repo, t.number)
	})
	return mark{issue.GetID(), issue.GetComments(), issue.GetUpdatedAt().UTC()}, err
}

// marked is count for a list that is whole.
func marked(since time.Time, count func(context.Context) (mark, error)) func(context.Context) (mark, error) {
	if !since.IsZero() {
		return nil
	}
	return count
}

func (t thread) comments(ctx context.Context, since time.Time, _ rest.Thread) ([]remark, error) {
	options := &github.IssueListCommentsOptions{}
	if !since.IsZero() {
		options.Since = &since
	}
	raw, err := settled(t, ctx, marked(since, t.countComments), func(page github.ListOptions) ([]*github.IssueComment, *github.Response, error) {
		options.ListOptions = page
		return t.c.api.Issues.ListComments(ctx, t.owner, t.repo, t.number, options)
	})
	var remarks []remark
	for _, r := range raw {
		remarks = append(remarks, remark{commentOf(r), r.GetID()})
	}
	return remarks, err
}

// reviews leaves out reviews without a text and those that their author has not sent yet.
func (t thread) reviews(ctx context.Context) ([]remark, error) {
	raw, err := settled(t, ctx, nil, func(page github.ListOptions) ([]*github.PullRequestReview, *github.Response, error) {
		return t.c.api.PullRequests.ListReviews(ctx, t.owner, t.repo, t.number, &page)
	})
	var remarks []remark
	for _, r := range raw {
		at := r.GetSubmittedAt().UTC()
		if strings.TrimSpace(r.GetBody()) == "" || r.GetState() == "PENDING" || at.Before(t.since) {
			continue
		}
		remarks = append(remarks, remark{forge.Comment{
			ID: strconv.FormatInt(r.GetID(), 10), Kind: "review", Author: account(r.GetUser()), Body: r.GetBody(),
			State: reviewStates[r.GetState()], URL: r.GetHTMLURL(), CreatedAt: at, UpdatedAt: at,
		}, r.GetID()})
	}
	return remarks, err
}

// reviewStates are states that say more than that there is a text.
var reviewStates = map[string]string{"APPROVED": "approved", "CHANGES_REQUESTED": "changes requested", "DISMISSED": "dismissed"}

func (t thread) reviewComments(ctx context.Context) ([]remark, error) {
	return t.growing(ctx, "review_comment", t.countRemarks, t.remarks)
}

func (t thread) countRemarks(ctx context.Context) (mark, error) {
	pull, err := one(t.c, ctx, t.op, func() (*github.PullRequest, *github.Response, error) {
		return t.c.api.PullRequests.Get(ctx, t.owner, t.repo, t.number)
	})
	return mark{pull.GetID(), pull.GetReviewComments(), pull.GetUpdatedAt().UTC()}, err
}

// remarks asks which of them are resolved, unless all are known as they are.
func (t thread) remarks(ctx context.Context, since time.Time, known rest.Thread) ([]remark, error) {
	options := &github.PullRequestListCommentsOptions{Sort: "created", Direction: "asc", Since: since}
	raw, err := settled(t, ctx, marked(since, t.countRemarks), func(page github.ListOptions) ([]*github.PullRequestComment, *github.Response, error) {
		options.ListOptions = page
		return t.c.api.PullRequests.ListComments(ctx, t.owner, t.repo, t.number, options)
	})
	if err != nil || len(raw) == 0 {
		return nil, err
	}
	states := known.States()
	var resolved map[int64]bool
	if slices.ContainsFunc(raw, func(r *github.PullRequestComment) bool {
		_, same := states[stateOf(r)]
		return !same
	}) {
		if resolved, err = t.resolved(ctx); err != nil {
			return nil, err
		}
	}
	var remarks []remark
	for _, r := range raw {
		state := states[stateOf(r)]
		if resolved[cmp.Or(r.GetInReplyTo(), r.GetID())] {
			state = "resolved"
		}
		remarks = append(remarks, remark{forge.Comment{
			ID: strconv.FormatInt(r.GetID(), 10), Kind: "review_comment", Author: account(r.GetUser()),
			Body: place(r) + r.GetBody(), State: state, URL: r.GetHTMLURL(),
			CreatedAt: r.GetCreatedAt().UTC(), UpdatedAt: r.GetUpdatedAt().UTC(),
		}, r.GetID()})
	}
	return remarks, nil
}

func stateOf(r *github.PullRequestComment) rest.Version {
	return rest.Version{ID: strconv.FormatInt(r.GetID(), 10), Updated: r.GetUpdatedAt().UTC()}
}

// place is the quoted line before a review comment: its path, line and that
// line of the diff. All are those of the commit that was commented, so that a
// later push does not make the comment look edited.
func place(r *github.PullRequestComment) string {
	if r.GetPath() == "" {
		return ""
	}
	text := "> " + oneLine(r.GetPath())
	first, last := r.GetOriginalStartLine(), r.GetOriginalLine()
	switch {
	case last == 0:
		return text + "\n\n"
	case first > 0 && first < last:
		text += fmt.Sprintf(":%d-%d", first, last)
	default:
		text += fmt.Sprintf(":%d", last)
	}
	hunk := strings.TrimRight(r.GetDiffHunk(), "\n")
	if line := hunk[strings.LastIndexByte(hunk, '\n')+1:]; line != "" && !strings.HasPrefix(line, "@@") {
		text += ": " + oneLine(line)
	}
	return text + "\n\n"
}

// oneLine cuts foreign text and keeps it on one line.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if runes := []rune(s); len(runes) > longestPlace {
		s = string(runes[:longestPlace]) + "…"
	}
	return s
}
