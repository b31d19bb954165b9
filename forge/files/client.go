// Package files is a source of tasks without a forge: a directory of Markdown files.
//
// A task is a file with front matter (title, labels, author, number, state) and a
// text. Comments are sections at its end; each begins with a line `=== @alice`. The
// adapter writes the rest of that line, `=== @alice #3 2026-11-28T14:05:00Z`: an id,
// which is stable, and a time. A line of a text that looks like that is written with a
// backslash before it, so that no text can pass for a comment of somebody else.
//
// The number is what identifies a task. One without a number gets the next free one,
// so a file may be renamed. A file without front matter is not a task. One that cannot be
// read, or whose number another file has too, is named with every list and not
// touched; the others go on.
//
// Whoever can write the directory is trusted: nothing proves who wrote a section.
//
// Every write takes a lock, reads the file, changes it, writes a new one, syncs it,
// renames it over the old one and syncs the directory. If a person saved meanwhile, it
// reads again. What a file does not say is kept in .agent beside the tasks, see [side].
//
// Errors are *forge.Error. A directory that is not there hides its tasks; they are not
// gone.
package files

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"agent/forge"
	"agent/internal/fsx"
	"agent/internal/lazyregexp"
)

// maxComment is the longest comment in characters.
const maxComment = 65536

// Config says where the tasks are.
type Config struct {
	Directory  string // absolute
	Name       string // in task keys; see [ValidName]
	Repository string // local path or URL; "": the one that the directory lies in
	Push       bool   // changes are pushed to it; else they end as a patch
	BotName    string // name in the agent's own comments
	Operator   string // author of a task that names none
	ReadOnly   bool   // nothing is written, not even numbers

	FS  fsx.FS           // nil: Directory
	Now func() time.Time // nil: time.Now
}

// Client reads and writes the tasks of one directory.
type Client struct {
	cfg    Config
	now    func() time.Time
	before func() // tests act here, between the read and the write of a file

	mu     sync.Mutex
	fs     fsx.FS
	opened fs.FileInfo    // the directory that fs was opened on
	names  map[int]string // of the files, by number
	last   []byte         // that was written
}

var nameForm = lazyregexp.New(`^[\pL\pN_][\pL\pN_.-]{0,63}$`)

// ValidName reports whether a name can stand in task keys.
func ValidName(name string) bool { return nameForm.MatchString(name) && !strings.Contains(name, "..") }

// New checks the configuration. No file is touched.
func New(cfg Config) (*Client, error) {
	if !ValidName(cfg.Name) {
		return nil, invalid("open", "the name of the directory must consist of letters, digits, . _ and -: set `name`")
	}
	if cfg.BotName == "" {
		cfg.BotName = "agent"
	}
	if cfg.Operator == "" {
		cfg.Operator = "operator"
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Client{cfg: cfg, now: cfg.Now, fs: cfg.FS, names: map[int]string{}}, nil
}

// Host is that of the task keys.
func (c *Client) Host() string { return host(c.cfg.Name) }

func host(name string) string { return "files/" + name }

// Token is none: git needs nothing to reach a directory, and knows the user's own keys for no other.
func (c *Client) Token(context.Context) (string, error) { return "", nil }

// Close closes the directory.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if closer, can := c.fs.(interface{ Close() error }); can && c.cfg.FS == nil {
		_ = closer.Close() // nothing was written through it that is not synced
		c.fs = nil
	}
}

// Me is the name in the agent's comments.
func (c *Client) Me(context.Context) (forge.Account, error) {
	return forge.Account{ID: c.cfg.BotName, Login: c.cfg.BotName, Bot: true}, nil
}

// MaxComment is the longest comment in characters.
func (c *Client) MaxComment() int { return maxComment }

// ListTasks returns the open tasks with a label, by their numbers. With an error that
// names files which cannot be read come the tasks of all others.
func (c *Client) ListTasks(ctx context.Context, label string) ([]forge.Task, error) {
	const op = "list tasks"
	fsys, err := c.tree()
	if err != nil {
		return nil, c.failed(ctx, op, err, forge.Forbidden)
	}
	wanted := func(f file) bool { return f.doc.head.State != "closed" && slices.Contains(f.doc.head.Labels, label) }
	tasks, bad, err := c.all(ctx, fsys)
	if err == nil && c.cfg.ReadOnly {
		labelled := func(f file) bool { return f.doc.head.State != "closed" && len(f.doc.head.Labels) > 0 }
		err = numbered(fsys, tasks, labelled, func(file) error { return nil }) // whatever label is asked for, each has the same
	} else if err == nil && slices.ContainsFunc(tasks, func(f file) bool { return wanted(f) && f.doc.head.Number == 0 }) {
		if err = c.number(ctx, fsys, wanted); err == nil {
			tasks, bad, err = c.all(ctx, fsys)
		}
	}
	if err != nil {
		return nil, c.failed(ctx, op, err, forge.Forbidden)
	}
	var listed []forge.Task
	for _, f := range tasks {
		if wanted(f) && f.doc.head.Number > 0 {
			c.remember(f)
			listed = append(listed, c.task(f))
		}
	}
	slices.SortFunc(listed, func(a, b forge.Task) int { return a.Key.Number - b.Key.Number })
	if len(bad) == 0 {
		return listed, nil
	}
	texts := make([]string, len(bad))
	for i, b := range bad {
		texts[i] = b.Error()
	}
	return listed, invalid(op, "not read as tasks: "+strings.Join(texts, "; "))
}

func (c *Client) task(f file) forge.Task {
	h := f.doc.head
	t := forge.Task{
		Key:   forge.TaskKey{Host: c.Host(), Project: c.cfg.Name, Kind: forge.FileTask, Number: h.Number},
		Title: h.Title, Body: f.doc.body(), Author: c.account(h.Author), State: h.State, Labels: slices.Clone([]string(h.Labels)),
		URL: c.url(f.name), Private: true, UpdatedAt: f.time.UTC(), NoPush: !c.cfg.Push,
	}
	if t.State == "" {
		t.State = "open"
	}
	if t.Title == "" {
		t.Title = strings.TrimSuffix(f.name, ".md")
	}
	return t
}

// account is who a file names. A task without an author is the operator's.
func (c *Client) account(login string) forge.Account {
	login = strings.TrimPrefix(login, "@")
	if login == "" {
		login = c.cfg.Operator
	}
	return forge.Account{ID: login, Login: login, Bot: login == c.cfg.BotName || strings.HasSuffix(login, "[bot]")}
}

func (c *Client) url(name string) string {
	return (&url.URL{Scheme: "file", Path: c.path(name)}).String()
}

// check refuses keys of other places.
func (c *Client) check(op string, key forge.TaskKey) error {
	if key.Kind != forge.FileTask || key.Host != c.Host() || key.Project != c.cfg.Name || key.Number < 1 {
		return invalid(op, "the task is not one of this directory")
	}
	return nil
}

// Task reads a task.
func (c *Client) Task(ctx context.Context, key forge.TaskKey) (forge.Task, error) {
	const op = "read task"
	if err := c.check(op, key); err != nil {
		return forge.Task{}, err
	}
	fsys, err := c.tree()
	if err != nil {
		return forge.Task{}, c.failed(ctx, op, err, forge.Hidden)
	}
	f, err := c.find(ctx, fsys, key.Number)
	if err != nil {
		return forge.Task{}, c.failed(ctx, op, err, forge.Hidden)
	}
	return c.task(f), nil
}

// Comments returns the sections of a task in the order of their ids.
func (c *Client) Comments(ctx context.Context, key forge.TaskKey, since time.Time) ([]forge.Comment, error) {
	f, _, err := c.do(ctx, "read comments", key, nil)
	if err != nil {
		return nil, err
	}
	comments := []forge.Comment{}
	for _, s := range f.doc.sections {
		if comment := c.comment(f, s); !comment.UpdatedAt.Before(since) {
			comments = append(comments, comment)
		}
	}
	slices.SortFunc(comments, func(a, b forge.Comment) int { return number(a.ID) - number(b.ID) })
	return comments, nil
}

func (c *Client) comment(f file, s section) forge.Comment {
	id := strconv.Itoa(s.id)
	comment := forge.Comment{ID: id, Kind: "comment", Author: c.account(s.author), Body: s.body,
		URL: c.url(f.name) + "#" + id, CreatedAt: s.created, UpdatedAt: s.created}
	if s.edited.After(s.created) {
		comment.UpdatedAt = s.edited
	}
	return comment
}

// number reads an id, 0 for none.
func number(id string) int {
	n, err := strconv.Atoi(id)
	if err != nil || n < 1 || strconv.Itoa(n) != id {
		return 0
	}
	return n
}

// checkBody refuses what is no comment.
func checkBody(op, body string) error {
	switch {
	case strings.TrimSpace(body) == "":
		return invalid(op, "the comment is empty")
	case utf8.RuneCountInString(body) > maxComment:
		return invalid(op, fmt.Sprintf("the comment is too long: at most %d characters", maxComment))
	case !utf8.ValidString(body):
		return invalid(op, "the comment is not UTF-8")
	}
	return nil
}

// PostComment adds a section.
func (c *Client) PostComment(ctx context.Context, key forge.TaskKey, body string) (forge.Comment, error) {
	return c.Say(ctx, key, c.cfg.BotName, body)
}

// Say adds a section of somebody.
func (c *Client) Say(ctx context.Context, key forge.TaskKey, login, body string) (forge.Comment, error) {
	const op = "post comment"
	if err := checkBody(op, body); err != nil {
		return forge.Comment{}, err
	}
	var id int
	f, _, err := c.do(ctx, op, key, func(d *document, s *side) error {
		s.Comments++
		id = s.Comments
		return d.append(section{author: login, id: id, created: c.second(), body: body})
	})
	if err != nil {
		return forge.Comment{}, err
	}
	return c.comment(f, f.doc.sections[f.doc.find(id)]), nil
}

func (c *Client) second() time.Time { return c.now().UTC().Truncate(time.Second) }

// EditComment replaces the text of a section.
func (c *Client) EditComment(ctx context.Context, key forge.TaskKey, id, body string) (forge.Comment, error) {
	const op = "edit comment"
	if err := checkBody(op, body); err != nil {
		return forge.Comment{}, err
	}
	n := number(id)
	if n == 0 {
		return forge.Comment{}, invalid(op, "the id is not one of a comment")
	}
	f, _, err := c.do(ctx, op, key, func(d *document, _ *side) error {
		i := d.find(n)
		if i < 0 {
			return &forge.Error{Kind: forge.NotFound, Message: "there is no comment #" + id}
		}
		s := d.sections[i]
		if s.body == body {
			return nil
		}
		s.edited = c.second()
		lines := append([]string{s.headLine(), ""}, escaped(body)...)
		if i+1 < len(d.sections) {
			lines = append(lines, "")
		}
		return d.put(s.line, d.after(i), lines...)
	})
	if err != nil {
		return forge.Comment{}, err
	}
	return c.comment(f, f.doc.sections[f.doc.find(n)]), nil
}

// ChangeLabels adds and removes labels in the front matter.
func (c *Client) ChangeLabels(ctx context.Context, key forge.TaskKey, add []forge.Label, remove []string) ([]string, error) {
	f, _, err := c.do(ctx, "change labels", key, func(d *document, s *side) error {
		labels := slices.DeleteFunc(slices.Clone([]string(d.head.Labels)), func(l string) bool { return slices.Contains(remove, l) })
		for _, l := range add {
			if !slices.Contains(labels, l.Name) {
				labels = append(labels, l.Name)
			}
		}
		if slices.Equal(labels, d.head.Labels) {
			return nil
		}
		s.observe(labels, c.cfg.BotName, c.now())
		return d.setLabels(labels)
	})
	if err != nil {
		return nil, err
	}
	return f.doc.head.Labels, nil
}

// LabelledBy is when a label was first seen on the task. A file does not say who
// put it there, unless the agent did.
func (c *Client) LabelledBy(ctx context.Context, key forge.TaskKey, label string) (forge.Labelling, error) {
	_, s, err := c.do(ctx, "read labels", key, nil)
	if err != nil {
		return forge.Labelling{}, err
	}
	found := forge.Labelling{Latest: s.Events}
	if p, there := s.Put[label]; there {
		found.Event, found.At = p.Event, p.At
		if p.By != "" {
			found.By = c.account(p.By)
		}
	}
	return found, nil
}

// LastEdit is unknown: a file does not say who changed it.
func (c *Client) LastEdit(_ context.Context, key forge.TaskKey) (forge.Edit, error) {
	return forge.Edit{}, c.check("read edits", key)
}

// Permission is that to write: whoever is named in the directory was let in by its owner.
func (c *Client) Permission(_ context.Context, key forge.TaskKey, login string) (forge.Permission, error) {
	const op = "read permission"
	if err := c.check(op, key); err != nil {
		return forge.None, err
	}
	if login == "" || strings.ContainsAny(login, " /\t\r\n") || login == ".." {
		return forge.None, invalid(op, "this is not the name of anybody")
	}
	return forge.Write, nil
}

// AskReview cannot be done: a file notifies nobody of a change. The comment names who is asked.
func (c *Client) AskReview(context.Context, forge.TaskKey, int, string) error {
	return invalid("ask for a review", "a directory of files has no reviewers")
}

// do is update for a call with an address.
func (c *Client) do(ctx context.Context, op string, key forge.TaskKey, change edit) (file, side, error) {
	if err := c.check(op, key); err != nil {
		return file{}, side{}, err
	}
	f, s, err := c.update(ctx, key.Number, change)
	if err != nil {
		err = c.failed(ctx, op, err, forge.Hidden)
	}
	return f, s, err
}
