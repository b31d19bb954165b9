package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"agent/forge/rest"
	"agent/internal/config"
	"agent/internal/sanitize"
)

// maxAnswer is what is read of an answer, in bytes.
const maxAnswer = 64 << 10

// post sends messages by HTTP.
type post struct {
	address string
	header  http.Header
	body    func(Message) any
	client  *http.Client
}

func newPost(way string, c config.Notification, version string) *post {
	transport := rest.NewTransport()
	transport.DisableKeepAlives = true // a connection that the server closed meanwhile would lose a message
	p := &post{address: c.Address(), header: http.Header{}, client: &http.Client{Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}} // what is secret is for this host
	p.header.Set("Content-Type", "application/json")
	p.header.Set("User-Agent", "agent/"+version)
	if c.Token != "" {
		p.header.Set("Authorization", "Bearer "+c.Token)
	}
	for name, value := range c.Headers {
		p.header.Set(name, value)
	}
	switch way {
	case "ntfy":
		u, _ := url.Parse(c.Ntfy) // checked with the configuration
		topic := path.Base(u.Path)
		u.Path = "/"
		p.address = u.String()
		p.body = func(m Message) any { return ntfyMessage(topic, m) }
	case "slack":
		p.body = slackMessage
	default:
		p.body = func(m Message) any { return m }
	}
	return p
}

// ntfyMessage is a message as https://docs.ntfy.sh/publish/#publish-as-json has it.
func ntfyMessage(topic string, m Message) any {
	look := ntfyLooks[m.Event]
	text := strings.TrimPrefix(m.Text, m.subject+"\n")
	out := map[string]any{"topic": topic, "title": m.subject, "message": text, "priority": max(look.priority, 3)}
	if look.tag != "" {
		out["tags"] = []string{look.tag}
	}
	if strings.HasPrefix(m.URL, "https://") || strings.HasPrefix(m.URL, "http://") {
		out["click"] = m.URL
	}
	return out
}

var ntfyLooks = map[string]struct {
	tag      string
	priority int
}{Failed: {"x", 4}, Approval: {"raised_hand", 4}, Limit: {"warning", 4}, Completed: {"white_check_mark", 3}, Paused: {"hourglass", 3}}

// slackEscapes are those of https://docs.slack.dev/messaging/formatting-message-text; others of its kind also mention
// everybody at a bare @channel.
var slackEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "@", "@\u200b")

func slackMessage(m Message) any { return map[string]string{"text": slackEscapes.Replace(m.Text)} }

func (p *post) send(ctx context.Context, m Message) error {
	data, err := json.Marshal(p.body(m))
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.address, bytes.NewReader(data))
	if err != nil {
		return errors.New("the address is not a URL")
	}
	request.Header = p.header
	request.GetBody = nil // net/http must not send it twice by itself
	response, err := p.client.Do(request)
	if err != nil {
		return unreached(err)
	}
	defer response.Body.Close()
	if response.StatusCode/100 == 2 {
		return nil
	}
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	return refused(response, string(body))
}

// unreached is the error of a request without an answer. The address is not in it.
func unreached(err error) error {
	var dial *net.OpError
	missed := errors.As(err, &dial) && dial.Op == "dial"
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return &failure{text: err.Error(), missed: missed}
}

// refused is the error of an answer. Those that say "not now" have not taken the message.
func refused(r *http.Response, body string) error {
	f := &failure{text: fmt.Sprintf("the receiver answered %d: %s", r.StatusCode, sanitize.Line(body, 200))}
	switch {
	case r.StatusCode/100 == 3:
		f.text = fmt.Sprintf("the receiver answered %d, and redirects are not followed", r.StatusCode)
	case r.StatusCode == http.StatusTooManyRequests, r.StatusCode == http.StatusBadGateway, r.StatusCode == http.StatusServiceUnavailable:
		seconds, _ := strconv.Atoi(r.Header.Get("Retry-After"))
		f.missed, f.after = true, time.Duration(max(seconds, 0))*time.Second
	}
	return f
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
