package forgetest

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const (
	defaultPage = 30
	largestPage = 100 // larger wishes are cut, without an error
)

// paged answers the part of all that the query asks for, with a Link header.
func paged[T any](c *call, all []T, wrap func([]T) any) reply {
	size := number(c.URL.Query().Get("per_page"), defaultPage)
	size = min(size, largestPage)
	page := number(c.URL.Query().Get("page"), 1)
	last := max((len(all)+size-1)/size, 1)
	from := min((page-1)*size, len(all))
	a := ok(wrap(all[from:min(from+size, len(all))]))
	if links := c.links(page, last); links != "" {
		a.header = http.Header{"Link": {links}}
	}
	return a
}

func plain(part []object) any {
	if part == nil {
		return []object{}
	}
	return part
}

func number(s string, otherwise int) int {
	if n, err := strconv.Atoi(s); err == nil && n > 0 {
		return n
	}
	return otherwise
}

func (c *call) links(page, last int) string {
	var links []string
	add := func(rel string, n int) {
		q := url.Values{}
		for name, values := range c.URL.Query() {
			q[name] = values
		}
		q.Set("page", strconv.Itoa(n))
		links = append(links, fmt.Sprintf(`<%s%s?%s>; rel="%s"`, c.api, c.URL.EscapedPath(), q.Encode(), rel))
	}
	if page > 1 {
		add("prev", min(page-1, last))
	}
	if page < last {
		add("next", page+1)
		add("last", last)
	}
	if page > 1 {
		add("first", 1)
	}
	return strings.Join(links, ", ")
}
