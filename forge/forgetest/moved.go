package forgetest

import (
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

// elsewhere redirects from former names, and turns addresses by id into those by name.
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
	r := s.former[key(parts[2]+"/"+parts[3])]
	if r == nil || s.repos[key(parts[2]+"/"+parts[3])] != nil {
		return reply{}, false
	}
	status := http.StatusMovedPermanently
	if c.Method != http.MethodGet {
		status = http.StatusTemporaryRedirect
	}
	to := c.api + strings.TrimSuffix("/repositories/"+strconv.FormatInt(r.id, 10)+"/"+strings.Join(parts[4:], ""), "/")
	if c.URL.RawQuery != "" {
		to += "?" + c.URL.RawQuery
	}
	return reply{status: status, header: http.Header{"Location": {to}},
		body: object{"message": "Moved Permanently", "url": to}}, true
}
