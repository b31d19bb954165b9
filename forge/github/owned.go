package github

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v89/github"

	"agent/forge"
)

// Many repositories of one owner are searched at once: that is two requests instead of
// one for each. Thirty searches a minute are allowed, so few owners are.
const (
	many     = 20
	searched = 2
)

// ownersList is what an organization's list shows.
type ownersList struct {
	repos map[string]*github.Repository // by lower-case owner/repo; nil: it has no list
	at    time.Time
}

// byOwner groups the configured repositories, the largest group first.
func (c *Client) byOwner() (groups [][]string) {
	at := map[string]int{}
	for _, name := range c.cfg.Repositories {
		owner, _, _ := strings.Cut(strings.ToLower(name), "/")
		n, known := at[owner]
		if !known {
			n = len(groups)
			at[owner], groups = n, append(groups, nil)
		}
		groups[n] = append(groups[n], name)
	}
	slices.SortStableFunc(groups, func(a, b []string) int { return len(b) - len(a) })
	return groups
}

// ownersTasks lists the tasks in the repositories of one owner.
func (c *Client) ownersTasks(ctx context.Context, names []string, label string) ([]found, error) {
	owner, _, _ := strings.Cut(names[0], "/")
	shown, err := c.ownersRepositories(ctx, owner)
	if err != nil {
		return nil, named(owner, err)
	}
	listed := map[string]*github.Repository{}
	rest := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		repo := shown[strings.ToLower(name)]
		if repo != nil {
			listed[strings.ToLower(name)] = repo
		}
		return repo != nil
	})
	if len(listed) == 0 {
		return c.eachTasks(ctx, names, label)
	}
	items, err := c.search(ctx, owner, label, func(i *github.Issue) (*github.Repository, error) {
		name, err := projectOf(i)
		return listed[strings.ToLower(name)], err
	})
	switch k := kind(err); {
	case hopeless(err) && err != nil:
		return items, named(owner, err)
	case k == forge.Invalid || k == forge.Forbidden && len(items) == 0: // some tokens may not search
		return c.eachTasks(ctx, names, label)
	}
	more, restErr := c.eachTasks(ctx, rest, label)
	return append(items, more...), errors.Join(err, restErr)
}

// ownersRepositories is the list of an organization, as far as the token sees it. A
// person has no list that shows private repositories.
func (c *Client) ownersRepositories(ctx context.Context, owner string) (map[string]*github.Repository, error) {
	owner = strings.ToLower(owner)
	c.mu.Lock()
	hit, known := c.owners[owner]
	c.mu.Unlock()
	if known && c.now().Sub(hit.at) < cacheFor {
		return hit.repos, nil
	}
	repos, err := all(c, ctx, "list repositories", func(page github.ListOptions) ([]*github.Repository, *github.Response, error) {
		return c.api.Repositories.ListByOrg(ctx, owner, &github.RepositoryListByOrgOptions{Sort: "full_name", ListOptions: page})
	})
	if k := kind(err); err != nil && k != forge.NotFound && k != forge.Forbidden {
		return nil, err
	}
	shown := ownersList{repos: map[string]*github.Repository{}, at: c.now()}
	for _, r := range repos {
		if validProject(r.GetFullName()) {
			shown.repos[strings.ToLower(r.GetFullName())] = r
		}
	}
	c.mu.Lock()
	c.owners[owner] = shown
	c.mu.Unlock()
	return shown.repos, nil
}
