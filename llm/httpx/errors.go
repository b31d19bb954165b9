package httpx

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"agent/internal/lazyregexp"
)

// MaxMessage is the length of an error message in characters.
const MaxMessage = 500

// Line makes s one line, without the key, short, and not empty.
func (c *Client) Line(s string) string {
	if c.config.APIKey != "" {
		s = strings.ReplaceAll(s, c.config.APIKey, "[api key]")
	}
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), invisible), " ")
	if s == "" {
		return "no explanation was given"
	}
	if runes := []rune(s); len(runes) > MaxMessage {
		s = string(runes[:MaxMessage-1]) + "…"
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
	bare    bool   // the body names no message: it is empty, plain text, or a page
	page    bool   // the body is HTML
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
		return fault{message: text(data), bare: true, page: isPage(data)}
	}
	f := top.faultBody
	if Present(top.Error) {
		if json.Unmarshal(top.Error, &f) != nil {
			return fault{message: plain(top.Error)}
		}
	}
	out := f.fault()
	if out.message == "" {
		out.message, out.bare = string(data), true
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
	if !Present(raw) {
		return ""
	}
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

var title = lazyregexp.New(`(?is)<title[^>]*>(.*?)</title>`)

// text is a body that is not JSON; of a page only the title is worth showing.
func text(data []byte) string {
	s := string(data)
	if !isPage(data) {
		return s
	}
	if m := title.FindStringSubmatch(s); m != nil {
		return "a web page, titled " + strings.TrimSpace(m[1])
	}
	return "a web page"
}

func isPage(data []byte) bool { return Mentions(string(data), "<html", "<!doctype") }

// withStatus puts the HTTP status before the message of a body that names none.
func (f fault) withStatus(code int) string {
	if !f.bare || code == http.StatusOK {
		return f.message
	}
	status := strings.TrimSpace(fmt.Sprintf("HTTP %d %s", code, http.StatusText(code)))
	if said := strings.TrimSpace(f.message); said != "" && said != http.StatusText(code) {
		status += ": " + said
	}
	return status
}

// Mentions is true if s holds any of the words, in any case.
func Mentions(s string, words ...string) bool {
	s = strings.ToLower(s)
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// Present says whether a field is there and not null.
func Present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// Blank says whether s holds nothing but white space.
func Blank(s string) bool { return strings.TrimSpace(s) == "" }
