package projections

import (
	"slices"
	"strings"
	"time"

	"agent/eventlog/event"
)

// Comments is what is known of the task's comments. It never holds bodies of
// comments that are already in the conversation.
type Comments struct {
	seen      map[string]string // id → hash of the body that was seen
	own       map[string]bool
	used      map[string]bool // in a message to the model
	from      map[string]From
	LastFetch time.Time
	Error     string          // of the latest fetch
	Partial   bool            // a fetch is not complete: it must be repeated
	Pending   []event.Comment // accepted, or withdrawn, and not in a message yet
	Older     int             // accepted ones that were left out, because newer ones filled the limit
	Ignored   map[event.CommentClass]int
	words     Paths // of those that were accepted
}

// From is who wrote a comment, and when by the forge's clock.
type From struct {
	Author  string
	Created time.Time
}

func newComments() Comments {
	return Comments{from: map[string]From{}, seen: map[string]string{}, own: map[string]bool{}, used: map[string]bool{}, Ignored: map[event.CommentClass]int{}, words: Paths{}}
}

// CommentID makes ids unique over the kinds of comment that a forge numbers apart.
func CommentID(kind, id string) string {
	if kind == "review" || kind == "review_comment" {
		return kind + ":" + id
	}
	return id
}

// Seen gives the hash of the body that was seen under an id.
func (c *Comments) Seen(id string) (hash string, ok bool) {
	hash, ok = c.seen[id]
	return hash, ok
}

// From tells who wrote a comment that was fetched.
func (c *Comments) From(id string) From { return c.from[id] }

// Own reports whether the log says that we wrote the comment.
func (c *Comments) Own(id string) bool { return c.own[id] }

// IDs lists the ids of all comments that were fetched, sorted.
func (c *Comments) IDs() []string {
	ids := make([]string, 0, len(c.seen))
	for id := range c.seen {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, compareIDs)
	return ids
}

// LaterID reports whether a comment's id was given after another one's.
func LaterID(id, than string) bool { return compareIDs(id, than) > 0 }

// compareIDs puts numeric ids in numeric order.
func compareIDs(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

func (c *Comments) apply(e event.Event) {
	switch b := e.Body.(type) {
	case *event.CommentPosted:
		c.own[b.ID] = true
	case *event.CommentsFetched:
		c.fetched(e, b)
	case *event.MessageAdded:
		if b.Purpose == event.TaskMessage || b.Purpose == event.CommentsMessage {
			c.Pending, c.Older = nil, 0
			for _, id := range b.Comments {
				c.used[id] = true
			}
		}
	}
}

func (c *Comments) fetched(e event.Event, b *event.CommentsFetched) {
	c.Error, c.Partial = b.Error, !b.Last
	if b.Error != "" {
		return // an empty or failed fetch must not forget what was seen
	}
	c.LastFetch = e.Time
	for _, comment := range b.Comments {
		id := CommentID(comment.Kind, comment.ID)
		c.seen[id] = comment.Hash
		if comment.Author != "" {
			c.from[id] = From{comment.Author, comment.Created}
		}
		switch comment.Verdict {
		case event.DeletedComment:
			delete(c.seen, id)
			if c.used[id] { // the model was told of it: it learns that it does not stand any more
				c.Pending = append(c.Pending, comment)
				delete(c.used, id)
			}
		case event.NewComment, event.EditedComment:
			c.words.add(comment.Body.View())
			c.Pending = append(c.Pending, comment)
		case event.OlderComment:
			c.Older++
		default:
			c.Ignored[comment.Verdict]++
		}
	}
}
