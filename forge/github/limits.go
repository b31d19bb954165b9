package github

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"agent/forge/rest"
)

// The limits of an account are counted apart for searches, for GraphQL and for the
// rest. A secondary limit holds for reads or for writes, as far as is known.

func (c Config) who(base *url.URL) string {
	if c.App != nil {
		return fmt.Sprintf("%s %d/%d", base, c.App.ID, c.App.InstallationID)
	}
	return rest.Who(base, c.Token)
}

func limitsOf(r *http.Request) []string {
	primary := primaryLimit(r)
	return []string{primary, secondaryLimit(r, primary)}
}

func primaryLimit(r *http.Request) string {
	switch {
	case strings.Contains(r.URL.Path, "/search/"):
		return "search"
	case strings.HasSuffix(r.URL.Path, "/graphql"):
		return "graphql"
	}
	return "core"
}

func secondaryLimit(r *http.Request, primary string) string {
	if r.Method == http.MethodGet {
		return primary + " reads"
	}
	return primary + " writes"
}

// usedUp is true of refusals that name the time at which they end.
func usedUp(r *http.Response, body []byte) (bucket string, wait time.Duration) {
	var said struct{ Message string }
	_ = json.Unmarshal(body, &said) // a page says nothing
	if r.Request == nil || !limited(r, said.Message) {
		return "", 0
	}
	primary := primaryLimit(r.Request)
	switch {
	case r.Header.Get("Retry-After") != "":
		return secondaryLimit(r.Request, primary), rest.UntilReset(r.Header, "")
	case r.Header.Get("X-Ratelimit-Remaining") == "0" && r.Header.Get("X-Ratelimit-Reset") != "":
		return primary, rest.UntilReset(r.Header, r.Header.Get("X-Ratelimit-Reset"))
	}
	return "", 0
}
