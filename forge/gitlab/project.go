package gitlab

import (
	"context"
	"strconv"
	"strings"
	"time"

	"gitlab.com/gitlab-org/api/client-go/v2"

	"agent/forge"
	"agent/forge/rest"
)

// Repository returns what a working copy of the task's repository needs.
func (c *Client) Repository(ctx context.Context, key forge.TaskKey) (forge.Repository, error) {
	const op = "get repository"
	if err := c.check(op, key); err != nil {
		return forge.Repository{}, err
	}
	p, err := c.project(ctx, op, key.Project)
	if err != nil {
		return forge.Repository{}, err
	}
	return forge.Repository{CloneURL: p.HTTPURLToRepo, DefaultBranch: p.DefaultBranch, Private: isPrivate(p), ID: idOf(p.ID)}, nil
}

// project reads a project by its path or id, or takes it from the cache.
func (c *Client) project(ctx context.Context, op, name string) (*gitlab.Project, error) {
	return c.projectOf(ctx, op, name, cacheFor)
}

// projectOf is project with a cache that may be so old.
func (c *Client) projectOf(ctx context.Context, op, name string, age time.Duration) (*gitlab.Project, error) {
	cacheKey := strings.ToLower(name)
	c.mu.Lock()
	hit, known := c.projects[cacheKey]
	c.mu.Unlock()
	if known && c.now().Sub(hit.at) < age {
		return hit.project, nil
	}
	var response *gitlab.Response
	p, err := one(c, ctx, op, func(with request) (p *gitlab.Project, _ *gitlab.Response, err error) {
		p, response, err = c.api.Projects.GetProject(name, nil, with)
		return p, response, err
	})
	if err != nil {
		return nil, err
	}
	if _, isID := projectID(name); p.PathWithNamespace == "" && !isID {
		p.PathWithNamespace = name
	}
	if !validProject(p.PathWithNamespace) {
		c.answers.Forget(response.Response)
		return nil, rest.Unreadable(op, rest.Reading)
	}
	c.mu.Lock()
	c.projects[cacheKey] = cached{p, c.now()}
	c.mu.Unlock()
	return p, nil
}

func (c *Client) forgetProjects() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.projects)
	clear(c.groups)
}

func (c *Client) forgetProject(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.projects, strings.ToLower(name))
}

// known is what the project says of itself. Where a token may read items but
// not the project, it counts as public: nobody is trusted by mistake.
func (c *Client) known(ctx context.Context, op, name string, age time.Duration) (*gitlab.Project, error) {
	p, err := c.projectOf(ctx, op, name, age)
	if hidden(err) && validProject(name) {
		return &gitlab.Project{PathWithNamespace: name}, nil
	}
	return p, err
}

// hidden are the answers about what is not there for this token.
func hidden(err error) bool {
	return rest.Kind(err) == forge.NotFound || rest.Kind(err) == forge.Forbidden
}

func isPrivate(p *gitlab.Project) bool {
	return p.Visibility == gitlab.PrivateVisibility || p.Visibility == gitlab.InternalVisibility
}

// Permission is what login may do in the task's project; None with every
// error, and of those who are no members, whatever a public project lets them
// read.
func (c *Client) Permission(ctx context.Context, key forge.TaskKey, login string) (forge.Permission, error) {
	const op = "get permission"
	if err := c.check(op, key); err != nil {
		return forge.None, err
	}
	if !loginPattern.MatchString(login) {
		return forge.None, rest.Invalid(op, strconv.Quote(login)+" is not a login")
	}
	id, err := c.userID(ctx, op, login)
	if err != nil || id == 0 {
		return forge.None, err
	}
	member, err := one(c, ctx, op, func(with request) (*gitlab.ProjectMember, *gitlab.Response, error) {
		return c.api.ProjectMembers.GetInheritedProjectMember(key.Project, id, with)
	})
	if rest.Kind(err) == forge.NotFound {
		return forge.None, nil
	}
	if err != nil {
		return forge.None, err
	}
	if member.ID != 0 && member.ID != id || member.State != "" && member.State != "active" { // a blocked account
		return forge.None, nil
	}
	return permission(member.AccessLevel), nil
}

// userID is the id of the account with exactly this login, or 0: of the one
// who wrote what was read last under it, since a login can pass to somebody
// else, or of the one the forge names.
func (c *Client) userID(ctx context.Context, op, login string) (int64, error) {
	c.mu.Lock()
	id := c.seen[strings.ToLower(login)]
	c.mu.Unlock()
	if id > 0 {
		return id, nil
	}
	users, err := all(c, ctx, op, func(page gitlab.ListOptions, with request) ([]*gitlab.User, *gitlab.Response, error) {
		return c.api.Users.ListUsers(&gitlab.ListUsersOptions{ListOptions: page, Username: &login}, with)
	})
	if err != nil {
		return 0, err
	}
	for _, u := range users {
		if strings.EqualFold(u.Username, login) && u.ID > 0 {
			return u.ID, nil
		}
	}
	return 0, nil
}

func permission(level gitlab.AccessLevelValue) forge.Permission {
	switch {
	case level >= gitlab.MaintainerPermissions:
		return forge.Admin
	case level >= gitlab.DeveloperPermissions:
		return forge.Write
	case level >= gitlab.GuestPermissions:
		return forge.Read
	}
	return forge.None
}
