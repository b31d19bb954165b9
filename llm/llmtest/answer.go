package llmtest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"agent/llm"
)

// answer plays a reply. Whatever can be sent at once is one write and one
// flush: a small body after a separate head costs the client a delayed ACK.
func (s *Server) answer(w http.ResponseWriter, req *http.Request, r Request, reply Reply) {
	if reply.Until != nil && !wait(s, req, reply.Until) {
		return
	}
	if reply.Delay > 0 && !wait(s, req, time.After(reply.Delay)) {
		return
	}
	if reply.Drop {
		panic(http.ErrAbortHandler)
	}
	if reply.Hang && reply.Cut == 0 {
		wait[struct{}](s, req, nil)
		return
	}
	reply = s.dialect.said(reply)
	complete(&reply, r)
	body, kind := render(reply, r)
	w.Header().Set("Content-Type", kind)
	for k, v := range reply.Header {
		w.Header().Set(k, v)
	}
	if reply.Cut == 0 {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(reply.Status)
	w.Write([]byte(body)) // the client may have left: nobody to tell
	if reply.Cut == 0 || reply.Clean {
		return
	}
	w.(http.Flusher).Flush()
	if reply.Hang {
		wait[struct{}](s, req, nil)
	}
	panic(http.ErrAbortHandler)
}

// wait is false if the client or the server went away first.
func wait[T any](s *Server, req *http.Request, until <-chan T) bool {
	select {
	case <-until:
		return true
	case <-req.Context().Done():
	case <-s.closing:
	}
	return false
}

// complete fills in what the script left open.
func complete(reply *Reply, r Request) {
	if reply.Status == 0 {
		reply.Status = http.StatusOK
	}
	if reply.Finish == "" {
		reply.Finish = "stop"
		if len(reply.Calls) > 0 {
			reply.Finish = "tool_calls"
		}
	}
	calls := append([]llm.ToolCall(nil), reply.Calls...)
	for i := range calls {
		if calls[i].ID == "" {
			calls[i].ID = fmt.Sprintf("call_%d_%d", r.Turns(), i)
		}
	}
	reply.Calls = calls
	if reply.Usage == nil {
		reply.Usage, reply.counted = estimate(*reply, r), true
	}
}

func estimate(reply Reply, r Request) *llm.Usage {
	out := llm.Message{Content: reply.Reasoning + reply.Text, Calls: reply.Calls}
	return &llm.Usage{
		Prompt:     llm.EstimateRequest(llm.Request{Messages: r.Messages}),
		Completion: llm.EstimateRequest(llm.Request{Messages: []llm.Message{out}}),
		Reasoning:  llm.Estimate(reply.Reasoning),
	}
}

// render gives the body and its type, cut where the reply says so.
func render(reply Reply, r Request) (body, kind string) {
	switch {
	case reply.Body != "":
		body, kind = reply.Body, "text/plain; charset=utf-8"
	case r.Stream:
		s := shapes[r.API]
		return strings.Join(cut(s.events(reply, r), reply.Cut), ""), s.kind
	default:
		body, kind = shapes[r.API].whole(reply, r), "application/json"
	}
	if reply.Cut > 0 {
		body = body[:min(reply.Cut, len(body))]
	}
	return body, kind
}

func cut(events []string, n int) []string {
	if n == 0 {
		return events
	}
	return events[:min(n, len(events))]
}
