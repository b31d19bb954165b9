package github

import (
	"context"
	"net/http"
	"net/url"
)

// source gives the token of each request.
type source interface {
	// get returns a token that is valid now.
	get(ctx context.Context) (string, error)
	// refused says that the forge did not take the token.
	refused(token string)
	// secrets are the tokens that an error must not show.
	secrets() []string
}

// fixed is a token that never changes.
type fixed string

func (f fixed) get(context.Context) (string, error) { return string(f), nil }
func (f fixed) refused(string)                      {}
func (f fixed) secrets() []string                   { return []string{string(f)} }

// signed adds the token to each request. An App's own page is asked for as the App.
type signed struct {
	next   http.RoundTripper
	base   *url.URL
	tokens source
}

// unsigned is for a guard that gets signed requests.
func unsigned(http.Header) {}

func (s *signed) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := s.token(r)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := s.next.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusUnauthorized {
		s.tokens.refused(token)
	}
	return response, err
}

func (s *signed) token(r *http.Request) (string, error) {
	if i, isApp := s.tokens.(*installation); isApp && r.URL.Path == s.base.Path+"/app" {
		return i.app.token()
	}
	return s.tokens.get(r.Context())
}
