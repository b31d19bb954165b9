package sanitize

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// concealed are ways to write SECRET (one word) into a source whose page does not show it.
var concealed = []string{
	`[//]: # (SECRET)`, `[comment]: <> (SECRET)`, `[SECRET]: https://x.example`, `[a]: https://x.example "SECRET"`, "[a]: https://x.example\n  'SECRET'",
	"[a]:\nhttps://x.example\n\"SECRET\"", `[a]: <SECRET and more>`, "[a]: /u 'one\nSECRET\ntwo'", `   [b]: /u (SECRET)`, `[SECRET and more]: /u`,
	`[^1]: SECRET`, "[^1]: a\n    SECRET", "[^1]:\n    SECRET", "[^1]: a\n\n    SECRET", `[^SECRET]: a`, "[^1]: see [^2]\n\n[^2]: SECRET", "[^1]: ```\n    SECRET\n    ```",
	`<!-- SECRET -->`, "<!--\nSECRET\n\nmore\n-->", `<!-- SECRET --!>`, `<!-- SECRET`, `<?SECRET?>`, "<?php\nSECRET\n?>", `<!DOCTYPE SECRET>`, `<!ELEMENT SECRET>`, `<![CDATA[SECRET]]>`, "<![CDATA[\nSECRET\n]]>",
	`<div></ SECRET></div>`, "<div>\n</ SECRET>\n</div>", `<div><!SECRET></div>`, `<div><?SECRET></div>`,
	`<span title="SECRET">x</span>`, `<img alt="SECRET" src=x>`, `<img src="x?SECRET">`, `<a href="x" title='SECRET'>x</a>`, `<a SECRET>x</a>`, `<div data-x="SECRET">x</div>`, "<div\n title=\"SECRET\"\n>x</div>", `<p hidden class=SECRET>x</p>`,
	`<SECRET>x</SECRET>`, `<secret-tag SECRET/>`, `<x-SECRET>`, "<div>\n<SECRET>\n</div>",
	`<script>SECRET</script>`, "<script>\nSECRET\n\nSECRET\n</script>", `<style>SECRET</style>`, "<style>\n.a { SECRET }\n</style>", `<template>SECRET</template>`, "<template>\n\nSECRET\n\n</template>",
	"<template>\n\n# SECRET\n\n- SECRET\n\n```\nSECRET\n```\n\n</template>", "<template><template></template>SECRET</template>", "<template>\n\n|SECRET|a|\n|-|-|\n|b|SECRET|\n\n</template>",
	`x <script>SECRET</script> y`, `x <style>SECRET</style> y`, `x <template>SECRET</template> y`, `x <template>**SECRET** and [SECRET](u)</template> y`, "x <template>a\n\nSECRET\n\n</template> y",
	`<title>SECRET</title>`, `<iframe>SECRET</iframe>`, `<noscript>SECRET</noscript>`, `<object>SECRET</object>`, `<video>SECRET</video>`, `<noembed>SECRET</noembed>`, `<noframes>SECRET</noframes>`, `<canvas>SECRET</canvas>`,
	`<svg><title>SECRET</title></svg>`, `<datalist><option>SECRET</option></datalist>`, `<dialog>SECRET</dialog>`, "<div><template>\n\nSECRET\n\n</template></div>",
	"<div><!--\n\nSECRET\n\n<b>--></b></div>", "<div title=\"\n\nSECRET\n\n\"></div>", "<div><span a='\n\nSECRET\n\n'></span></div>",
	`[x](u "SECRET")`, `[x](u 'SECRET')`, `[x](u (SECRET))`, "[x](u\n\"SECRET\")", `[x](<u> "SECRET")`, `[](SECRET)`, `[ ](SECRET)`, `[x](<SECRET and more>)`, `[x](a%20SECRET%20b)`, `[x](a+SECRET)`,
	`![SECRET](u)`, `![a](u "SECRET")`, `![SECRET][a]` + "\n\n[a]: u", `[![SECRET](u)](v)`, `![**SECRET**](u)`, "![a\nSECRET](u)", `![a](<u SECRET>)`,
	"[x][SECRET]\n\n[SECRET]: u", "[x][a]\n\n[a]: u 'SECRET'", "[x][a]\n\n[a]: <u SECRET>", "x[^SECRET]\n\n[^SECRET]: y",
	"| a |\n|---|\n| b | SECRET |", "a|b\n-|-\nc|d|SECRET", "| a |\n|---|\n| b | c | SECRET | e |",
	"```go SECRET\nx\n```", "~~~ go SECRET\nx\n~~~", "```js title=\"SECRET\"\nx\n```",
	"S\u200bE\u200bC<!-- SECRET -->", `a&#8203;b <!-- SECRET -->`,
}

// frames are where they stand.
var frames = []struct{ name, before, after, prefix string }{
	{"alone", "", "", ""},
	{"between paragraphs", "before\n\n", "\n\nafter", ""},
	{"in a quote", "> before\n>\n", "\n>\n> after", "> "},
	{"in a list item", "- before\n\n", "\n\n  after", "  "},
}

// TestRenderedHides: none of more than 200 concealed texts is left, and what
// stands before and after is, unless HTML without an end swallows what follows.
func TestRenderedHides(t *testing.T) {
	cases := 0
	for _, frame := range frames {
		for _, text := range concealed {
			cases++
			in := frame.before + frame.prefix + strings.ReplaceAll(text, "\n", "\n"+frame.prefix) + frame.after
			got, removed := Rendered(in)
			if strings.Contains(strings.ToUpper(got), "SECRET") || len(removed) == 0 {
				t.Errorf("%s: %q\nleft %q, %v", frame.name, in, got, removed)
			}
			if frame.before != "" && !strings.Contains(got, "before") {
				t.Errorf("%s: %q lost what stands before: %q", frame.name, in, got)
			}
			if strings.Contains(frame.after, "after") && !strings.Contains(got, "after") && text != `<!-- SECRET` && !strings.Contains(text, "<div><!--\n") {
				t.Errorf("%s: %q lost what stands after: %q", frame.name, in, got)
			}
		}
	}
	if cases < 200 {
		t.Errorf("only %d cases", cases)
	}
	t.Logf("%d cases", cases)
}

func TestRenderedKeeps(t *testing.T) {
	for _, same := range []string{
		"", "Hello, 世界!\n\tx", "# A `b` *c* __d__\n\nSetext\n===\n\n- [ ] a\n- [x] b\n1. c\n\n   d\n\n> q\n> > r\n\n---\n***\n", "a  \nb\\\nc\n",
		"[a](https://x.example/y?z=1#w) and <https://x.example> and www.x.example", "| a | b |\n|:--|--:|\n| c | `d` |\n| e |\n", "~~a~~ 1 < 2 && 3 > 2 a_b_c \\*d\\* &copy;",
		"```html\n<!-- seen -->\n<script>seen</script>\n[a]: seen \"seen\"\n```\n", "    [a]: seen \"seen\"\n    <template>seen</template>\n", "`<!-- seen -->` `[a](b \"seen\")` ``<script>`seen`` x", "- ```\n  [^1]: seen\n  ```\n",
		"<details>\n<summary>a</summary>\n\nb\n\n</details>\n", "a\n1.\n2.\nb\n", "not a [link] nor [^note] nor x]: y", "a \\<!-- seen --> b", "1. a\n   - b\n     ```\n     c\n     ```\n", "> [!NOTE]\n> a\n", "a\n[b]: seen in a paragraph\n",
	} {
		if got, removed := Rendered(same); got != same || len(removed) > 0 {
			t.Errorf("%q\nbecame %q, %v", same, got, removed)
		}
	}
	for in, want := range map[string]string{
		"see [the *log*][1] and [1]\n\n[1]: https://x.example/a 'title'\n": "see [the *log*](https://x.example/a) and [1](https://x.example/a)\n\n",
		"a[^x] b\n\n[^x]: note\n":                             "a[^1] b\n\n[^1]: note\n",
		"> ![alt](a.png) b\n> `c` <b class=x>d</b>\n":         "> ![image](a.png) b\n> `c` <b>d</b>\n",
		"<div align=\"center\">\n  text &amp; more\n</div>\n": "<div>\n  text &amp; more\n</div>\n",
		"- [x] do ![a](b)\n":                                  "- [x] do ![image](b)\n",
		"| a |\n|---|\n| `b` <i id=x>c</i> |\n":               "| a |\n|---|\n| `b` <i>c</i> |\n",
		"a <b title=x>b</b>  \nc <https://x.example>\n":       "a <b>b</b>  \nc <https://x.example>\n",
	} {
		if got, _ := Rendered(in); got != want {
			t.Errorf("%q\nbecame %q\nwant   %q", in, got, want)
		}
	}
}

// TestRenderedLeavesPlainText: text without marks is kept byte by byte.
func TestRenderedLeavesPlainText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[A-Za-z0-9äß世界,.;?%()"'-]{1,9}`)
		s := strings.Join(rapid.SliceOf(word).Draw(t, "words"), rapid.SampledFrom([]string{" ", "\n", "\n\n"}).Draw(t, "between"))
		if got, removed := Rendered(s); got != s || len(removed) > 0 {
			t.Fatalf("%q became %q, %v", s, got, removed)
		}
	})
}

// TestRenderedTakesDeepNesting: these take minutes without the bound on nesting and with emphasis.
func TestRenderedTakesDeepNesting(t *testing.T) {
	for _, unit := range []string{"> ", "[", "![", "*a_ ", "- ", "1. ", "<b ", "<!--", "[^1]", "`", "|a", "<template>", "[a]: b\n"} {
		if got, _ := Rendered(strings.Repeat(unit, 64<<10/len(unit))); strings.Contains(got, "> > >") {
			t.Errorf("%q is left", unit)
		}
	}
}

func FuzzRendered(f *testing.F) {
	for _, s := range concealed {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, _ := Rendered(s)
		for _, r := range got {
			if h := hidden(r); h != "" && r != joiner && r != nonJoiner && r != asEmoji {
				t.Errorf("%U (%s) is left", r, h)
			}
		}
	})
}
