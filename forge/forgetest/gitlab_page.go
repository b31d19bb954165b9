package forgetest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
)

const gitlabPage = 20 // the default; the largest is that of GitHub

// numbered answers one page of all, with GitLab's headers.
func numbered(c *call, all []object) reply {
	size := min(number(c.URL.Query().Get("per_page"), gitlabPage), largestPage)
	page := number(c.URL.Query().Get("page"), 1)
	last := max((len(all)+size-1)/size, 1)
	from := min((page-1)*size, len(all))
	a := ok(plain(all[from:min(from+size, len(all))]))
	next, before := "", ""
	if page < last {
		next = strconv.Itoa(page + 1)
	}
	if page > 1 {
		before = strconv.Itoa(page - 1)
	}
	a.header = http.Header{
		"X-Page": {strconv.Itoa(page)}, "X-Per-Page": {strconv.Itoa(size)}, "X-Next-Page": {next}, "X-Prev-Page": {before},
		"X-Total": {strconv.Itoa(len(all))}, "X-Total-Pages": {strconv.Itoa(last)},
	}
	if links := c.links(page, last); links != "" {
		a.header.Set("Link", links)
	}
	return a
}

// keyset answers a page that follows the entry whose field is the token of the query.
func keyset(c *call, all []object, field string) reply {
	q := c.URL.Query()
	size := min(number(q.Get("per_page"), gitlabPage), largestPage)
	from := 0
	if token := q.Get("page_token"); token != "" {
		from = 1 + slices.IndexFunc(all, func(o object) bool { return o[field] == token })
	}
	until := min(from+size, len(all))
	a := ok(plain(all[from:until]))
	a.header = http.Header{"X-Per-Page": {strconv.Itoa(size)}, "X-Next-Page": {""}}
	if until < len(all) {
		token := fmt.Sprint(all[until-1][field])
		to := url.Values{}
		for name, values := range q {
			to[name] = values
		}
		to.Set("page_token", token)
		a.header.Set("X-Next-Page", token)
		a.header.Set("Link", fmt.Sprintf(`<%s%s?%s>; rel="next"`, c.api, c.URL.EscapedPath(), to.Encode()))
	}
	return a
}
