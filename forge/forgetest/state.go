package forgetest

import (
	"slices"
	"strings"
	"time"
)

type account struct {
	id    int64
	login string
	kind  string // User | Bot | Organization
	made  time.Time
}

type repository struct {
	id      int64
	owner   *account
	name    string
	options Repository
	made    time.Time
	roles   map[string]role // by lower-case login
	labels  []*label
	issues  []*issue // number n is at n-1
}

func (r *repository) fullName() string { return r.owner.login + "/" + r.name }

type label struct {
	id          int64
	name        string
	color       string
	description string
}

type issue struct {
	id        int64
	number    int
	title     string
	body      string
	author    *account // nil: the account was deleted
	open      bool
	made      time.Time
	updated   time.Time
	edited    time.Time // of the body; zero: never
	editor    *account  // of the body
	closed    time.Time
	labels    []*label
	assignees []*account
	comments  []*comment
	pull      *pull // nil: an issue
	labelled  []labelled
}

// labelled is that somebody put a label on an item or took it off, or on GitHub
// changed its title.
type labelled struct {
	id       int64
	label    *label // nil: the title was changed
	by       *account
	at       time.Time
	off      bool
	from, to string // titles
}

type pull struct {
	head, base string
	draft      bool
	fork       bool     // the head is not in the repository itself
	forkOwner  *account // nil: that fork was deleted
	merged     time.Time
	reviewers  []*account // who was asked
	reviews    []*review
	remarks    []*reviewComment
}

type comment struct {
	id      int64
	author  *account
	body    string
	made    time.Time
	updated time.Time

	hiddenUntil time.Time
	hiddenLists int // lists that still leave it out

	reactions []reaction
}

// reaction is an emoji of somebody on a comment. Nobody has the same one twice there.
type reaction struct {
	id   int64
	name string // in the forge's own words
	by   *account
	at   time.Time
}

// react adds a reaction, unless it is there already.
func (s *wire) react(m *comment, name string, by *account) (r reaction, added bool) {
	for _, r := range m.reactions {
		if r.name == name && r.by == by {
			return r, false
		}
	}
	r = reaction{s.nextID(), name, by, s.stamp()}
	m.reactions = append(m.reactions, r)
	return r, true
}

// unreact takes a reaction back.
func (m *comment) unreact(name string, by *account) {
	m.reactions = slices.DeleteFunc(m.reactions, func(r reaction) bool { return r.name == name && r.by == by })
}

type role int

const (
	roleNone role = iota
	roleRead
	roleTriage
	roleWrite
	roleMaintain
	roleAdmin
)

var roleNames = []string{"none", "read", "triage", "write", "maintain", "admin"}

func (r role) String() string { return roleNames[r] }

// legacy is the coarse value of the permission field.
func (r role) legacy() string {
	switch r {
	case roleTriage:
		return "read"
	case roleMaintain:
		return "write"
	default:
		return r.String()
	}
}

func key(name string) string { return strings.ToLower(name) }

func (s *wire) nextID() int64 {
	s.ids++
	return s.ids
}

func (s *wire) stamp() time.Time { return s.now().UTC().Truncate(time.Second) }

// account finds or makes the account. Logins that end in [bot] are bots.
func (s *wire) account(login string) *account {
	if login == "" {
		return nil
	}
	if a := s.accounts[key(login)]; a != nil {
		return a
	}
	kind := "User"
	if strings.HasSuffix(login, "[bot]") {
		kind = "Bot"
	}
	a := &account{id: s.nextID(), login: login, kind: kind, made: s.stamp()}
	s.accounts[key(login)] = a
	return a
}

// role is what the account may do. Nobody (nil) reads what is public, and
// nobody writes to what is archived.
func (s *Server) role(r *repository, a *account) role {
	given := s.grant(r, a)
	if r.options.Archived {
		return min(given, roleRead)
	}
	return given
}

func (s *Server) grant(r *repository, a *account) role {
	if a != nil {
		if given, set := r.roles[key(a.login)]; set {
			return given
		}
		if a == r.owner {
			return roleAdmin
		}
		for _, holder := range s.tokens {
			if holder == a {
				return roleWrite
			}
		}
	}
	if r.options.Private || r.options.Internal {
		return roleNone
	}
	return roleRead
}

func (r *repository) label(name string) *label {
	for _, l := range r.labels {
		if strings.EqualFold(l.name, name) {
			return l
		}
	}
	return nil
}

// ensureLabel makes a label the way a forge does when an issue gets an unknown one.
func (s *Server) ensureLabel(r *repository, name string) *label {
	if l := r.label(name); l != nil {
		return l
	}
	l := &label{id: s.nextID(), name: name, color: "ededed"}
	r.labels = append(r.labels, l)
	return l
}

func (i *issue) has(name string) bool {
	return slices.ContainsFunc(i.labels, func(l *label) bool { return strings.EqualFold(l.name, name) })
}

func (i *issue) assigned(login string) bool {
	return slices.ContainsFunc(i.assignees, func(a *account) bool { return strings.EqualFold(a.login, login) })
}

func (s *Server) setOpen(i *issue, open bool) {
	i.open, i.updated, i.closed = open, s.stamp(), time.Time{}
	if !open {
		i.closed = i.updated
	}
}

func (s *Server) addComment(i *issue, author *account, body string) *comment {
	at := s.stamp()
	c := &comment{id: s.nextID(), author: author, body: body, made: at, updated: at}
	i.comments = append(i.comments, c)
	i.updated = at
	return c
}

func (r *repository) comment(id int64) (*issue, *comment) {
	for _, i := range r.issues {
		for _, c := range i.comments {
			if c.id == id {
				return i, c
			}
		}
	}
	return nil, nil
}
