package sanitize

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestJSON(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain":        {`{"a":"é 日本 <&>","n":1.50}`, `{"a":"é 日本 <&>","n":1.50}`},
		"C1":           {"\"\u009b31m\u0085\"", `"\u009b31m\u0085"`},
		"DEL":          {"\"\x7f\"", `"\u007f"`},
		"bidi":         {"\"\u202eabc\u202c\u2066\u2069\u200f\"", `"\u202eabc\u202c\u2066\u2069\u200f"`},
		"tags":         {"\"\U000e0041\U000e007f\"", `"\udb40\udc41\udb40\udc7f"`},
		"zero width":   {"{\"a\u200bb\":\"\ufeff\u00ad\"}", `{"a\u200bb":"\ufeff\u00ad"}`},
		"lines":        {"\"\u2028\u2029\"", `"\u2028\u2029"`},
		"private use":  {"\"\ue000\U000f0000\"", `"\ue000\udb80\udc00"`},
		"noncharacter": {"\"\ufffe\"", `"\ufffe"`},
		"escapes":      {`"\u001b[31m\n\\u202e"`, `"\u001b[31m\n\\u202e"`},
		"layout":       {"{\n\t\"a\": 1,\r\n\t\"b\": 2\n}\n", "{\n\t\"a\": 1, \n\t\"b\": 2\n}\n"},
		"replacement":  {"\"\ufffd\"", "\"\ufffd\""},
		"invalid":      {"\"\xc2\xff\"", `"\ufffd\ufffd"`},
	} {
		if got := string(JSON([]byte(c.in))); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// The value stays the same, whatever character a string or key holds.
func TestJSONKeepsTheValue(t *testing.T) {
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if r > 0x3000 && r < 0xd000 || r > 0x20000 && r < 0xe0000 || !utf8.ValidRune(r) {
			continue // ideographs, Hangul, planes without characters
		}
		var raw strings.Builder
		enc := json.NewEncoder(&raw)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(string(r)); err != nil {
			t.Fatal(err)
		}
		clean := JSON([]byte(raw.String()))
		var got string
		if err := json.Unmarshal(clean, &got); err != nil || got != string(r) {
			t.Fatalf("%U: %s is %q, %v", r, clean, got, err)
		}
		if shown := Terminal(string(clean)); shown != string(clean) {
			t.Fatalf("%U: a terminal would not get %s as it is", r, clean)
		}
	}
}
