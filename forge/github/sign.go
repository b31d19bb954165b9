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
	// refused says that the forge did not take the token, and reports whether the
	// same request may be taken if it is sent once more.
	refused(ctx context.Context, token string) (again bool)
	// secrets are the tokens that an error must not show.
	secrets() []string
}

// fixed is a token that never changes.
type fixed string

func (f fixed) get(context.Context) (string, error)  { return string(f), nil }
func (f fixed) refused(context.Context, string) bool { return false }
func (f fixed) secrets() []string                    { return []string{string(f)} }

// signed adds the token to each request. An App's own page is asked for as the App.
type signed struct {
	next   http.RoundTripper
	base   *url.URL
	tokens source
}

// unsigned is for a guard that gets signed requests.
func unsigned(http.Header) {}

// RoundTrip sends a request, and once more if its token was refused and may be taken
// now. What was refused for its token was not done.
func (s *signed) RoundTrip(r *http.Request) (*http.Response, error) {
	for first := true; ; first = false {
		token, err := s.token(r)
		if err != nil {
			return nil, err
		}
		signed := r.Clone(r.Context())
		signed.Header.Set("Authorization", "Bearer "+token)
		if !first && r.GetBody != nil {
			if signed.Body, err = r.GetBody(); err != nil {
				return nil, err
			}
		}
		response, err := s.next.RoundTrip(signed)
		if i, isApp := s.tokens.(*installation); isApp && err == nil {
			i.app.heard(response.Header)
		}
		if err != nil || response.StatusCode != http.StatusUnauthorized {
			return response, err
		}
		if again := s.tokens.refused(r.Context(), token); !again || !first || r.Body != nil && r.GetBody == nil {
			return response, nil
		}
	}
}

func (s *signed) token(r *http.Request) (string, error) {
	if i, isApp := s.tokens.(*installation); isApp && r.URL.Path == s.base.Path+"/app" {
		return i.app.token()
	}
	return s.tokens.get(r.Context())
}
