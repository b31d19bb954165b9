package forgetest

import (
	"net/http"
	"time"
)

func (s *Server) rateLimit(*call) reply {
	rate := object{"limit": 5000, "remaining": 4999, "used": 1, "reset": s.now().Add(time.Hour).Unix()}
	return ok(object{"rate": rate, "resources": object{"core": rate, "search": rate}})
}

func (s *Server) getUser(c *call) reply {
	if c.account == nil {
		return problem(http.StatusUnauthorized, "Requires authentication")
	}
	if c.ofApp {
		return forbidden()
	}
	return ok(c.profile(c.account))
}

func (s *Server) getNamedUser(c *call) reply {
	a := s.accounts[key(c.PathValue("login"))]
	if a == nil {
		return notFound()
	}
	return ok(c.profile(a))
}

func (s *Server) getRepository(c *call) reply {
	r := s.visible(c)
	if r == nil {
		return notFound()
	}
	o := c.repositoryShape(r)
	if c.account != nil {
		o["permissions"] = permissionsOf(s.role(r, c.account))
	}
	return ok(o)
}

// listOrganization shows what the caller sees of it. A person is no organization.
// https://docs.github.com/rest/repos/repos#list-organization-repositories
func (s *Server) listOrganization(c *call) reply {
	owner := s.accounts[key(c.PathValue("login"))]
	if owner == nil || owner.kind != "Organization" {
		return notFound()
	}
	var shapes []object
	for _, r := range s.order {
		if r.owner == owner && s.role(r, c.account) >= roleRead {
			shapes = append(shapes, c.repositoryShape(r))
		}
	}
	return paged(c, shapes, plain)
}

func permissionsOf(r role) object {
	return object{
		"pull": r >= roleRead, "triage": r >= roleTriage, "push": r >= roleWrite, "maintain": r >= roleMaintain, "admin": r >= roleAdmin,
	}
}

func (s *Server) getPermission(c *call) reply {
	r := s.visible(c)
	if r == nil {
		return notFound()
	}
	if s.role(r, c.account) < roleWrite {
		return problem(http.StatusForbidden, "Must have push access to view collaborator permission.")
	}
	a := s.accounts[key(c.PathValue("login"))]
	if a == nil {
		return notFound()
	}
	role := s.role(r, a)
	user := c.userObject(a)
	user["role_name"] = role.String()
	user["permissions"] = permissionsOf(role)
	return ok(object{"permission": role.legacy(), "role_name": role.String(), "user": user})
}
