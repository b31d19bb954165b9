package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"agent/internal/config"
)

// rest makes the few calls of a forge's API for which [forge.Client] has no
// method: those that look at the token itself and at the labels of a project.
type rest struct {
	base   string
	token  string
	client *http.Client
}

// answer is what came back. Body is at most 1 MiB of it.
type answer struct {
	status int
	header http.Header
	body   []byte
	sent   time.Time
	took   time.Duration
}

const restBody = 1 << 20

func newRest(f config.Forge) *rest {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: 10 * time.Second, Control: refuseTricks}).DialContext
	return &rest{base: strings.TrimRight(f.APIURL, "/"), token: f.Token, client: &http.Client{
		Transport: t, Timeout: 30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("a redirect was refused") },
	}}
}

// refuseTricks keeps the token from addresses where no forge is, as the adapters do.
func refuseTricks(_, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return errors.New("not an address")
	}
	if ip := ap.Addr().Unmap().WithZone(""); ip.IsLinkLocalUnicast() || ip.IsUnspecified() || ip.IsMulticast() {
		return errors.New("the host's address is link-local or unspecified")
	}
	return nil
}

func (r *rest) get(ctx context.Context, path string) (answer, error) {
	return r.do(ctx, http.MethodGet, path, nil)
}

// do sends one request; path is below the API's base and escaped. Errors hold neither token nor URL.
func (r *rest) do(ctx context.Context, method, path string, body any) (answer, error) {
	var payload io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return answer{}, err
		}
		payload = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, r.base+path, payload)
	if err != nil {
		return answer{}, errors.New("the API URL cannot be used")
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "agent")
	start := time.Now()
	resp, err := r.client.Do(req)
	if err != nil {
		return answer{}, withoutURL(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, restBody))
	if err != nil {
		return answer{}, fmt.Errorf("read the answer: %w", withoutURL(err))
	}
	return answer{resp.StatusCode, resp.Header, data, start, time.Since(start)}, nil
}

func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// labelPath is where a project's labels are, and labelBody what makes one.
func labelPath(kind, project string) string {
	if kind == "gitlab" {
		return "/projects/" + url.PathEscape(project) + "/labels"
	}
	return "/repos/" + project + "/labels"
}

func labelBody(kind string, l look) map[string]string {
	color := l.color
	if kind == "gitlab" {
		color = "#" + color
	}
	return map[string]string{"name": l.name, "color": color, "description": l.description}
}

// look is a label as it is created.
type look struct{ name, color, description string }

// looks are the labels that a forge's section names.
func looks(f config.Forge) []look {
	all := []look{
		{f.BotLabel, "5319e7", "The agent shall work on this"},
		{f.ProcessingLabel, "1d76db", "The agent works on this"},
		{f.DoneLabel, "0e8a16", "The agent has finished"},
		{f.PausedLabel, "fbca04", "The agent rests and will go on"},
		{f.StoppedLabel, "cccccc", "The agent was told to stop"},
		{f.FailedLabel, "d73a4a", "The agent could not finish"},
		{f.AwaitingLabel, "d4c5f9", "The agent waits for an answer"},
	}
	var named []look
	for _, l := range all {
		if l.name != "" {
			named = append(named, l)
		}
	}
	return named
}
