package redact

import (
	"bytes"
	"io"
	"sync"
	"unicode/utf8"
)

// maxHeld bounds what a Writer holds back while it waits for the end of a line
// or of a private key, in bytes.
const maxHeld = 256 << 10

// Writer returns a writer that redacts whole lines on their way to w. Close
// writes what is held back of an unfinished line; it does not close w. It may be
// used by many goroutines.
func (r *Redactor) Writer(w io.Writer) io.WriteCloser {
	return &lineWriter{r: r, w: w}
}

type lineWriter struct {
	r    *Redactor
	w    io.Writer
	mu   sync.Mutex
	held []byte
}

// Write takes all of p. The error is that of the writer below.
func (l *lineWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = append(l.held, p...)
	end := bytes.LastIndexByte(l.held, '\n') + 1
	if begin := openKey(l.held[:end]); begin >= 0 && len(l.held) < maxHeld {
		end = bytes.LastIndexByte(l.held[:begin], '\n') + 1
	}
	if end == 0 && len(l.held) >= maxHeld {
		end = wholeRunes(l.held)
	}
	return len(p), l.flush(end)
}

func (l *lineWriter) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.flush(len(l.held))
}

func (l *lineWriter) flush(end int) error {
	if end == 0 {
		return nil
	}
	clean, _ := l.r.String(string(l.held[:end]))
	l.held = append(l.held[:0], l.held[end:]...)
	_, err := io.WriteString(l.w, clean)
	return err
}

// wholeRunes is the length of b without a character that is not complete.
func wholeRunes(b []byte) int {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if last := b[len(b)-i:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return len(b) - i
			}
			break
		}
	}
	return len(b)
}

// openKey is where a private key begins that has not ended yet, or -1.
func openKey(b []byte) int {
	begin := bytes.LastIndex(b, []byte("-----BEGIN "))
	if begin < 0 || !bytes.Contains(b[begin:], []byte(pemLabel)) || bytes.Contains(b[begin:], []byte(pemEnd)) {
		return -1
	}
	return begin
}
