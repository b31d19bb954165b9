package viamcp

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"agent/forge"
	"agent/internal/lazyregexp"
)

// commentsOf translates the items of a list, also those within threads. What has no
// id, text, author or time is no comment but an answer that we cannot read: taken for
// one, it would be said by nobody at no time.
func commentsOf(kind string, items []object, since time.Time) (comments []forge.Comment, err error) {
	for _, item := range items {
		inner, isThread := item.thread()
		if isThread {
			part, err := commentsOf(kind, inner, since)
			if err != nil {
				return nil, err
			}
			comments = append(comments, part...)
			continue
		}
		c, err := item.comment(kind)
		if kind == "review" && strings.TrimSpace(item.text("body")) == "" {
			continue // an approval without words, or one that was not sent yet
		}
		if err != nil {
			return nil, err
		}
		if c.UpdatedAt.IsZero() || !c.UpdatedAt.Before(since) {
			comments = append(comments, c)
		}
	}
	return comments, nil
}

// thread gives the comments of a discussion or review thread. They know of it whether
// it was resolved.
func (o object) thread() (inner []object, is bool) {
	for _, name := range []string{"notes", "comments"} {
		if inner = o.list(name); len(inner) > 0 {
			for _, c := range inner {
				if o["isResolved"] == true || o["is_resolved"] == true {
					c["resolved"] = true
				}
			}
			return inner, true
		}
	}
	return nil, false
}

// numbered is the number of a comment in its address, for servers that give no id.
var numbered = lazyregexp.New(`#[a-z_-]*?(\d+)$`)

func (o object) comment(kind string) (forge.Comment, error) {
	c := forge.Comment{ID: o.id(), Kind: kind, Author: o.account(), System: o["system"] == true,
		Internal: o["internal"] == true || o["confidential"] == true,
		URL:      o.text("html_url", "htmlUrl", "web_url", "url"), CreatedAt: o.time("created_at", "createdAt", "submitted_at", "submittedAt")}
	if m := numbered.FindStringSubmatch(c.URL); c.ID == "" && m != nil {
		c.ID = m[1]
	}
	c.UpdatedAt = o.time("updated_at", "updatedAt")
	_, hasText := o["body"].(string)
	_, hasUser := o["user"]
	_, hasAuthor := o["author"]
	if c.ID == "" || !hasText || !hasUser && !hasAuthor || c.CreatedAt.IsZero() {
		return c, errors.New("the tool's result holds an item without id, text, author or time")
	}
	c.Body = o.place() + o.text("body")
	return c, nil
}

// place quotes where a comment on a diff stands, as the forges' own adapters do.
func (o object) place() string {
	path, line := o.text("path"), o.number("original_line", "originalLine", "line")
	if at := object(asMap(o["position"])); len(at) > 0 {
		path, line = at.text("new_path", "old_path"), at.number("new_line", "old_line")
	}
	if path == "" {
		return ""
	}
	text := "> " + strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, path)
	if line > 0 {
		text += fmt.Sprintf(":%d", line)
	}
	if o["resolved"] == true {
		text += " (resolved)"
	}
	return text + "\n\n"
}
