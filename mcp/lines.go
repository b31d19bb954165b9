package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

const (
	maxLine          = 16 << 20 // bytes of one message from a server
	maxServerRequest = 64 << 10 // bytes of one request from a server to us
	maxServerCalls   = 1000     // requests a server may send us in its life
)

// lineFilter stands between a server's standard output and the protocol
// library, which has no limits and drops what it cannot read. It hands on whole
// JSON objects, one a line, and nothing else: other text is skipped, several
// objects in one line are separated, a last line without a newline is
// completed, and in place of an object over the limit comes an answer that
// says so. At the end it calls ended once.
type lineFilter struct {
	in       *bufio.Reader
	limit    int
	out      []byte // not yet handed on
	requests int
	begun    bool
	ended    func()
	err      error
}

func newLineFilter(in io.Reader, limit int, ended func()) *lineFilter {
	return &lineFilter{in: bufio.NewReaderSize(in, 64<<10), limit: limit, ended: ended}
}

// Read implements io.Reader. Every error of the stream is an end.
func (f *lineFilter) Read(p []byte) (int, error) {
	if !f.begun {
		f.begun = true
		if mark, _ := f.in.Peek(len("\ufeff")); string(mark) == "\ufeff" { // a byte order mark of Windows' shells
			_, _ = f.in.Discard(len(mark))
		}
	}
	for len(f.out) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		line, err := f.nextLine()
		f.accept(line, err == nil)
		if err != nil {
			f.err = io.EOF
			f.ended()
		}
	}
	n := copy(p, f.out)
	f.out = f.out[n:]
	return n, nil
}

// nextLine returns one line, or the answer that replaces it if it is too long.
func (f *lineFilter) nextLine() ([]byte, error) {
	var line []byte
	for {
		part, err := f.in.ReadSlice('\n')
		if len(line)+len(part) > f.limit {
			return f.skipLine(line, part, err)
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// skipLine reads to the end of the line and keeps nothing but its id.
func (f *lineFilter) skipLine(line, part []byte, err error) ([]byte, error) {
	var ids idScanner
	ids.write(line)
	ids.write(part)
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = f.in.ReadSlice('\n')
		ids.write(part)
	}
	return tooLong(ids.id, f.limit), err
}

// unreadable is the answer in place of one that is no JSON, so that the call which
// waits for it ends at once. It is empty if the text names no call.
func unreadable(text []byte) []byte {
	var ids idScanner
	ids.write(text)
	if bytes.Contains(text, []byte(`"method"`)) || !json.Valid(ids.id) {
		return nil
	}
	return instead(ids.id, "The answer was no valid JSON and was dropped.")
}

// tooLong is the answer in place of one that was not read. It is a result, not
// an error of the protocol: the call did happen.
func tooLong(id []byte, limit int) []byte {
	if !json.Valid(id) {
		return nil
	}
	return instead(id, fmt.Sprintf("The answer was longer than %d MiB and was dropped.", limit>>20))
}

func instead(id []byte, why string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"isError":true,"content":[{"type":"text","text":"%s The call itself may have had its effect."}]}}`+"\n", id, why)
}

// accept queues the JSON objects of a line. One that is cut because the server
// died is not whole, and the end of the stream says so.
func (f *lineFilter) accept(line []byte, whole bool) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' {
		return
	}
	if json.Valid(line) { // one object, as nearly always
		f.handOn(line)
		return
	}
	objects := json.NewDecoder(bytes.NewReader(line))
	for {
		var object json.RawMessage
		if err := objects.Decode(&object); err != nil {
			if whole && !errors.Is(err, io.EOF) {
				f.out = append(f.out, unreadable(line[objects.InputOffset():])...)
			}
			return
		}
		if object[0] == '{' {
			f.handOn(object)
		}
	}
}

func (f *lineFilter) handOn(object []byte) {
	if f.wanted(object) {
		f.out = append(f.out, object...)
		f.out = append(f.out, '\n')
	}
}

// wanted tells answers and notifications from requests, which are few and small.
func (f *lineFilter) wanted(object []byte) bool {
	var head struct {
		Method string          `json:"method"`
		ID     json.RawMessage `json:"id"`
	}
	if json.Unmarshal(object, &head) != nil {
		return false
	}
	if head.Method == "" || head.ID == nil {
		return true
	}
	f.requests++
	return len(object) <= maxServerRequest && f.requests <= maxServerCalls
}
