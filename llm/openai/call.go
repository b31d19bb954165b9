package openai

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"agent/llm"
)

// Limits of an answer, in bytes.
const (
	maxAnswer = 32 << 20
	maxError  = 256 << 10 // of the body of a refusal
)

// How long to wait for the end of the body after a stream's end mark. It comes
// at once from all but broken servers, and reading it keeps the connection.
const drainTime = 100 * time.Millisecond

var (
	errTimeout  = errors.New("no whole answer in time")
	errIdle     = errors.New("the answer stopped and nothing came for too long")
	errTooLarge = errors.New("the answer is larger than 32 MiB")
)

// call is one request on its way.
type call struct {
	config  Config
	request llm.Request
	ctx     context.Context // the caller's, cancelled by our own time limits as well
	cancel  context.CancelCauseFunc
	caller  context.Context
}

func (p *Provider) once(ctx context.Context, r llm.Request, f features) (llm.Reply, error) {
	if r.Model == "" {
		r.Model = p.config.Model
	}
	own, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer time.AfterFunc(p.config.Timeout, func() { cancel(errTimeout) }).Stop()
	c := &call{config: p.config, request: r, ctx: own, cancel: cancel, caller: ctx}
	payload, err := body(r, f)
	if err != nil {
		return llm.Reply{}, c.failed(llm.Invalid, err, "")
	}
	req, err := http.NewRequestWithContext(own, http.MethodPost, p.endpoint, bytes.NewReader(payload))
	if err != nil {
		return llm.Reply{}, c.failed(llm.Invalid, err, "")
	}
	c.setHeader(req.Header, f)
	res, err := p.client.Do(req)
	if err != nil {
		return llm.Reply{}, c.broken(err, "")
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return llm.Reply{}, c.refused(res)
	}
	return c.read(res)
}

func (c *call) setHeader(h http.Header, f features) {
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "agent")
	h.Set("Accept", "application/json")
	if f.stream {
		h.Set("Accept", "text/event-stream, application/json")
	}
	if c.config.APIKey != "" {
		h.Set("Authorization", "Bearer "+c.config.APIKey)
	}
}

// read decides by the first bytes whether the answer is a stream: servers that
// ignore "stream" and servers that mislabel their type both exist.
func (c *call) read(res *http.Response) (llm.Reply, error) {
	in := newReader(res.Body, c.config.IdleTimeout, c.cancel)
	defer in.stop()
	stream, err := in.isStream()
	if err != nil {
		return llm.Reply{}, c.broken(err, "")
	}
	if stream {
		return c.readStream(in, res)
	}
	data, err := io.ReadAll(in.buf)
	if err != nil {
		return llm.Reply{}, c.broken(err, "")
	}
	return c.readWhole(data, res)
}

// broken is the error of a connection: the caller's own end, ours, or the network's.
func (c *call) broken(err error, partial string) error {
	if c.caller.Err() != nil {
		return c.caller.Err()
	}
	if cause := context.Cause(c.ctx); cause != nil {
		return c.failed(llm.Timeout, cause, partial)
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // without method and URL
	}
	var n net.Error
	switch {
	case errors.Is(err, errRedirect), errors.Is(err, errLoops), errors.Is(err, errForbidden):
		return c.failed(llm.Invalid, err, "")
	case errors.As(err, &n) && n.Timeout():
		return c.failed(llm.Timeout, err, partial)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		err = errCut
	}
	return c.failed(llm.Transient, err, partial)
}

func (c *call) failed(kind llm.Kind, err error, partial string) error {
	return &llm.Error{Kind: kind, Message: c.line(err.Error()), Partial: partial, Err: err}
}
