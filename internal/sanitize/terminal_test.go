package sanitize

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTerminalEscapesEveryByteThatActs(t *testing.T) {
	for c := range 256 {
		got := Terminal("a" + string([]byte{byte(c)}) + "b")
		for _, r := range got {
			if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError {
				t.Errorf("byte %#x: %q", c, got)
			}
		}
		if !strings.HasPrefix(got, "a") || !strings.HasSuffix(got, "b") || len(got) < 3 {
			t.Errorf("byte %#x: %q", c, got)
		}
	}
	for in, want := range map[string]string{
		"\x1b]8;;http://x\x07": `\x1b]8;;http://x\x07`, "a\u202eb": `a\u202eb`, "\u009b2J": `\u009b2J`, "\xff": `\xff`, "a\rb": `a\x0db`, "x\U000e0041": `x\U000e0041`,
		"日本\n\t👩\u200d💻❤\ufe0f": "日本\n\t👩\u200d💻❤\ufe0f", "\ufffd": "\ufffd", "\u2028": `\u2028`,
	} {
		if got := Terminal(in); got != want || Terminal(got) != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func TestLine(t *testing.T) {
	for _, tt := range []struct {
		in   string
		max  int
		want string
	}{{"a\nb  c\t", 9, "a b c"}, {"日本語です", 3, "日本…"}, {"a\x1bb", 9, `a\x1bb`}, {"abc", 0, ""}, {"abc", 3, "abc"}, {"a\u2028b", 9, `a b`}} {
		if got := Line(tt.in, tt.max); got != tt.want {
			t.Errorf("%q: %q", tt.in, got)
		}
	}
}
