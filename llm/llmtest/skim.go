package llmtest

import (
	"bytes"
	"errors"
	"io"
	"net/http"

	"agent/llm"
)

const (
	skimmed = 64 << 10 // bytes that are read at once
	ending  = 256      // bytes at the end of a body, where its last members are
)

// skim answers when a body has arrived. Nothing of it is decoded or kept, so that a measurement beside the
// server finds the processor and its caches as a server elsewhere leaves them. A script learns whether
// there are tools; ids of calls and the usage are its own matter.
func (s *Server) skim(w http.ResponseWriter, req *http.Request) {
	r := Request{API: llm.APIChat, Header: req.Header.Clone()}
	buf, n := make([]byte, skimmed), 0
	for {
		more, err := req.Body.Read(buf[n:])
		n += more
		if bytes.Contains(buf[:min(n, ending)], []byte(`"tools":[`)) {
			r.Tools = []string{"any"}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return // the client left
		}
		n = copy(buf, buf[max(0, n-ending):n])
	}
	r.Stream = bytes.Contains(buf[max(0, n-ending):n], []byte(`"stream":true`))
	s.answer(w, req, r, s.next(r))
}
