package openai

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"agent/llm"
)

// maxMessage is the length of an error message in characters.
const maxMessage = 500

// refused is the error of an answer whose status is not 200.
func (c *call) refused(res *http.Response) error {
	in := newReader(res.Body, c.config.IdleTimeout, c.cancel)
	defer in.stop()
	data, err := io.ReadAll(io.LimitReader(in.buf, maxError))
	if err != nil && c.caller.Err() != nil {
		return c.caller.Err()
	}
	return c.reported(data, res, "") // what came of the body is enough
}

// reported is the error that a body describes, in whatever shape.
func (c *call) reported(data []byte, res *http.Response, partial string) error {
	f := parseFault(data)
	if blank(f.message) {
		f.message = http.StatusText(res.StatusCode)
	}
	wait := retryAfter(res.Header)
	kind := classify(res.StatusCode, f, wait > 0, len(c.request.Tools) > 0)
	return &llm.Error{
		Kind: kind, Status: res.StatusCode, Message: c.line(f.message), RetryAfter: wait, Partial: partial,
	}
}

// unreadable is the error of an answer with status 200 that is no JSON.
func (c *call) unreadable(data []byte, res *http.Response, partial string) error {
	f := parseFault(data)
	message := "the answer is not JSON: " + f.message
	if blank(string(data)) {
		message = "the answer is empty"
	}
	return &llm.Error{
		Kind: llm.Transient, Status: res.StatusCode, Message: c.line(message),
		RetryAfter: retryAfter(res.Header), Partial: partial,
	}
}

// line makes s one line, without the key, short, and not empty.
func (c *call) line(s string) string {
	if c.config.APIKey != "" {
		s = strings.ReplaceAll(s, c.config.APIKey, "[api key]")
	}
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), invisible), " ")
	if s == "" {
		return "no explanation was given"
	}
	if runes := []rune(s); len(runes) > maxMessage {
		s = string(runes[:maxMessage-1]) + "…"
	}
	return s
}

func invisible(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

// fault is what a server says about a failure.
type fault struct {
	message string
	code    string // code and type, joined by a blank
	status  int    // a code that is an HTTP status, else 0
}

// parseFault knows {"error":{…}}, {"error":"text"}, a list of those, and a
// message or detail at the top level. Anything else is shown as it is.
func parseFault(data []byte) fault {
	var list []json.RawMessage
	if json.Unmarshal(data, &list) == nil && len(list) > 0 {
		data = list[0]
	}
	var top struct {
		Error json.RawMessage `json:"error"`
		faultBody
	}
	if json.Unmarshal(data, &top) != nil {
		return fault{message: text(data)}
	}
	f := top.faultBody
	if present(top.Error) {
		if json.Unmarshal(top.Error, &f) != nil {
			return fault{message: plain(top.Error)}
		}
	}
	out := f.fault()
	if out.message == "" {
		out.message = string(data)
	}
	return out
}

type faultBody struct {
	Message json.RawMessage `json:"message"`
	Detail  json.RawMessage `json:"detail"`
	Type    json.RawMessage `json:"type"`
	Code    json.RawMessage `json:"code"`
}

func (b faultBody) fault() fault {
	f := fault{message: plain(b.Message), code: plain(b.Code) + " " + plain(b.Type)}
	if f.message == "" {
		f.message = plain(b.Detail)
	}
	if n, err := strconv.Atoi(plain(b.Code)); err == nil && n >= 400 && n < 600 {
		f.status = n
	}
	return f
}

// plain is a JSON string without its quotes, and anything else as it is; null is empty.
func plain(raw json.RawMessage) string {
	var s string
	if !present(raw) {
		return ""
	}
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

var title = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

// text is a body that is not JSON; of a page only the title is worth showing.
func text(data []byte) string {
	s := string(data)
	if !mentions(s, "<html", "<!doctype") {
		return s
	}
	if m := title.FindStringSubmatch(s); m != nil {
		return "a web page, titled " + strings.TrimSpace(m[1])
	}
	return "a web page"
}

// mentions is true if s holds any of the words, in any case.
func mentions(s string, words ...string) bool {
	s = strings.ToLower(s)
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
