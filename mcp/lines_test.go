package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	protocol "github.com/mark3labs/mcp-go/mcp"
)

func TestRefusalKinds(t *testing.T) {
	for _, c := range []struct {
		code    int
		message string
		want    ErrorKind
	}{
		{-32601, "x", UnknownTool},
		{-32602, "unknown tool: x", UnknownTool},
		{-32602, "MCP error -32602: Tool x not found", UnknownTool},
		{-32602, "tool 'x' not found: tool not found", UnknownTool},
		{-32602, "invalid arguments: file not found", Refused},
		{-32603, "unknown tool", Refused},
	} {
		if got := refusal(&protocol.JSONRPCErrorDetails{Code: c.code, Message: c.message}); got.Kind != c.want || got.Message != c.message {
			t.Errorf("%d %q: got %v", c.code, c.message, got)
		}
	}
}

func TestRequestsOfServersAreBounded(t *testing.T) {
	request := `{"id":1,"method":"ping"}` + "\n"
	large := `{"id":1,"method":"ping","params":"` + strings.Repeat("x", maxServerRequest) + `"}` + "\n"
	in := large + strings.Repeat(request, maxServerCalls+10) + `{"id":1,"result":{}}`
	got := filter(t, strings.NewReader(in), maxLine)
	if want := strings.Repeat(request, maxServerCalls-1) + `{"id":1,"result":{}}` + "\n"; got != want {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
}

// TestByteOrderMark: shells of Windows write one before the first line.
func TestByteOrderMark(t *testing.T) {
	for in, want := range map[string]string{
		"\ufeff{\"id\":1,\"result\":{}}\n": `{"id":1,"result":{}}` + "\n",
		"\ufeff":                           "",
	} {
		if got := filter(t, strings.NewReader(in), maxLine); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestUnreadableAnswer: the call must not wait for its timeout.
func TestUnreadableAnswer(t *testing.T) {
	for in, id := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"x"}` + "\n": "7", // cut
		`{"jsonrpc":"2.0","id":"a","result":{content:[]}}` + "\n":                        `"a"`,
		`{"id":1,"result":{}}{"id":2,"result":{"x":nope}}` + "\n":                        "2",
		`{"id":3,"method":"ping","params":{bad}}` + "\n":                                 "", // a request of the server
		`{this is a line of a log}` + "\n":                                               "",
	} {
		got := filter(t, strings.NewReader(in), maxLine)
		if found := strings.Contains(got, "no valid JSON"); found != (id != "") || found && !strings.Contains(got, `"id":`+id+`,"result":{"isError":true`) {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func filter(t *testing.T, in io.Reader, limit int) string {
	t.Helper()
	ends := 0
	out, err := io.ReadAll(newLineFilter(in, limit, func() { ends++ }))
	if err != nil || ends != 1 {
		t.Fatalf("ended %d times, %v", ends, err)
	}
	return string(out)
}

// Whatever comes in, whole JSON objects come out, and the size of the reads does not matter.
func FuzzLineFilter(f *testing.F) {
	for _, seed := range []string{
		"", "\n\n", "banner\n{\"id\":1}\n", "{\"id\":1}{\"id\":2} x\n", "{\"a\":[{\"id\":3}],\"id\":\"q\"}", "{", "[1]\n7\n",
		"{\"id\":4,\"x\":\"" + strings.Repeat("y", 100) + "\"}\n{}", "{\"x\":\"" + strings.Repeat("\\\"", 100) + "\",\"id\":5}\r\n",
		"\xff\x00{\"id\": 6 }", strings.Repeat("{\"a\":", 50),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		const limit = 64
		out := filter(t, bytes.NewReader(in), limit)
		for line := range strings.Lines(out) {
			var object map[string]json.RawMessage
			if err := json.Unmarshal([]byte(line), &object); err != nil || !strings.HasSuffix(line, "\n") {
				t.Errorf("%q came out of %q", line, in)
			}
		}
		if slow := filter(t, iotest.OneByteReader(bytes.NewReader(in)), limit); slow != out {
			t.Errorf("read bytewise %q becomes %q, else %q", in, slow, out)
		}
	})
}

// The scanner finds the id that a JSON parser finds.
func FuzzIDScanner(f *testing.F) {
	for _, seed := range []string{
		`{"id":1}`, `{"a":{"id":2},"id" : "x,}" }`, `{"id":null,"b":["id",{"id":3}]}`, `{"x":"\"id\":4"}`, `{"id":5,"id":6}`, `{}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var object map[string]json.RawMessage
		if json.Unmarshal(in, &object) != nil || object == nil || bytes.Contains(in, []byte(`\u`)) {
			return
		}
		want := object["id"]
		if len(want) >= maxID || (len(want) > 0 && (want[0] == '{' || want[0] == '[')) {
			return
		}
		var s idScanner
		s.write(in)
		if string(s.id) != string(want) {
			t.Errorf("%q: found %q, want %q", in, s.id, want)
		}
	})
}
