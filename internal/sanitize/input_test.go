package sanitize

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestInput(t *testing.T) {
	for _, tt := range []struct{ name, in, want, removed string }{
		{"plain", "Hello, 世界!\n\tx", "Hello, 世界!\n\tx", ""},
		{"comment", "a<!-- hidden -->b", "ab", "html_comment:1"},
		{"comment over lines", "a\n<!--\nhidden\n\n-->\nb", "a\n\nb", "html_comment:1"},
		{"unterminated", "a\n<!-- hidden\n\nmore", "a\n", "html_comment:1"},
		{"short comments", "a<!-->b<!--->c", "abc", "html_comment:2"},
		{"bang end", "a<!-- hidden --!>b", "ab", "html_comment:1"},
		{"fenced", "```html\n<!-- seen -->\n```\n<!-- hidden -->x", "```html\n<!-- seen -->\n```\nx", "html_comment:1"},
		{"lines of a suggestion", "```suggestion:-2+1\nseen\n```", "```suggestion:-2+1\nseen\n```", ""},
		{"no lines of a suggestion", "```suggestion:-2+1<!-- hidden -->\nseen\n```", "```suggestion:-2+1\nseen\n```", "info_string:1"},
		{"info string", "```js title=\"<!-- hidden -->\"\nseen\n```", "```js\nseen\n```", "info_string:1"},
		{"tildes", "~~~\n```\n<!-- seen -->\n~~~\n", "~~~\n```\n<!-- seen -->\n~~~\n", ""},
		{"fence in a quote", "> ```\n> <!-- seen -->\n<!-- hidden -->x", "> ```\n> <!-- seen -->\nx", "html_comment:1"},
		{"fence in a list", "- ```\n  <!-- seen -->\n  ```\n", "- ```\n  <!-- seen -->\n  ```\n", ""},
		{"fence that its list item ends", "- a\n  ```\n<!-- hidden -->x\n```\n<!-- hidden -->y", "- a\n  ```\nx\n```\ny", "html_comment:2"},
		{"fence in a paragraph", "a\n    ```\n    <!-- hidden -->x", "a\n    ```\n    x", "html_comment:1"},
		{"fence in HTML", "<details>\n```\n<!-- hidden -->\n```\n", "<details>\n```\n\n```\n", "html_comment:1"},
		{"pre", "<pre>\n\n`<!-- hidden -->`</pre>", "<pre>\n\n``</pre>", "html_comment:1"},
		{"inline code", "use `<!-- seen -->` and ``a ` <!-- seen -->`` <!-- hidden -->", "use `<!-- seen -->` and ``a ` <!-- seen -->`` ", "html_comment:1"},
		{"unclosed code", "a ` <!-- hidden --> b", "a `  b", "html_comment:1"},
		{"code over list items", "a `\n- <!-- hidden -->`", "a `\n- `", "html_comment:1"},
		{"code over cells", "a|b\n-|-\n`|<!-- hidden -->`", "a|b\n-|-\n`|`", "html_comment:1"},
		{"backtick in an attribute", "<a title=\"`\"> <!-- hidden --> `", " " + " `", "html_comment:1 html_tag:1"},
		{"backtick in an address", "https://e.com/` <!-- hidden --> `", "https://e.com/`  `", "html_comment:1"},
		{"escaped", "a \\<!-- seen --> b", "a \\<!-- seen --> b", ""},
		{"escaped backtick", "\\` <!-- hidden --> `", "\\`  `", "html_comment:1"},
		{"entities", "a&#8203;b&zwnj;c&#x202E;d&shy;e &amp;#8203; &lt;!-- seen --&gt; &copy;", "abcde &amp;#8203; &lt;!-- seen --&gt; &copy;", "bidi:1 soft_hyphen:1 zero_width:2"},
		{"entity in code", "`&#8203;`", "`&#8203;`", ""},
		{"joined comment", "a <!\u200b-- seen -->", "a <! -- seen -->", "zero_width:1"},
		{"joined entity", "&#82\u200b03;", "& #8203;", "zero_width:1"},
		{"zero width in code", "```\na\u200bb\u202ec\n```", "```\nabc\n```", "bidi:1 zero_width:1"},
		{"tags", "a\U000e0041\U000e007fb", "ab", "tag:2"},
		{"selectors", "a\ufe01b\U000e0100c\ufe0f", "abc", "variation_selector:3"},
		{"fillers", "a\u115f\u1160\u3164\uffa0\u2800\u034fb", "ab", "filler:6"},
		{"controls", "a\x00\x07\x1b[31mb\x7f\u0085c", "a[31mbc", "control:5"},
		{"private", "a\ue000\U000f0000b", "ab", "private_use:2"},
		{"separators", "a\u2028b\u2029c", "a b c", "line_separator:2"},
		{"visible format characters stay", "\u0600\u06dd", "\u0600\u06dd", ""},
		{"emoji", "👩\u200d💻 ❤\ufe0f 1\ufe0f⃣ 👍🏽 🏳\ufe0f\u200d🌈", "👩\u200d💻 ❤\ufe0f 1\ufe0f⃣ 👍🏽 🏳\ufe0f\u200d🌈", ""},
		{"joiner alone", "a\u200db 👩\u200d", "ab 👩", "zero_width:2"},
		{"line ends", "a\r\nb\rc", "a\nb\nc", ""},
		{"broken UTF-8", "a\xff\xfeb", "a\ufffdb", "invalid_utf8:2"},
		{"composed", "e\u0301", "é", ""},
		{"not compatibility", "ﬁ²", "ﬁ²", ""},
		{"Markdown comment", "a\n[//]: # (hidden)\nb", "a\nb", "markdown_comment:1"},
		{"joiners of scripts", "می\u200cروم ক্\u200dষ क्\u200dष മലയാളം\u200dക \u0634\u064e\u200cو ශ්\u200dරී", "می\u200cروم ক্\u200dষ क्\u200dष മലയാളം\u200dക \u0634\u064e\u200cو ශ්\u200dරී", ""},
		{"joiner as an entity", "می&zwnj;روم &#8205;a می&zwnj; a", "می\u200cروم a می a", "zero_width:2"},
		{"joiners elsewhere", "a\u200cb \u200cمی\u200c می\u200c\u200cر 日\u200d本 1\u200c2 кот\u200cик", "ab می می\u200cر 日本 12 котик", "zero_width:7"},
		{"marks of order", "\ufeff# a\u200bb", "# ab", "zero_width:2"},
		{"nothing left", "\u200b\ufeff", "", "zero_width:2"},
	} {
		got, removed := Input(tt.in)
		if got != tt.want || strings.Join(removed, " ") != tt.removed {
			t.Errorf("%s:\ngot  %q %v\nwant %q %v", tt.name, got, removed, tt.want, tt.removed)
		}
		if twice, _ := Input(got); twice != got {
			t.Errorf("%s: not idempotent: %q", tt.name, twice)
		}
	}
}

// Every hidden character, in every place, is gone; what is seen is still there.
func TestHiddenTextCorpus(t *testing.T) {
	cases := 0
	for r := rune(0); r <= 0x10ffff; r++ {
		if hidden(r) == "" || r == '\r' || r > 0xf0010 || r >= 0xe010 && r < 0xf8f0 || r >= 0xd800 && r < 0xe000 {
			continue
		}
		cases++
		for _, in := range []string{"see" + string(r) + "n", "`see" + string(r) + "n`", fmt.Sprintf("see&#%d;n", r), fmt.Sprintf("see&#x%x;n", r)} {
			got, _ := Input(in)
			visible := strings.Map(func(c rune) rune {
				if c == ' ' || c == '`' {
					return -1
				}
				return c
			}, got)
			if visible != "seen" && !strings.Contains(in, "&#") || strings.ContainsRune(got, r) {
				t.Fatalf("%U in %q: %q", r, in, got)
			}
		}
	}
	if cases < 200 {
		t.Errorf("only %d", cases)
	}
}

func TestInputIsCut(t *testing.T) {
	for _, in := range []string{strings.Repeat("語", MaxInput+7), "`" + strings.Repeat("<!-- x -->", MaxInput/5) + "`", strings.Repeat("` ", MaxInput), strings.Repeat("<!--->`", MaxInput)} {
		got, removed := Input(in)
		if n := utf8.RuneCountInString(got); n > MaxInput || !utf8.ValidString(got) {
			t.Errorf("%d characters", n)
		}
		if cut := slices.ContainsFunc(removed, func(s string) bool { return strings.HasPrefix(s, "too_long:") }); cut != strings.HasSuffix(got, cutNote) {
			t.Error("a cut must be said in both places")
		}
		if twice, _ := Input(got); twice != got {
			t.Error("not idempotent after a cut")
		}
	}
	whole := strings.Repeat("\u200b", MaxInput) + strings.Repeat("x", MaxInput)
	if got, _ := Input(whole); got != strings.Repeat("x", MaxInput) {
		t.Error("hidden characters must not cost visible ones")
	}
}

func FuzzInput(f *testing.F) {
	for _, s := range []string{"a<!-- x -->b", "```\n<!-- x\n```", "> ```\n> x\ny", "- ```\n  <!--\n x", "&#8203;&#82\u200b03;", "<pre>\n`<!--`\n</pre>", "`a\n`<!--`", "1\ufe0f⃣👩\u200d💻", "[//]: # (x)", "<a b='`'>`<!--`", "<\u0338!--", "a|b\n-|-\n`|`"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once, _ := Input(s)
		if twice, _ := Input(once); twice != once {
			t.Errorf("%q\n→ %q\n→ %q", s, once, twice)
		}
		for _, r := range once {
			if h := hidden(r); h != "" && r != joiner && r != nonJoiner && r != asEmoji {
				t.Errorf("%U (%s) is left", r, h)
			}
		}
	})
}
