package forgetest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// RenameRepository gives a repository another name. GitHub redirects requests under
// the old one to an address by id: reads with 301, writes with 307.
func (s *Server) RenameRepository(from, to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.mustRepository(from)
	owner, short, _ := strings.Cut(to, "/")
	delete(s.repos, key(from))
	s.former[key(from)] = r
	r.owner, r.name = s.account(owner), short
	s.repos[key(to)] = r
}

// place is an address of an issue.
type place struct {
	r      *repository
	number int
}

// TransferIssue moves an issue to another repository, where it gets another id and
// number, and the labels that are known there. Requests at its old address are redirected.
// https://docs.github.com/en/rest/issues/issues#get-an-issue
func (s *Server) TransferIssue(from string, number int, to string) (there int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, r := s.mustRepository(from).mustIssue(number), s.mustRepository(to)
	i := *old
	i.id, i.number, i.labels, i.labelled = s.nextID(), len(r.issues)+1, nil, nil
	for _, l := range old.labels {
		if r.label(l.name) != nil {
			s.putLabels(r, &i, old.author, []string{l.name})
		}
	}
	r.issues = append(r.issues, &i)
	old.labels, old.comments = nil, nil
	s.setOpen(old, false) // no request reaches it, and lists of what is open leave it out
	s.moves[fmt.Sprintf("%s#%d", key(from), number)] = place{r, i.number}
	return i.number
}

// transferred is the address by id of an issue that was transferred, for the rest of a path.
func (s *Server) transferred(repo, rest string) (path string, found bool) {
	parts := strings.SplitN(rest, "/", 3) // issues, number, rest
	if len(parts) < 2 || parts[0] != "issues" {
		return "", false
	}
	to, found := s.moves[key(repo)+"#"+parts[1]]
	if !found {
		return "", false
	}
	return strings.TrimSuffix(fmt.Sprintf("/repositories/%d/issues/%d/%s", to.r.id, to.number, strings.Join(parts[2:], "")), "/"), true
}

// elsewhere redirects from former names and addresses, and turns addresses by id into those by name.
func (s *Server) elsewhere(c *call) (reply, bool) {
	parts := strings.SplitN(c.URL.Path, "/", 5) // "", repos, owner, name, rest
	if len(parts) < 3 {
		return reply{}, false
	}
	if parts[1] == "repositories" {
		parts = strings.SplitN(c.URL.Path, "/", 4) // "", repositories, id, rest
		for _, r := range s.order {
			if strconv.FormatInt(r.id, 10) == parts[2] {
				c.URL.Path = strings.TrimSuffix("/repos/"+r.fullName()+"/"+strings.Join(parts[3:], ""), "/")
			}
		}
		return reply{}, false
	}
	if parts[1] != "repos" || len(parts) < 4 {
		return reply{}, false
	}
	name, rest := parts[2]+"/"+parts[3], strings.Join(parts[4:], "")
	path, found := s.transferred(name, rest)
	if r := s.former[key(name)]; !found && r != nil && s.repos[key(name)] == nil {
		path, found = strings.TrimSuffix("/repositories/"+strconv.FormatInt(r.id, 10)+"/"+rest, "/"), true
	}
	if !found {
		return reply{}, false
	}
	status := http.StatusMovedPermanently
	if c.Method != http.MethodGet {
		status = http.StatusTemporaryRedirect
	}
	to := c.api + path
	if c.URL.RawQuery != "" {
		to += "?" + c.URL.RawQuery
	}
	return reply{status: status, header: http.Header{"Location": {to}},
		body: object{"message": "Moved Permanently", "url": to}}, true
}
