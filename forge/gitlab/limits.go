package gitlab

import (
	"net/http"
	"time"

	"agent/forge/rest"
)

// everything is the limit on all requests of a token. GitLab also bounds single calls, as
// the writing of notes: those refusals say neither a name nor a time, and nothing
// follows from them for other calls.
const everything = "everything"

func limitsOf(*http.Request) []string { return []string{everything} }

func usedUp(r *http.Response, _ []byte) (bucket string, wait time.Duration) {
	if r.StatusCode != http.StatusTooManyRequests || r.Header.Get("RateLimit-Remaining") != "0" {
		return "", 0
	}
	if r.Header.Get("Retry-After") == "" && r.Header.Get("RateLimit-Reset") == "" {
		return "", 0
	}
	return everything, rest.UntilReset(r.Header, r.Header.Get("RateLimit-Reset"))
}
