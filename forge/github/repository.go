package github

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/go-github/v89/github"

	"agent/forge"
)

// Repository returns what a working copy of the task's repository needs.
func (c *Client) Repository(ctx context.Context, key forge.TaskKey) (forge.Repository, error) {
	const op = "get repository"
	if _, _, err := c.project(op, key); err != nil {
		return forge.Repository{}, err
	}
	repo, err := c.repository(ctx, op, key.Project)
	if err != nil {
		return forge.Repository{}, err
	}
	return forge.Repository{
		CloneURL: repo.GetCloneURL(), DefaultBranch: repo.GetDefaultBranch(), Private: isPrivate(repo), ID: idOf(repo.GetID()),
	}, nil
}

// repository reads a repository, or takes it from the cache.
func (c *Client) repository(ctx context.Context, op, name string) (*github.Repository, error) {
	c.mu.Lock()
	hit, known := c.repos[strings.ToLower(name)]
	c.mu.Unlock()
	if known && c.now().Sub(hit.at) < cacheFor {
		return hit.repo, nil
	}
	owner, short, _ := strings.Cut(name, "/")
	repo, err := one(c, ctx, op, func() (*github.Repository, *github.Response, error) {
		return c.api.Repositories.Get(ctx, owner, short)
	})
	if err != nil {
		return nil, err
	}
	if !validProject(repo.GetFullName()) {
		return nil, unreadable(op, reading)
	}
	c.mu.Lock()
	c.repos[strings.ToLower(name)] = cached{repo, c.now()}
	c.mu.Unlock()
	return repo, nil
}

func (c *Client) forgetRepository(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.repos, strings.ToLower(name))
}

// known is what the repository says of itself. Where a token may read issues but
// not the repository, it counts as public: nobody is trusted by mistake.
func (c *Client) known(ctx context.Context, op, name string) (*github.Repository, error) {
	repo, err := c.repository(ctx, op, name)
	if k := kind(err); k == forge.NotFound || k == forge.Forbidden {
		return &github.Repository{FullName: &name}, nil
	}
	return repo, err
}

func isPrivate(r *github.Repository) bool {
	return r.GetPrivate() || r.GetVisibility() == "private" || r.GetVisibility() == "internal"
}

// Permission is what login may do in the task's repository; None with every error.
func (c *Client) Permission(ctx context.Context, key forge.TaskKey, login string) (forge.Permission, error) {
	const op = "get permission"
	owner, repo, err := c.project(op, key)
	if err != nil {
		return forge.None, err
	}
	if !loginPattern.MatchString(login) {
		return forge.None, invalid(op, strconv.Quote(login)+" is not a login")
	}
	level, err := one(c, ctx, op, func() (*github.RepositoryPermissionLevel, *github.Response, error) {
		return c.api.Repositories.GetPermissionLevel(ctx, owner, repo, url.PathEscape(login))
	})
	if err != nil {
		return forge.None, err
	}
	return permission(level.GetPermission(), level.GetRoleName()), nil
}

var permissions = map[string]forge.Permission{
	"none": forge.None, "read": forge.Read, "triage": forge.Read, "write": forge.Write, "maintain": forge.Write, "admin": forge.Admin,
}

// permission is the lower of both fields. Custom roles have names of their
// own: for them the coarse field counts.
func permission(coarse, role string) forge.Permission {
	p := permissions[coarse]
	if r, known := permissions[role]; known {
		p = min(p, r)
	}
	return p
}

func account(u *github.User) forge.Account {
	if u.GetLogin() == "" {
		return forge.Account{Login: "ghost"}
	}
	a := forge.Account{Login: u.GetLogin(), Bot: u.GetType() == "Bot" || forge.GitHubIssue.IsMachine(u.GetLogin())}
	a.ID = idOf(u.GetID())
	return a
}
