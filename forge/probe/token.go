package probe

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// Token is what a forge says about the token and the time. Zero values: it does
// not say.
type Token struct {
	Scopes    []string
	HasScopes bool // false for tokens with permissions per project
	Enough    bool // one of the scopes allows the agent's work

	HasClock bool
	Ahead    time.Duration // how far our clock is ahead of the forge's, to the second

	HasRate bool
	Left    int    // requests in this period
	Limit   string // of requests in a period
}

// Token asks about the token.
func (p *Probe) Token(ctx context.Context) (Token, error) {
	got, err := p.get(ctx, p.driver.TokenPath)
	if err != nil {
		return Token{}, err
	}
	var t Token
	t.Scopes, t.HasScopes = p.scopes(ctx, got.header)
	for _, s := range t.Scopes {
		for _, want := range p.driver.WantScopes {
			t.Enough = t.Enough || s == want
		}
	}
	if theirs, err := http.ParseTime(got.header.Get("Date")); err == nil {
		// The header has whole seconds, cut off: on average half of one is missing.
		t.HasClock, t.Ahead = true, got.sent.Add(got.took/2).Sub(theirs.Add(time.Second/2)).Round(time.Second)
	}
	if left, err := strconv.Atoi(first(got.header, "X-Ratelimit-Remaining", "Ratelimit-Remaining")); err == nil {
		t.HasRate, t.Left, t.Limit = true, left, first(got.header, "X-Ratelimit-Limit", "Ratelimit-Limit")
	}
	return t, nil
}

func (p *Probe) scopes(ctx context.Context, header http.Header) ([]string, bool) {
	if p.driver.Scopes == nil {
		return nil, false
	}
	return p.driver.Scopes(ctx, func(ctx context.Context, path string) (int, []byte, error) {
		got, err := p.get(ctx, path)
		return got.status, got.body, err
	}, header)
}

func first(h http.Header, names ...string) string {
	for _, name := range names {
		if v := h.Get(name); v != "" {
			return v
		}
	}
	return ""
}
