package httpx

import (
	"context"
	"io"
	"net/http"

	"agent/llm"
)

// Answer is an answer that is being read. Its methods that return an error
// return one that a provider may return. Partial is the text so far.
type Answer struct {
	client *Client
	tools  bool
	ctx    context.Context // the caller's, cancelled by our own time limits as well
	cancel context.CancelCauseFunc
	caller context.Context
	res    *http.Response
	in     *reader
}

func (a *Answer) open(res *http.Response) {
	a.res, a.in = res, newReader(res.Body, a.client.config.IdleTimeout, a.cancel)
}

// IsStream decides by the first bytes whether the answer is an event stream:
// servers that ignore "stream" and servers that mislabel their type both exist.
func (a *Answer) IsStream() (bool, error) {
	stream, err := a.in.isStream()
	if err != nil {
		return false, a.Broken(err, "")
	}
	return stream, nil
}

// Allow raises the limit of the answer to n bytes.
func (a *Answer) Allow(n int) { a.in.limit = n }

// All is the rest of the answer.
func (a *Answer) All() ([]byte, error) {
	data, err := io.ReadAll(a.in.buf)
	if err != nil {
		return nil, a.Broken(err, "")
	}
	return data, nil
}

// Line is the next line without its end. At the end of the input the last,
// unfinished one comes with an error, which is for [Answer.Broken].
func (a *Answer) Line() ([]byte, error) { return a.in.line() }

// Drain reads what follows the mark of an end, for a moment: that keeps the connection.
func (a *Answer) Drain() { a.in.drain() }

// Cancelled is the error of the caller's context.
func (a *Answer) Cancelled() error { return a.caller.Err() }

// Failed is an error of our own making.
func (a *Answer) Failed(kind llm.Kind, err error, partial string) error {
	return &llm.Error{Kind: kind, Message: a.client.Line(err.Error()), Partial: partial, Err: err}
}

// Cut is the error of an answer that ends too early.
func (a *Answer) Cut(partial string) error { return a.Failed(llm.Transient, errCut, partial) }

// Empty is the error of an answer that is whole and says nothing.
func (a *Answer) Empty(what string, used llm.Usage) error {
	return &llm.Error{Kind: llm.Empty, Status: a.res.StatusCode, Message: what, Usage: used}
}

// NotEmpty is an error unless r holds text or calls, or its finish reason
// explains why not: then asking again would not help.
func (a *Answer) NotEmpty(r llm.Reply) error {
	explained := r.FinishReason == "length" || r.FinishReason == "content_filter"
	if Blank(r.Text) && len(r.Calls) == 0 && !explained {
		return a.Empty("the answer holds neither text nor calls", r.Usage)
	}
	return nil
}

// Reported is the error that data describes, in whatever shape.
func (a *Answer) Reported(data []byte, partial string) error {
	f := parseFault(data)
	if Blank(f.message) {
		f.message = http.StatusText(a.res.StatusCode)
	}
	wait := retryAfter(a.res.Header)
	kind := classify(a.res.StatusCode, f, wait > 0, a.tools)
	failed := &llm.Error{
		Kind: kind, Status: a.res.StatusCode, Message: a.client.Line(f.withStatus(a.res.StatusCode)), RetryAfter: wait, Partial: partial,
	}
	if kind == llm.ContextOverflow {
		failed.Window = windowNamed(f.message)
	}
	return failed
}

// Unreadable is the error of an answer with status 200 that is no JSON.
func (a *Answer) Unreadable(data []byte, partial string) error {
	f := parseFault(data)
	message := "the answer is not JSON: " + f.message
	switch {
	case Blank(string(data)):
		message = "the answer is empty"
	case f.page:
		message += "; base_url may be wrong"
	}
	return &llm.Error{
		Kind: llm.Transient, Status: a.res.StatusCode, Message: a.client.Line(message),
		RetryAfter: retryAfter(a.res.Header), Partial: partial,
	}
}

// refused is the error of an answer whose status is not 200.
func (a *Answer) refused() error {
	data, err := io.ReadAll(io.LimitReader(a.in.buf, maxError))
	if err != nil && a.caller.Err() != nil {
		return a.caller.Err()
	}
	return a.Reported(data, "") // what came of the body is enough
}
