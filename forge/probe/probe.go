// Package probe makes the requests for which [forge.Client] has no method: those
// of `agent doctor` about the token, the clock and the rate limit, and those of
// `agent init --create-labels`. A [forge.Driver] says what differs per kind.
package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"agent/forge"
	"agent/forge/rest"
)

// Probe speaks to one forge. Errors hold neither token nor URL.
type Probe struct {
	driver forge.Driver
	base   string
	token  string
	client *http.Client
}

// New makes a Probe; nothing is sent. token may be one that an App was given.
func New(d forge.Driver, apiURL, token string) *Probe {
	return &Probe{driver: d, base: strings.TrimRight(apiURL, "/"), token: token, client: &http.Client{
		Transport: rest.NewTransport(), Timeout: 30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("a redirect was refused") },
	}}
}

// answer is a response with at most 1 MiB of its body.
type answer struct {
	status int
	header http.Header
	body   []byte
	sent   time.Time
	took   time.Duration
}

const maxBody = 1 << 20

// do sends one request; path is below the API's base and escaped.
func (p *Probe) do(ctx context.Context, method, path string, body any) (answer, error) {
	var payload io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return answer{}, err
		}
		payload = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, p.base+path, payload)
	if err != nil {
		return answer{}, errors.New("the API URL cannot be used")
	}
	req.Header.Set("Authorization", "Bearer "+p.token)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "agent")
	start := time.Now()
	resp, err := p.client.Do(req)
	if err != nil {
		return answer{}, withoutURL(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return answer{}, fmt.Errorf("read the answer: %w", withoutURL(err))
	}
	return answer{resp.StatusCode, resp.Header, data, start, time.Since(start)}, nil
}

func (p *Probe) get(ctx context.Context, path string) (answer, error) {
	return p.do(ctx, http.MethodGet, path, nil)
}

func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
