package httpx

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"agent/llm"
)

// Limits of an answer, in bytes.
const (
	MaxAnswer = 32 << 20
	maxError  = 256 << 10 // of the body of a refusal
)

var (
	errTimeout = errors.New("no whole answer in time")
	errIdle    = errors.New("the answer stopped and nothing came for too long")
	errCut     = errors.New("the answer was cut off before its end")
)

// Request is one request to a server.
type Request struct {
	Method string            // default: POST
	URL    string            // from [Client.URL] or [Client.RootURL]
	Body   [][]byte          // JSON, in pieces that follow each other; nil for none
	Accept string            // types of answer; default: application/json
	Header map[string]string // beside those of the client
	Tools  bool              // tools are offered, so an error about tools is about ours
}

// Do sends r and lets read make a reply of an answer with status 200. Every
// other answer, and no answer, is an error.
func (c *Client) Do(ctx context.Context, r Request, read func(*Answer) (llm.Reply, error)) (llm.Reply, error) {
	own, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer time.AfterFunc(c.config.Timeout, func() { cancel(errTimeout) }).Stop()
	a := &Answer{client: c, tools: r.Tools, ctx: own, cancel: cancel, caller: ctx}
	req, err := c.request(own, r)
	if err != nil {
		return llm.Reply{}, a.Failed(llm.Invalid, err, "")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return llm.Reply{}, a.Broken(err, "")
	}
	defer res.Body.Close()
	a.open(res)
	defer a.in.stop()
	if res.StatusCode != http.StatusOK {
		return llm.Reply{}, a.refused()
	}
	return read(a)
}

// JSON sends in, or nothing if it is nil, and decodes the answer into out.
func (c *Client) JSON(ctx context.Context, method, url string, in, out any) error {
	r := Request{Method: method, URL: url}
	if in != nil {
		body, err := json.Marshal(in)
		if err != nil {
			return &llm.Error{Kind: llm.Invalid, Message: c.Line(err.Error()), Err: err}
		}
		r.Body = [][]byte{body}
	}
	_, err := c.Do(ctx, r, func(a *Answer) (llm.Reply, error) {
		data, err := a.All()
		if err == nil && json.Unmarshal(data, out) != nil {
			err = a.Unreadable(data, "")
		}
		return llm.Reply{}, err
	})
	return err
}

func (c *Client) request(ctx context.Context, r Request) (*http.Request, error) {
	if r.Method == "" {
		r.Method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, r.URL, http.NoBody)
	if err != nil {
		return nil, err
	}
	for _, piece := range r.Body {
		req.ContentLength += int64(len(piece))
	}
	if r.Body != nil {
		req.GetBody = func() (io.ReadCloser, error) {
			pieces := net.Buffers(slices.Clone(r.Body)) // reading takes from them
			return io.NopCloser(&pieces), nil
		}
		req.Body, _ = req.GetBody()
	}
	if r.Accept == "" {
		r.Accept = "application/json"
	}
	req.Header.Set("Accept", r.Accept)
	req.Header.Set("User-Agent", "agent")
	if r.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, all := range []map[string]string{c.config.Header, r.Header} {
		for name, value := range all {
			req.Header.Set(name, value)
		}
	}
	switch {
	case c.config.APIKey == "":
	case c.config.KeyHeader != "":
		req.Header.Set(c.config.KeyHeader, c.config.APIKey)
	default:
		req.Header.Set("Authorization", "Bearer "+c.config.APIKey)
	}
	return req, nil
}

// Broken is the error of a connection: the caller's own end, ours, or the
// network's. Partial is the text that had arrived.
func (a *Answer) Broken(err error, partial string) error {
	if a.caller.Err() != nil {
		return a.caller.Err()
	}
	if cause := context.Cause(a.ctx); cause != nil {
		return a.Failed(llm.Timeout, cause, partial)
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // without method and URL
	}
	var n net.Error
	switch {
	case errors.Is(err, errRedirect), errors.Is(err, errLoops), errors.Is(err, errForbidden):
		return a.Failed(llm.Invalid, err, "")
	case errors.As(err, &n) && n.Timeout():
		return a.Failed(llm.Timeout, err, partial)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return a.Cut(partial)
	}
	return a.Failed(llm.Transient, err, partial)
}
