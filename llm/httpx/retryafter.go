package httpx

import (
	"net/http"
	"strconv"
	"time"
)

// maxWait keeps absurd numbers from overflowing; the caller has limits of its own.
const maxWait = 366 * 24 * time.Hour

// retryAfter is how long the server asks to wait, 0 if it does not say. A date
// is compared with the server's own clock where the answer shows it.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return bounded(ms / 1000)
	}
	value := h.Get("Retry-After")
	if value == "" {
		value = resetOf(h)
	}
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return bounded(seconds)
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return bounded(at.Sub(now).Seconds())
}

// resetOf is when the limit that is used up begins anew, by Anthropic's headers, in
// the form of Retry-After.
func resetOf(h http.Header) string {
	for _, limit := range []string{"Requests", "Tokens", "Input-Tokens", "Output-Tokens"} {
		if h.Get("Anthropic-Ratelimit-"+limit+"-Remaining") != "0" {
			continue
		}
		if at, err := time.Parse(time.RFC3339, h.Get("Anthropic-Ratelimit-"+limit+"-Reset")); err == nil {
			return at.UTC().Format(http.TimeFormat)
		}
	}
	return ""
}

func bounded(seconds float64) time.Duration {
	if !(seconds > 0) { // NaN too
		return 0
	}
	if seconds > maxWait.Seconds() {
		return maxWait
	}
	return time.Duration(seconds * float64(time.Second))
}
