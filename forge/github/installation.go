package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"agent/forge"
	"agent/forge/rest"
)

const (
	renewBefore = 5 * time.Minute
	young       = time.Minute     // a token may be new to some of the forge's machines
	lag         = 2 * time.Second // until they know it
)

// installation gives the tokens of an App's installation, which live for an
// hour. One caller at a time asks for a new one; the others wait for it.
type installation struct {
	app   *signer
	url   string
	guard http.RoundTripper
	now   func() time.Time
	sleep func(context.Context, time.Duration) error
	turn  chan struct{} // holds a value while nobody asks for a token

	mu      sync.Mutex
	token   string
	expires time.Time // by our own clock, as given
	given   time.Time
	doubted bool     // it was refused while it was new
	recent  []string // for secrets
}

// tokenError is why there is no token. The request that needed it was not sent.
type tokenError struct {
	kind       forge.ErrorKind
	status     int
	message    string
	retryAfter time.Duration
}

func (e *tokenError) Error() string { return e.message }

func newInstallation(a App, base *url.URL, guard http.RoundTripper) (*installation, error) {
	app, err := newSigner(a)
	if err != nil {
		return nil, err
	}
	i := &installation{
		app: app, url: fmt.Sprintf("%s/app/installations/%d/access_tokens", base, a.InstallationID),
		guard: guard, now: time.Now, sleep: sleep, turn: make(chan struct{}, 1),
	}
	i.turn <- struct{}{}
	return i, nil
}

func (i *installation) get(ctx context.Context) (string, error) {
	select {
	case <-i.turn:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { i.turn <- struct{}{} }()
	if token := i.held(); token != "" {
		return token, nil
	}
	return i.renew(ctx)
}

// held is the token if it lives long enough, or "".
func (i *installation) held() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.now().Before(i.expires.Add(-renewBefore)) {
		return i.token
	}
	return ""
}

// refused drops the token. One that is new may not be known everywhere yet: it gets
// a second chance after a moment.
func (i *installation) refused(ctx context.Context, token string) (again bool) {
	i.mu.Lock()
	fresh := token == i.token && !i.doubted && i.now().Sub(i.given) < young
	switch {
	case fresh:
		i.doubted = true
	case token == i.token:
		i.token = ""
	}
	i.mu.Unlock()
	return !fresh || i.sleep(ctx, lag) == nil
}

func (i *installation) secrets() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.recent)
}

// renew asks for a token, as the App itself. A refusal tells the forge's time: if
// that was the reason, the next proof is right.
func (i *installation) renew(ctx context.Context) (string, error) {
	for first := true; ; first = false {
		response, body, err := i.ask(ctx)
		if err != nil {
			return "", err
		}
		changed := i.app.heard(response.Header)
		switch {
		case response.StatusCode == http.StatusCreated:
			return i.take(response, body)
		case !first || !changed || response.StatusCode != http.StatusUnauthorized:
			return "", notGiven(response, body)
		}
	}
}

func (i *installation) ask(ctx context.Context) (*http.Response, []byte, error) {
	proof, err := i.app.token()
	if err != nil {
		return nil, nil, &tokenError{kind: forge.Auth, message: err.Error()}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, i.url, nil)
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Accept", "application/vnd.github+json")
	request.Header.Set("User-Agent", userAgent)
	request.Header.Set("Authorization", "Bearer "+proof)
	response, err := i.guard.RoundTrip(request)
	if err != nil {
		return nil, nil, noAnswer(ctx, err)
	}
	body, _ := io.ReadAll(response.Body) // in memory already
	return response, body, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func noAnswer(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var e *forge.Error
	errors.As(rest.Unanswered("", reading, err), &e) // always is one
	return &tokenError{kind: e.Kind, message: "no token for the app's installation: " + e.Message}
}

func notGiven(r *http.Response, body []byte) error {
	var said struct{ Message string }
	_ = json.Unmarshal(body, &said) // a web page says nothing
	e := &tokenError{kind: forge.Auth, status: r.StatusCode, message: "no token for the app's installation: " + said.Message}
	switch {
	case limited(r, said.Message):
		e.kind, e.retryAfter = forge.RateLimited, wait(r.Header)
	case r.StatusCode >= 500, r.StatusCode < 400:
		e.kind = forge.Transient
	}
	return e
}

// take notes the token. How long it lives is counted from the answer's own
// date: the clocks may differ. Without a date it is renewed before it is needed again.
func (i *installation) take(r *http.Response, body []byte) (string, error) {
	var given struct {
		Token   string    `json:"token"`
		Expires time.Time `json:"expires_at"`
	}
	if err := json.Unmarshal(body, &given); err != nil || given.Token == "" || given.Expires.IsZero() {
		return "", &tokenError{kind: forge.Transient, message: "no token for the app's installation: the answer cannot be read"}
	}
	now, lives := i.now(), 2*renewBefore
	if date, err := http.ParseTime(r.Header.Get("Date")); err == nil {
		lives = given.Expires.Sub(date)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.token, i.given, i.expires, i.doubted = given.Token, now, now.Add(lives), false
	i.recent = append(i.recent, given.Token)
	i.recent = i.recent[max(len(i.recent)-3, 0):]
	return i.token, nil
}
