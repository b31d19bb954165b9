package gitlab

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"gitlab.com/gitlab-org/api/client-go/v2"

	"agent/forge"
	"agent/forge/rest"
)

const maxPasses = 5

// note is the library's note with an author that may be missing or a bot.
type note struct {
	gitlab.Note
	Author *struct {
		ID       int64  `json:"id"`
		Username string `json:"username"`
		Bot      bool   `json:"bot"`
	} `json:"author"`
}

func (n *note) author() forge.Account {
	if n.Author == nil {
		return account(0, "", false)
	}
	return account(n.Author.ID, n.Author.Username, n.Author.Bot)
}

func notesPath(key forge.TaskKey) string {
	kind := "issues"
	if key.Kind == forge.GitLabMergeRequest {
		kind = "merge_requests"
	}
	return fmt.Sprintf("projects/%s/%s/%d/notes", gitlab.PathEscape(key.Project), kind, key.Number)
}

// Comments returns every note, also those of threads and diffs and those the
// forge wrote itself, oldest first. If since is set, only those updated at or
// after it; GitLab cannot be asked for these alone.
//
// Of a long thread that is known only the notes that changed last are fetched, as long as
// none was deleted.
func (c *Client) Comments(ctx context.Context, key forge.TaskKey, since time.Time) ([]forge.Comment, error) {
	const op = "list notes"
	if err := c.check(op, key); err != nil {
		return nil, err
	}
	name := c.web + "/" + notesPath(key)
	all, err := c.grown(ctx, op, key, name)
	if all == nil && err == nil {
		all, err = c.wholeThread(ctx, op, key, name)
	}
	if err != nil {
		return nil, err
	}
	comments := rest.UpdatedSince(all, since)
	return comments, c.markBots(ctx, op, comments)
}

// wholeThread reads all notes. Pages shift when a note is deleted while they are read, and
// one can slip through. A list of several pages counts if each of them says that there are
// as many as were read, and none is so new that it may have come meanwhile. Else it is
// read until two passes agree; new notes at the end are no disagreement.
func (c *Client) wholeThread(ctx context.Context, op string, key forge.TaskKey, name string) ([]forge.Comment, error) {
	var before []*note
	for pass := range maxPasses {
		notes, steady, err := c.notePages(ctx, op, key)
		if err != nil {
			return nil, err
		}
		if len(notes) < pageSize || steady || pass > 0 && extends(notes, before) {
			comments, err := c.commentsOf(op, key, notes)
			if err == nil && len(notes) >= pageSize {
				c.threads.Put(name, rest.Thread{Of: notes[0].NoteableID, Comments: comments})
			}
			return comments, err
		}
		before = notes
	}
	return nil, &forge.Error{Kind: forge.Transient, Op: op, Message: "the notes kept changing while they were read"}
}

// grown is a known thread with what changed since; nil if that cannot be told.
func (c *Client) grown(ctx context.Context, op string, key forge.TaskKey, name string) ([]forge.Comment, error) {
	known, ok := c.threads.Get(name)
	if !ok {
		return nil, nil
	}
	var changed []*note
	count := counter{}
	for page := int64(1); page <= maxPages; page++ {
		notes, response, err := c.notePage(key, gitlab.ListOptions{Page: page, PerPage: pageSize}, "updated_at", "desc", gitlab.WithContext(ctx))
		if err := c.classify(ctx, op, rest.Reading, response, err); err != nil {
			return nil, err
		}
		count.add(response)
		changed = append(changed, notes...)
		if len(notes) == 0 || slices.Contains(notes, nil) || notes[0].NoteableID != known.Of {
			return nil, nil
		}
		if when(notes[len(notes)-1].UpdatedAt).Before(known.Since()) || response.NextPage <= page {
			break
		}
	}
	fresh, err := c.commentsOf(op, key, changed)
	if err != nil {
		return nil, err
	}
	all := known.With(fresh)
	if len(all) != count.total() {
		return nil, nil
	}
	c.threads.Put(name, rest.Thread{Of: known.Of, Comments: all})
	return all, nil
}

// counter notes how many notes there are by the headers of several pages.
type counter struct {
	n      int64
	differ bool
}

func (c *counter) add(r *gitlab.Response) {
	if r == nil {
		return
	}
	c.differ = c.differ || c.n != 0 && c.n != r.TotalItems
	c.n = r.TotalItems
}

// total is -1 if the pages do not say the same, and where GitLab does not count: above 10,000.
func (c *counter) total() int {
	if c.differ || c.n == 0 {
		return -1
	}
	return int(c.n)
}

// notePages asks for the oldest first: new notes then come to the end and shift no page. It
// is steady if nothing came or went meanwhile, by the forge's own count and clock.
func (c *Client) notePages(ctx context.Context, op string, key forge.TaskKey) (notes []*note, steady bool, err error) {
	count, begun := counter{}, time.Time{}
	notes, err = all(c, ctx, op, func(page gitlab.ListOptions, with request) ([]*note, *gitlab.Response, error) {
		part, response, err := c.notePage(key, page, "created_at", "asc", with)
		count.add(response)
		if response != nil && begun.IsZero() {
			begun, _ = http.ParseTime(response.Header.Get("Date"))
		}
		return part, response, err
	})
	if err != nil || len(notes) == 0 {
		return notes, false, err
	}
	newest := when(notes[len(notes)-1].CreatedAt)
	return notes, count.total() == len(notes) && newest.Before(begun.Add(-rest.ThreadsLag)), nil
}

func (c *Client) notePage(key forge.TaskKey, page gitlab.ListOptions, orderBy, sort string, with request) ([]*note, *gitlab.Response, error) {
	var notes []*note
	options := &gitlab.ListIssueNotesOptions{ListOptions: page, OrderBy: &orderBy, Sort: &sort}
	response, err := c.send(http.MethodGet, notesPath(key), options, with, &notes)
	return notes, response, err
}

// extends reports whether a begins with the notes of b.
func extends(a, b []*note) bool {
	return len(a) >= len(b) && slices.EqualFunc(a[:len(b)], b, func(x, y *note) bool { return x.ID == y.ID })
}

// commentsOf translates, drops repeated ids, and sorts by time, then id.
func (c *Client) commentsOf(op string, key forge.TaskKey, notes []*note) ([]forge.Comment, error) {
	slices.SortStableFunc(notes, func(a, b *note) int {
		return cmp.Or(when(a.CreatedAt).Compare(when(b.CreatedAt)), cmp.Compare(a.ID, b.ID))
	})
	var comments []forge.Comment
	seen := map[int64]bool{}
	for _, n := range notes {
		if n.ID <= 0 {
			return nil, rest.Unreadable(op, rest.Reading)
		}
		if n.Author != nil {
			c.meet(n.Author.ID, n.Author.Username)
		}
		if !seen[n.ID] {
			comments = append(comments, c.commentOf(key, n))
		}
		seen[n.ID] = true
	}
	return comments, nil
}

func (c *Client) commentOf(key forge.TaskKey, n *note) forge.Comment {
	id := strconv.FormatInt(n.ID, 10)
	//lint:ignore SA1019 a GitLab before 15.3 marks internal notes with this field only
	internal := n.Internal || n.Confidential
	state := ""
	if n.Resolvable && n.Resolved {
		state = "resolved"
	}
	return forge.Comment{
		ID: id, Kind: "note", State: state, Author: n.author(), Body: place(n.Position) + n.Body,
		System: n.System, Internal: internal, URL: c.page(key) + "#note_" + id, CreatedAt: when(n.CreatedAt), UpdatedAt: when(n.UpdatedAt),
	}
}

// page is the web page of a task.
func (c *Client) page(key forge.TaskKey) string {
	return c.web + strings.TrimPrefix(key.String(), c.host)
}

// place quotes where a note on a diff stands, "" for all others.
func place(p *gitlab.NotePosition) string {
	if p == nil || p.NewPath == "" && p.OldPath == "" {
		return ""
	}
	path, line := p.NewPath, p.NewLine
	if path == "" || line == 0 && p.OldLine != 0 { // a removed line
		path, line = p.OldPath, p.OldLine
	}
	path = rest.Line(path) // a file's name may hold anything
	if line == 0 {         // of a picture, or of the whole file
		return fmt.Sprintf("> %s\n\n", path)
	}
	if first := firstLine(p); first > 0 && first < line {
		return fmt.Sprintf("> %s:%d-%d\n\n", path, first, line)
	}
	return fmt.Sprintf("> %s:%d\n\n", path, line)
}

// firstLine is where a note on several lines begins, on the side where it ends; 0 for others.
func firstLine(p *gitlab.NotePosition) int64 {
	switch {
	case p.LineRange == nil || p.LineRange.StartRange == nil:
		return 0
	case p.NewLine != 0:
		return p.LineRange.StartRange.NewLine
	}
	return p.LineRange.StartRange.OldLine
}

// PostComment writes a new note. A text that GitLab takes for commands alone makes none and is [forge.Invalid].
func (c *Client) PostComment(ctx context.Context, key forge.TaskKey, body string) (forge.Comment, error) {
	const op = "post note"
	if err := c.check(op, key); err != nil {
		return forge.Comment{}, err
	}
	return c.writeNote(ctx, op, key, http.MethodPost, notesPath(key), body)
}

// EditComment replaces the body of a note of this task. Another task's note is not found.
func (c *Client) EditComment(ctx context.Context, key forge.TaskKey, id, body string) (forge.Comment, error) {
	const op = "edit note"
	path, err := c.noteAt(op, key, id)
	if err != nil {
		return forge.Comment{}, err
	}
	return c.writeNote(ctx, op, key, http.MethodPut, path, body)
}

func (c *Client) writeNote(ctx context.Context, op string, key forge.TaskKey, method, path, body string) (forge.Comment, error) {
	accepted := false
	n, err := write(c, ctx, op, func(with request) (*note, *gitlab.Response, error) {
		var n *note
		response, err := c.send(method, path, &gitlab.CreateIssueNoteOptions{Body: &body}, with, &n)
		accepted = response != nil && response.Response != nil && response.StatusCode == http.StatusAccepted
		return n, response, err
	})
	if accepted && ctx.Err() == nil {
		return forge.Comment{}, rest.Invalid(op, "the text was taken for commands, and no note was written")
	}
	if err != nil {
		return forge.Comment{}, err
	}
	if n.ID <= 0 {
		return forge.Comment{}, rest.Unreadable(op, rest.Writing)
	}
	return c.commentOf(key, n), nil
}
