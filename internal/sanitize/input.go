package sanitize

import (
	"html"
	"strings"
	"unicode/utf8"

	"agent/internal/lazyregexp"
)

// inputPass walks over Markdown once, line by line, and knows just enough of it
// to tell code from text.
type inputPass struct {
	text   string
	counts map[string]int
	keep   bool // nothing visible may be dropped: take comments apart instead

	filter
	fence fence       // the open fenced block
	vague bool        // it is no longer certain what is in a fence: from here nothing is
	table bool        // there is a table, whose cells end code spans
	html  string      // what ends the open HTML block: "" none, "\n" a blank line, else a tag
	over  bool        // the HTML block ends with this line
	last  map[int]int // last position of backtick runs by length, in the line that ends at upTo
	upTo  int
	plain int // up to here nothing is a code span
}

var (
	htmlStart  = lazyregexp.New(`^(?:[ \t>]|[-*+][ \t]|[0-9]{1,9}[.)][ \t])*<(?:(pre|script|style|textarea)\b|[a-zA-Z/?!])`)
	definition = lazyregexp.New(`^(?:[ \t>]|[-*+][ \t]|[0-9]{1,9}[.)][ \t])*\[.*\]:`)
	maybeFence = lazyregexp.New("^(?:[ \\t>]|[-*+][ \\t]|[0-9]{1,9}[.)][ \\t])*(?:```|~~~)")
	mdComment  = lazyregexp.New(`^ {0,3}\[[^\]\n]*\]:[ \t]*(?:#|<>)[ \t]+["'(].*["')][ \t]*$`)
	tableRow   = lazyregexp.New(`(?m)^[ >\t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)+$`)
	htmlTag    = lazyregexp.New("^(?:<[A-Za-z][A-Za-z0-9-]*(?:[ \\t]+[A-Za-z_:][A-Za-z0-9_:.-]*(?:[ \\t]*=[ \\t]*(?:\"[^\"\\n]*\"|'[^'\\n]*'|[^ \\t\\n\"'=<>`]+))?)*[ \\t]*/?>|<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^ \\t\\n<>]*>)")
	language   = lazyregexp.New(`^ ?(?:suggestion:-[0-9]{1,3}\+[0-9]{1,3}|[A-Za-z0-9_+#.-]{0,32})`) // or the lines that a suggestion replaces
	entityForm = lazyregexp.New(`^&(?:#[0-9]{1,7};?|#[xX][0-9a-fA-F]{1,6};?|[A-Za-z][A-Za-z0-9]{1,31};)`)
)

func (p *inputPass) run() string {
	p.filter.counts = p.counts
	p.table = tableRow.MatchString(p.text)
	for i := 0; i < len(p.text); {
		if i == 0 || p.text[i-1] == '\n' {
			if next := p.lineStart(i); next > i {
				i = next
				continue
			}
		}
		i = p.step(i)
	}
	return p.out.String()
}

// lineStart handles lines that are code or a comment as a whole. It returns i if
// the line is ordinary text.
func (p *inputPass) lineStart(i int) int {
	end := i + len(line(p.text[i:]))
	text := strings.TrimSuffix(p.text[i:end], "\n")
	if p.over {
		p.html, p.over = "", false
	}
	switch {
	case p.fence.open():
		if p.fence.ends(text) {
			p.write(p.text[i:end])
			p.fence = fence{}
			return end
		}
		if p.fence.holds(text) {
			p.write(p.text[i:end])
			return end
		}
		p.vague = p.vague || p.fence.vague()
		p.fence = fence{}
		return p.lineStart(i)
	case p.html != "":
		p.endHTML(text)
	case strings.TrimSpace(text) == "":
	case !p.vague && opens(text).open():
		p.fence = opens(text)
		p.opening(p.text[i:end])
		return end
	case mdComment.MatchString(text):
		if p.keep {
			p.write(`\`)
			return i + p.copyByte(i)
		}
		p.counts["markdown_comment"]++
		return end
	default:
		p.startHTML(text)
		if maybeFence.MatchString(text) || definition.MatchString(text) {
			p.plain = max(p.plain, end) // nobody may see this line: nothing in it is certain to be code
		}
	}
	return i
}

// opening writes the first line of a block. Of what follows the mark nobody sees
// more than a language's name, or the lines that a suggestion replaces.
func (p *inputPass) opening(l string) {
	n := strings.Index(l, p.fence.mark) + len(p.fence.mark)
	n += len(language.FindString(l[n:]))
	p.write(l[:n])
	if rest := strings.TrimSpace(l[n:]); rest != "" {
		p.counts["info_string"]++
	}
	if strings.HasSuffix(l, "\n") {
		p.write("\n")
	}
}

// startHTML notes that Markdown does not count in the lines from here.
func (p *inputPass) startHTML(text string) {
	m := htmlStart.FindStringSubmatch(strings.ToLower(text))
	switch {
	case m == nil:
	case m[1] == "":
		p.html = "\n"
	default:
		p.html = "</" + m[1]
		p.endHTML(text)
	}
}

// endHTML ends the block: at a blank line at once, at a closing tag after its line.
func (p *inputPass) endHTML(text string) {
	switch {
	case p.html != "\n":
		p.over = strings.Contains(strings.ToLower(text), p.html)
	case strings.TrimSpace(text) == "":
		p.html = ""
	}
}

// step handles what begins at i and returns where it ends.
func (p *inputPass) step(i int) int {
	s := p.text[i:]
	switch {
	case s[0] == '\\' && p.html == "" && i >= p.plain && len(s) > 1 && (s[1] == '`' || s[1] == '<' || s[1] == '\\'):
		p.write(s[:2])
		return i + 2
	case s[0] == '`':
		n := leading(s, '`')
		if end := p.span(i, n); end > 0 {
			n = end - i
		}
		p.write(s[:n])
		return i + n
	case strings.HasPrefix(s, "<!--") && p.keep:
		p.write("<! ")
		return i + 2
	case strings.HasPrefix(s, "<!--"):
		p.counts["html_comment"]++
		return i + comment(s)
	case s[0] == '<':
		return i + p.tag(s)
	case s[0] == '&':
		return i + p.entity(s)
	}
	n := strings.IndexAny(s[1:], "\\`<&\n") + 1
	if n == 0 {
		n = len(s)
	} else if s[n] == '\n' {
		n++
	}
	if s[0] == '\n' {
		n = 1
	}
	p.write(s[:n])
	return i + n
}

// copyByte writes the ASCII byte at i.
func (p *inputPass) copyByte(i int) int {
	p.write(p.text[i : i+1])
	return 1
}

// comment is the length of the HTML comment at the start of s. One without an end goes on to the end.
func comment(s string) int {
	for _, short := range []string{"<!-->", "<!--->"} {
		if strings.HasPrefix(s, short) {
			return len(short)
		}
	}
	end := len(s)
	for _, mark := range []string{"-->", "--!>"} {
		if i := strings.Index(s[4:end], mark); i >= 0 {
			end = 4 + i + len(mark)
		}
	}
	return end
}

// entity handles a character reference: one to a hidden character is dropped.
func (p *inputPass) entity(s string) int {
	ref := entityForm.FindString(s[:min(len(s), 40)])
	class, decoded := "", html.UnescapeString(ref)
	for _, r := range decoded {
		if class = hidden(r); class == "" {
			break
		}
	}
	first, _ := utf8.DecodeRuneInString(decoded)
	switch {
	case class == "zero_width" && p.needed(first, s[len(ref):]):
		p.write(decoded + s[len(ref):][:nextRune(s[len(ref):])])
		return len(ref) + nextRune(s[len(ref):])
	case class == "":
		p.write("&")
		return 1
	case p.keep:
		p.write("& ")
		return 1
	}
	p.counts[class]++
	return len(ref)
}

// nextRune is the length of the character at the start of s.
func nextRune(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return n
}

// tag handles a tag. One that holds what could open code or a comment is
// dropped: its attributes are no code, and nobody sees them.
func (p *inputPass) tag(s string) int {
	tag := htmlTag.FindString(line(s))
	switch {
	case !strings.Contains(tag, "`") && !strings.Contains(tag, "<!--"):
		p.write("<")
		return 1
	case p.keep:
		p.write("< ")
		return 1
	}
	p.counts["html_tag"]++
	return len(tag)
}

// span is the end of the code span that the n backticks at i open, 0 if they open
// none. A span ends with its line here: the next line may begin another block.
func (p *inputPass) span(i, n int) int {
	if p.html != "" || i < p.plain {
		return 0
	}
	if i >= p.upTo {
		p.upTo = i + len(line(p.text[i:]))
		p.last = lastRuns(p.text[:p.upTo], i)
	}
	end := 0
	if p.last[n] > i && !inAddress(p.text[:i]) {
		end = closingRun(p.text[:p.upTo], i+n, n)
	}
	if end == 0 || p.table && strings.Contains(p.text[i:end], "|") {
		p.plain = i + paragraph(p.text[i:]) // it may open a span that ends in another line, or an address may swallow it
		return 0
	}
	return end
}

// inAddress tells whether s ends in an address, which may swallow backticks.
func inAddress(s string) bool {
	word := s[strings.LastIndexAny(s, " \t\n")+1:]
	return strings.Contains(word, "://") || strings.Contains(strings.ToLower(word), "www.")
}

// paragraph is the length of s up to the first blank line.
func paragraph(s string) int {
	n := 0
	for n < len(s) {
		l := line(s[n:])
		n += len(l)
		if strings.TrimSpace(l) == "" {
			break
		}
	}
	return n
}

// closingRun is the end of the next run of exactly n backticks from i on, or 0.
func closingRun(s string, i, n int) int {
	for i < len(s) {
		k := leading(s[i:], '`')
		if k == n {
			return i + k
		}
		i += max(k, 1)
	}
	return 0
}

// lastRuns finds the last run of backticks of each length from i on.
func lastRuns(s string, i int) map[int]int {
	last := map[int]int{}
	for i < len(s) {
		n := leading(s[i:], '`')
		if n > 0 {
			last[n] = i
		}
		i += max(n, 1)
	}
	return last
}

// line is the first line of s with its line end.
func line(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return s[:i+1]
	}
	return s
}

// leading counts how often c stands at the start of s.
func leading(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}
