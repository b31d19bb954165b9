package forgetest

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Item is an issue or merge request on the server, for a person's changes and for looking.
type Item struct {
	g *GitLab
	p *project
	i *item
}

// Place is a line of a changed file.
type Place struct {
	Path     string
	Line     int
	Old      bool // a line that the change removes
	From     int  // the first of several lines; 0: there is one
	Resolved bool // the thread is
}

// Note is one note as the server holds it.
type Note struct {
	ID                   int64
	Author               string // "" if the account was deleted
	Body                 string
	System               bool
	CreatedAt, UpdatedAt time.Time
}

// IID is the item's number.
func (i *Item) IID() int { return i.i.iid }

func (i *Item) change(f func(*item)) {
	i.g.mu.Lock()
	defer i.g.mu.Unlock()
	i.i.updated = i.g.stamp()
	f(i.i)
}

// AddNote writes a note as author and returns its id. An empty author is a deleted account.
func (i *Item) AddNote(author, body string) (id int64) {
	i.change(func(it *item) { id = i.g.addNote(it, i.g.account(author), body).id })
	return id
}

// AddInternalNote writes a note that only members of the project see.
func (i *Item) AddInternalNote(author, body string) (id int64) {
	i.change(func(it *item) {
		n := i.g.addNote(it, i.g.account(author), body)
		n.internal, id = true, n.id
	})
	return id
}

// AddSystemNote writes a note as GitLab does when author has done something.
func (i *Item) AddSystemNote(author, body string) (id int64) {
	i.change(func(it *item) { id = i.g.tell(it, i.g.account(author), body) })
	return id
}

// AddDiffNote begins a thread at a line of a merge request and returns its note's id.
func (i *Item) AddDiffNote(author, body string, at Place) (id int64) {
	i.change(func(it *item) {
		n := i.g.addNote(it, i.g.account(author), body)
		n.kind, n.place, id = "DiffNote", &at, n.id
	})
	return id
}

// AddReply writes a note into the thread of another note.
func (i *Item) AddReply(to int64, author, body string) (id int64) {
	i.change(func(it *item) { id = i.g.reply(it, i.must(to), i.g.account(author), body).id })
	return id
}

// EditNote replaces the body of a note.
func (i *Item) EditNote(id int64, body string) {
	i.change(func(it *item) {
		n := i.must(id)
		n.body, n.updated = body, it.updated
	})
}

// DeleteNote removes a note.
func (i *Item) DeleteNote(id int64) {
	i.change(func(it *item) { it.drop(i.must(id)) })
}

// AddLabels puts labels on the item, as a person would.
func (i *Item) AddLabels(names ...string) {
	i.change(func(it *item) { i.g.relabel(i.p, it, nil, names, nil) })
}

// AddLabelsAs puts labels on the item as login.
func (i *Item) AddLabelsAs(login string, names ...string) {
	i.change(func(it *item) { i.g.relabel(i.p, it, i.g.account(login), names, nil) })
}

// ResolveThreads resolves every thread on the changed files.
func (i *Item) ResolveThreads() {
	i.change(func(it *item) {
		for _, n := range it.notes {
			if n.place != nil {
				n.place.Resolved = true
			}
		}
	})
}

// RemoveLabels takes labels off.
func (i *Item) RemoveLabels(names ...string) {
	i.change(func(it *item) { i.g.relabel(i.p, it, nil, nil, names) })
}

// SetAssignees replaces the assignees.
func (i *Item) SetAssignees(logins ...string) {
	i.change(func(it *item) {
		it.assignees = nil
		for _, login := range logins {
			it.assignees = append(it.assignees, i.g.account(login))
		}
	})
}

// Hide makes an issue confidential.
func (i *Item) Hide() {
	i.change(func(it *item) { it.secret = true })
}

// Edit replaces title and description, as the author would.
func (i *Item) Edit(title, body string) {
	i.change(func(it *item) { i.g.rewrite(it, it.author, title, body) })
}

// EditAs replaces title and description as login.
func (i *Item) EditAs(login, title, body string) {
	i.change(func(it *item) { i.g.rewrite(it, i.g.account(login), title, body) })
}

// rewrite leaves the system notes that GitLab writes about it.
func (g *GitLab) rewrite(i *item, by *account, title, body string) {
	if title != i.title {
		g.tell(i, by, fmt.Sprintf("changed title from **%s** to **%s**", i.title, title))
	}
	if body != i.body {
		g.tell(i, by, "changed the description")
	}
	i.title, i.body = title, body
}

// SetState makes it opened, closed, or for merge requests locked or merged.
func (i *Item) SetState(state string) {
	i.change(func(it *item) { i.g.setState(it, state) })
}

// Lock leaves the discussion to members.
func (i *Item) Lock() {
	i.change(func(it *item) { it.locked = true })
}

// FromFork makes the source branch of a merge request one of another project.
func (i *Item) FromFork(path string) {
	i.change(func(it *item) { it.merge.sourceProject = i.g.mustProject(path).id })
}

// Labels returns the labels in the order they were put there.
func (i *Item) Labels() []string {
	i.g.mu.Lock()
	defer i.g.mu.Unlock()
	return i.i.labelNames()
}

// Labelled counts how often an account gave each label to an item that lacked it.
func (i *Item) Labelled(login string) map[string]int {
	i.g.mu.Lock()
	defer i.g.mu.Unlock()
	return givenBy(i.i.labelled, login)
}

// Assignees returns the logins of the assignees.
func (i *Item) Assignees() []string {
	i.g.mu.Lock()
	defer i.g.mu.Unlock()
	var names []string
	for _, a := range i.i.assignees {
		names = append(names, a.login)
	}
	return names
}

// State is opened, closed, locked or merged.
func (i *Item) State() string {
	i.g.mu.Lock()
	defer i.g.mu.Unlock()
	return i.i.state
}

// Notes returns all notes, oldest first, also those that lists leave out for now.
func (i *Item) Notes() []Note {
	i.g.mu.Lock()
	defer i.g.mu.Unlock()
	var all []Note
	for _, n := range i.i.notes {
		author := ""
		if n.author != nil {
			author = n.author.login
		}
		all = append(all, Note{n.id, author, n.body, n.system, n.made, n.updated})
	}
	return all
}

func (i *Item) must(id int64) *note {
	if n := i.i.note(id); n != nil {
		return n
	}
	panic(fmt.Sprintf("forgetest: no note %d", id))
}

func (i *item) labelNames() []string {
	names := []string{}
	for _, l := range i.labels {
		names = append(names, l.name)
	}
	return names
}

func (g *GitLab) addNote(i *item, author *account, body string) *note {
	at := g.stamp()
	n := &note{comment: comment{id: g.nextID(), author: author, body: body, made: at, updated: at}}
	sum := sha1.Sum(fmt.Append(nil, "discussion ", n.id))
	n.discussion = hex.EncodeToString(sum[:])
	i.notes = append(i.notes, n)
	i.updated = at
	return n
}

func (g *GitLab) reply(i *item, to *note, author *account, body string) *note {
	if to.kind == "" {
		to.kind = "DiscussionNote" // an answer makes a thread of it
	}
	n := g.addNote(i, author, body)
	n.kind, n.place, n.discussion = to.kind, to.place, to.discussion
	return n
}

func (g *GitLab) tell(i *item, author *account, body string) int64 {
	n := g.addNote(i, author, body)
	n.system = true
	return n.id
}

func (i *item) drop(n *note) {
	i.notes = slices.DeleteFunc(i.notes, func(other *note) bool { return other == n })
}

func (g *GitLab) setState(i *item, state string) {
	i.state, i.updated, i.closed = state, g.stamp(), time.Time{}
	if state != "opened" {
		i.closed = i.updated
	}
}

// draft is what GitLab reads from the title.
func (i *item) draft() bool {
	t := strings.ToLower(i.title)
	return strings.HasPrefix(t, "draft:") || strings.HasPrefix(t, "[draft]") || strings.HasPrefix(t, "(draft)")
}
