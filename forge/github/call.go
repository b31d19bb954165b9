package github

import (
	"context"

	"github.com/google/go-github/v89/github"

	"agent/forge/rest"
)

const maxPages = 1000

// one reads a single object.
func one[T any](c *Client, ctx context.Context, op string, f func() (*T, *github.Response, error)) (*T, error) {
	value, response, err := f()
	if err := c.classify(ctx, op, reading, response, err); err != nil {
		return nil, err
	}
	if value == nil { // an empty body or null
		c.forget(response)
		return nil, unreadable(op, reading)
	}
	return value, nil
}

// all reads every page of a list. The next page is asked for where the answer
// names one, and also where it is full: a proxy may drop the Link header.
func all[T any](c *Client, ctx context.Context, op string, f func(github.ListOptions) ([]T, *github.Response, error)) ([]T, error) {
	var items []T
	size := int64(0)
	for page := 1; page <= maxPages; page++ {
		part, response, err := f(github.ListOptions{Page: page, PerPage: pageSize})
		if err := c.classify(ctx, op, reading, response, err); err != nil {
			return nil, err
		}
		if part == nil { // an empty body or null, which must not pass for an empty list
			c.forget(response)
			return nil, unreadable(op, reading)
		}
		if size += max(0, response.ContentLength); size > rest.MaxList {
			return nil, invalid(op, "the list is too large")
		}
		items = append(items, part...)
		if len(part) < pageSize && response.NextPage <= page {
			return items, nil
		}
	}
	return nil, invalid(op, "the list has too many pages")
}

// write sends one write when its turn has come.
func write[T any](c *Client, ctx context.Context, op string, f func() (T, *github.Response, error)) (T, error) {
	var none T
	done, err := c.pace.Begin(ctx)
	if err != nil {
		return none, err
	}
	defer done()
	value, response, err := f()
	if err := c.classify(ctx, op, writing, response, err); err != nil {
		return none, err
	}
	return value, nil
}
