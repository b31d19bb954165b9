package forgetest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Repository holds the properties of a repository. The zero value is public.
type Repository struct {
	Private       bool
	Internal      bool   // visible to the members of an enterprise
	Archived      bool   // read-only
	CloneURL      string // default: the web URL with .git
	Git           string // a bare repository that is served there
	DefaultBranch string // default: main
}

// AddToken makes token act as login. The account may write everywhere, unless SetPermission says otherwise.
func (s *wire) AddToken(token, login string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[token] = s.account(login)
}

// AddBot makes an account of type Bot.
func (s *wire) AddBot(login string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.account(login).kind = "Bot"
}

// AddRepository makes the repository "owner/name".
func (s *Server) AddRepository(name string, options Repository) {
	s.mu.Lock()
	defer s.mu.Unlock()
	owner, short, found := strings.Cut(name, "/")
	if !found || s.repos[key(name)] != nil {
		panic(fmt.Sprintf("forgetest: repository %q is no owner/name or exists", name))
	}
	if options.DefaultBranch == "" {
		options.DefaultBranch = "main"
	}
	r := &repository{
		id: s.nextID(), owner: s.account(owner), name: short, options: options,
		made: s.stamp(), roles: map[string]role{},
	}
	s.repos[key(name)] = r
	s.order = append(s.order, r)
}

// AddOrganization makes login an organization: it has a list of its repositories.
func (s *Server) AddOrganization(login string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.account(login).kind = "Organization"
}

// RemoveRepository deletes a repository with all it holds.
func (s *Server) RemoveRepository(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.mustRepository(name)
	delete(s.repos, key(name))
	s.order = slices.DeleteFunc(s.order, func(other *repository) bool { return other == r })
}

// SetDefaultBranch names another branch, as a person does who renames it.
func (s *Server) SetDefaultBranch(name, branch string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mustRepository(name).options.DefaultBranch = branch
}

// SetPermission gives login a role in the repository: none, read, triage, write, maintain or admin.
func (s *Server) SetPermission(repo, login, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.Index(roleNames, name)
	if at < 0 {
		panic(fmt.Sprintf("forgetest: no role %q", name))
	}
	s.mustRepository(repo).roles[key(s.account(login).login)] = role(at)
}

// AddIssue opens an issue and returns its number. An empty author is a deleted account.
func (s *Server) AddIssue(repo, title, body, author string, labels ...string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addIssue(s.mustRepository(repo), title, body, s.account(author), labels, nil).number
}

// AddPullRequest opens a pull request from the branch head to the branch base and returns its number.
func (s *Server) AddPullRequest(repo, title, body, author, head, base string, labels ...string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.mustRepository(repo)
	return s.addIssue(r, title, body, s.account(author), labels, &pull{head: head, base: base}).number
}

func (s *Server) addIssue(r *repository, title, body string, author *account, labels []string, p *pull) *issue {
	at := s.stamp()
	i := &issue{
		id: s.nextID(), number: len(r.issues) + 1, title: title, body: body, author: author,
		open: true, made: at, updated: at, pull: p,
	}
	s.putLabels(r, i, author, labels)
	r.issues = append(r.issues, i)
	return i
}

// EditIssue replaces title and body, as the repository's owner would.
func (s *Server) EditIssue(repo string, number int, title, body string) {
	s.change(repo, number, func(r *repository, i *issue) { s.setText(i, r.owner, title, body) })
}

// EditIssueAs replaces title and body as login.
func (s *Server) EditIssueAs(repo string, number int, login, title, body string) {
	s.change(repo, number, func(_ *repository, i *issue) { s.setText(i, s.account(login), title, body) })
}

// setText replaces title and body. A change of the title is an event.
func (s *Server) setText(i *issue, by *account, title, body string) {
	if title != i.title {
		i.labelled = append(i.labelled, labelled{id: s.nextID(), by: by, at: s.stamp(), from: i.title, to: title})
		i.title = title
	}
	s.setBody(i, by, body)
}

// setBody remembers who edited an item's text last, and when.
func (s *Server) setBody(i *issue, by *account, body string) {
	if body != i.body {
		i.body, i.edited, i.editor = body, s.stamp(), by
	}
}

// CloseIssue closes an issue or pull request.
func (s *Server) CloseIssue(repo string, number int) {
	s.change(repo, number, func(_ *repository, i *issue) { s.setOpen(i, false) })
}

// ReopenIssue opens it again.
func (s *Server) ReopenIssue(repo string, number int) {
	s.change(repo, number, func(_ *repository, i *issue) { s.setOpen(i, true) })
}

// AddLabels puts labels on an issue, as the repository's owner would.
func (s *Server) AddLabels(repo string, number int, labels ...string) {
	s.change(repo, number, func(r *repository, i *issue) { s.putLabels(r, i, r.owner, labels) })
}

// AddLabelsAs puts labels on an issue as login.
func (s *Server) AddLabelsAs(repo string, number int, login string, labels ...string) {
	s.change(repo, number, func(r *repository, i *issue) { s.putLabels(r, i, s.account(login), labels) })
}

// RemoveLabels takes labels off an issue, as a person would.
func (s *Server) RemoveLabels(repo string, number int, labels ...string) {
	s.change(repo, number, func(r *repository, i *issue) {
		for _, name := range labels {
			s.dropLabel(i, r.owner, name)
		}
	})
}

// SetAssignees replaces the assignees.
func (s *Server) SetAssignees(repo string, number int, logins ...string) {
	s.change(repo, number, func(_ *repository, i *issue) { i.assignees = s.accountsOf(logins) })
}

// Labels returns the labels of an issue in the order they were put there.
func (s *Server) Labels(repo string, number int) []string {
	var names []string
	s.look(repo, number, func(i *issue) {
		for _, l := range i.labels {
			names = append(names, l.name)
		}
	})
	return names
}

// Labelled counts how often an account gave each label to an issue that lacked it.
func (s *Server) Labelled(repo string, number int, login string) (times map[string]int) {
	s.look(repo, number, func(i *issue) { times = givenBy(i.labelled, login) })
	return times
}

func givenBy(events []labelled, login string) map[string]int {
	times := map[string]int{}
	for _, e := range events {
		if e.label != nil && !e.off && e.by != nil && e.by.login == login {
			times[e.label.name]++
		}
	}
	return times
}

// RepositoryLabel returns what a label of the repository looks like, two empty texts if there is none.
func (s *Server) RepositoryLabel(repo, name string) (colour, description string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.mustRepository(repo).label(name); l != nil {
		return l.color, l.description
	}
	return "", ""
}

// Assignees returns the logins of the assignees.
func (s *Server) Assignees(repo string, number int) []string {
	var names []string
	s.look(repo, number, func(i *issue) {
		for _, a := range i.assignees {
			names = append(names, a.login)
		}
	})
	return names
}

// Open reports whether the issue is open.
func (s *Server) Open(repo string, number int) (open bool) {
	s.look(repo, number, func(i *issue) { open = i.open })
	return open
}

// Comment is one comment as the server holds it.
type Comment struct {
	ID                   int64
	Author               string // "" if the account was deleted
	Body                 string
	CreatedAt, UpdatedAt time.Time
}

// Comments returns all comments of an issue, oldest first, also those that lists leave out for now.
func (s *Server) Comments(repo string, number int) []Comment {
	var all []Comment
	s.look(repo, number, func(i *issue) {
		for _, c := range i.comments {
			author := ""
			if c.author != nil {
				author = c.author.login
			}
			all = append(all, Comment{c.id, author, c.body, c.made, c.updated})
		}
	})
	return all
}

// AddComment writes a comment as author and returns its id. An empty author is a deleted account.
func (s *Server) AddComment(repo string, number int, author, body string) (id int64) {
	s.change(repo, number, func(_ *repository, i *issue) { id = s.addComment(i, s.account(author), body).id })
	return id
}

// EditComment replaces the body of a comment.
func (s *Server) EditComment(repo string, id int64, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, c := s.mustComment(repo, id)
	c.body, c.updated = body, s.stamp()
}

// DeleteComment removes a comment.
func (s *Server) DeleteComment(repo string, id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, c := s.mustComment(repo, id)
	i.drop(c)
}

func (s *Server) change(name string, number int, f func(*repository, *issue)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.mustRepository(name)
	i := r.mustIssue(number)
	i.updated = s.stamp()
	f(r, i)
}

func (s *Server) look(name string, number int, f func(*issue)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.mustRepository(name).mustIssue(number))
}

func (s *Server) mustRepository(name string) *repository {
	r := s.repos[key(name)]
	if r == nil {
		panic(fmt.Sprintf("forgetest: no repository %q", name))
	}
	return r
}

func (r *repository) mustIssue(number int) *issue {
	if number < 1 || number > len(r.issues) {
		panic(fmt.Sprintf("forgetest: no issue %d in %s", number, r.fullName()))
	}
	return r.issues[number-1]
}

func (s *Server) mustComment(name string, id int64) (*issue, *comment) {
	i, c := s.mustRepository(name).comment(id)
	if c == nil {
		panic(fmt.Sprintf("forgetest: no comment %d in %s", id, name))
	}
	return i, c
}
