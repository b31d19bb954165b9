package gitlab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"gitlab.com/gitlab-org/api/client-go/v2"

	"agent/forge"
	"agent/forge/rest"
)

// classify turns what a call returned into an error of the port, or nil.
func (c *Client) classify(ctx context.Context, op string, m rest.Mode, response *gitlab.Response, err error) error {
	switch {
	case err == nil && response != nil && response.StatusCode == http.StatusAccepted:
		return c.refusal(op, m, response.Response, "") // no object is promised
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case response == nil || response.Response == nil:
		return rest.Unanswered(op, m, err, c.cfg.Token)
	case response.StatusCode/100 == 2 && response.StatusCode != http.StatusAccepted:
		c.forget(response)
		e := rest.Unreadable(op, m).(*forge.Error)
		e.Status, e.Err = response.StatusCode, err
		return e
	}
	return c.refusal(op, m, response.Response, message(err))
}

// forget drops an answer that was of no use from the cache.
func (c *Client) forget(r *gitlab.Response) {
	if r != nil {
		c.answers.Forget(r.Response)
	}
}

// refusal classifies an answer that is no success.
func (c *Client) refusal(op string, m rest.Mode, r *http.Response, message string) error {
	e := &forge.Error{Op: op, Status: r.StatusCode, Message: rest.Line(message, c.cfg.Token), Kind: forge.Invalid}
	if e.Message == "" {
		e.Message = strings.ToLower(http.StatusText(r.StatusCode))
	}
	switch r.StatusCode {
	case http.StatusTooManyRequests:
		e.Kind, e.RetryAfter = forge.RateLimited, rest.Wait(r.Header, r.Header.Get("RateLimit-Reset"))
	case http.StatusUnauthorized:
		e.Kind = forge.Auth
	case http.StatusForbidden:
		e.Kind = forge.Forbidden
		if r.Header.Get("Retry-After") != "" { // a proxy's or firewall's limit
			e.Kind, e.RetryAfter = forge.RateLimited, rest.Wait(r.Header, "")
		}
	case http.StatusMethodNotAllowed: // the answer to writes under a former path
		if strings.Contains(strings.ToLower(message), "moved") {
			e.Kind = forge.Moved
			c.forgetProjects()
		}
	case http.StatusNotFound, http.StatusGone:
		e.Kind = forge.NotFound
	case http.StatusAccepted, http.StatusRequestTimeout:
		e.Kind = forge.ErrorKind(m)
	default:
		if r.StatusCode >= 500 {
			e.Kind = forge.ErrorKind(m)
		}
	}
	return e
}

// message takes the server's words out of the library's error. A page instead of JSON gives none.
func message(err error) string {
	var e *gitlab.ErrorResponse
	if !errors.As(err, &e) {
		return ""
	}
	var body struct {
		Message     any    `json:"message"`
		Error       any    `json:"error"`
		Description string `json:"error_description"`
	}
	if json.Unmarshal(e.Body, &body) != nil {
		return ""
	}
	var parts []string
	for _, part := range []string{words(body.Message), words(body.Error), body.Description} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "; ")
}

// words flattens the forms in which GitLab gives its messages: a text, a list, or these by field.
func words(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []any:
		var all []string
		for _, part := range v {
			all = append(all, words(part))
		}
		return strings.Join(all, ", ")
	case map[string]any:
		var all []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			all = append(all, name+" "+words(v[name]))
		}
		return strings.Join(all, ", ")
	}
	return fmt.Sprint(v)
}
