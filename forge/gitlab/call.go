package gitlab

import (
	"context"
	"slices"

	"gitlab.com/gitlab-org/api/client-go/v2"

	"agent/forge/rest"
)

const maxPages = 1000

type request = gitlab.RequestOptionFunc

// one reads a single object.
func one[T any](c *Client, ctx context.Context, op string, f func(request) (*T, *gitlab.Response, error)) (*T, error) {
	value, response, err := f(gitlab.WithContext(ctx))
	if err := c.classify(ctx, op, rest.Reading, response, err); err != nil {
		return nil, err
	}
	if value == nil { // null
		c.forget(response)
		return nil, rest.Unreadable(op, rest.Reading)
	}
	return value, nil
}

// all reads every page of a list. The next page is asked for where the answer
// names one, and also where it is full: a proxy may drop the header.
func all[T any](c *Client, ctx context.Context, op string, f func(gitlab.ListOptions, request) ([]*T, *gitlab.Response, error)) ([]*T, error) {
	var items []*T
	size := int64(0)
	for page := int64(1); page <= maxPages; page++ {
		part, response, err := f(gitlab.ListOptions{Page: page, PerPage: pageSize}, gitlab.WithContext(ctx))
		if err := c.classify(ctx, op, rest.Reading, response, err); err != nil {
			return nil, err
		}
		if part == nil || slices.Contains(part, nil) { // null, which must not pass for an empty list
			c.forget(response)
			return nil, rest.Unreadable(op, rest.Reading)
		}
		if size += max(0, response.ContentLength); size > rest.MaxList {
			return nil, rest.Invalid(op, "the list is too large")
		}
		items = append(items, part...)
		if len(part) < pageSize && response.NextPage <= page {
			return items, nil
		}
	}
	return nil, rest.Invalid(op, "the list has too many pages")
}

// write sends one write when its turn has come.
func write[T any](c *Client, ctx context.Context, op string, f func(request) (*T, *gitlab.Response, error)) (*T, error) {
	done, err := c.pace.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	value, response, err := f(gitlab.WithContext(ctx))
	if err := c.classify(ctx, op, rest.Writing, response, err); err != nil {
		return nil, err
	}
	if value == nil {
		return nil, rest.Unreadable(op, rest.Writing)
	}
	return value, nil
}

// send is one call whose answer the library's own types do not hold whole.
func (c *Client) send(method, path string, options any, with request, into any) (*gitlab.Response, error) {
	r, err := c.api.NewRequest(method, path, options, []request{with})
	if err != nil {
		return nil, err
	}
	return c.api.Do(r, into)
}
