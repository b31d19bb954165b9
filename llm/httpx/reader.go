package httpx

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"time"
)

// How long to wait for the end of the body after a stream's end mark. It comes
// at once from all but broken servers, and reading it keeps the connection.
const drainTime = 100 * time.Millisecond

// reader is the body of an answer: limited in size, and in silence once it has
// begun. The wait for the first byte belongs to the limit of the whole call,
// since local servers send the head and then read a long prompt.
type reader struct {
	body  io.Reader
	buf   *bufio.Reader
	limit int
	read  int
	idle  time.Duration
	end   context.CancelCauseFunc
	timer *time.Timer
	ended bool // what is still to come is not waited for
}

func newReader(body io.Reader, idle time.Duration, end context.CancelCauseFunc) *reader {
	r := &reader{body: body, limit: MaxAnswer, idle: idle, end: end}
	r.buf = bufio.NewReader(r)
	return r
}

// Read implements io.Reader for buf.
func (r *reader) Read(p []byte) (int, error) {
	n, err := r.body.Read(p)
	if r.read += n; r.read > r.limit {
		return 0, fmt.Errorf("the answer is larger than %d MiB", r.limit>>20)
	}
	if n > 0 && !r.ended {
		r.rest(r.idle)
	}
	return n, err
}

// rest allows d of silence from now on.
func (r *reader) rest(d time.Duration) {
	if r.timer == nil {
		r.timer = time.AfterFunc(d, func() { r.end(errIdle) })
		return
	}
	r.timer.Reset(d)
}

func (r *reader) stop() {
	if r.timer != nil {
		r.timer.Stop()
	}
}

// drain reads what follows the end mark, for a moment.
func (r *reader) drain() {
	r.rest(drainTime)
	r.ended = true
	io.Copy(io.Discard, r.buf) // whatever happens here, the answer is whole
}

// isStream skips blanks, which some servers send to keep the connection, and
// looks at the beginning: a line of an event stream starts with the name of a
// field or with a colon. False at the end of the input.
func (r *reader) isStream() (bool, error) {
	for {
		b, err := r.buf.ReadByte()
		if err == io.EOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if bytes.IndexByte([]byte(" \t\r\n"), b) >= 0 {
			continue
		}
		r.buf.UnreadByte() // cannot fail after ReadByte
		return r.startsWith(fields[b]), nil
	}
}

var fields = map[byte]string{':': ":", 'd': "data:", 'e': "event:", 'i': "id:", 'r': "retry:"}

func (r *reader) startsWith(field string) bool {
	head, _ := r.buf.Peek(len(field)) // shorter at the end of the input
	return field != "" && string(head) == field
}

// line is the next line without its end; at the end of the input the last,
// unfinished one comes with an error.
func (r *reader) line() ([]byte, error) {
	l, err := r.buf.ReadBytes('\n')
	return bytes.TrimRight(l, "\r\n"), err
}
