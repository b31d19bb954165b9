package sanitize

import (
	"html"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"agent/internal/lazyregexp"
)

// Output makes a text that a model wrote fit to be posted in our name: it loads
// and links nothing but pages of allowHosts (host or host:port), notifies nobody, closes nothing and
// commands no other bot. What it takes apart is shown as code, or escaped. The
// content of code stays as it is, but for hidden characters, and a space before
// commands.
func Output(s string, allowHosts []string) string {
	o := output{allow: allowHosts}
	text := visible(s)
	o.table = tableRow.MatchString(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if i > 0 {
			o.out.WriteByte('\n')
		}
		o.line(l)
	}
	if o.fence.open() {
		o.out.WriteString(o.fence.closing())
	}
	return o.out.String()
}

// Inline is Output for a text that becomes part of a line. It is one line itself,
// and opens no block of code: where it will stand, a fence would be text, and what
// follows it live.
func Inline(s string, allowHosts []string) string {
	o := output{allow: allowHosts}
	o.text(strings.Join(strings.Fields(visible(s)), " "))
	return o.out.String()
}

// visible is a text without hidden characters, with one kind of line ends, in normal form.
func visible(s string) string {
	f := filter{counts: map[string]int{}}
	f.write(norm.NFC.String(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(s, "\ufffd"))))
	return norm.NFC.String(f.out.String())
}

// output writes safe Markdown, line by line.
type output struct {
	out   strings.Builder
	allow []string
	fence fence
	table bool // there is a table, whose cells end code spans
	blank bool // the last line was blank
}

// closing is what ends an open block at the end of a text.
func (f fence) closing() string { return "\n" + f.prefix + f.mark }

func (o *output) line(l string) {
	blank := o.blank || o.out.Len() == 0
	o.blank = strings.TrimSpace(l) == ""
	if !o.fence.open() {
		if o.fence = openFence(l); o.fence.open() {
			if !blank && (len(o.fence.prefix) > 3 || !strings.HasPrefix(l, o.fence.prefix)) {
				o.out.WriteByte('\n') // or it could be part of a paragraph, and its content live text
			}
			o.out.WriteString(l)
			return
		}
		o.text(l)
		return
	}
	// A line outside of the list item or quote would end the block there: put it inside.
	if !o.fence.holds(l) {
		l = o.fence.prefix + strings.TrimLeft(l, " >")
	}
	if command.MatchString(l) {
		l = " " + l
	}
	o.out.WriteString(l)
	if o.fence.ends(l) {
		o.fence = fence{}
	}
}

// command is a line that commands a forge or a bot. Some of them look for it in the
// source of a text, and know few of the ways to write code.
var command = lazyregexp.New(`^/[A-Za-z_]+(?:[ \t]|$)`)

// text writes one line that is not in a block of code.
func (o *output) text(l string) {
	l = decode(l)
	if at := deepTildes.FindStringIndex(l); at != nil {
		l = l[:at[1]-3] + `\` + l[at[1]-3:] // no fence to us, perhaps one to the forge
	}
	indent := len(l) - len(strings.TrimLeft(l, " \t"))
	if strings.HasPrefix(l[indent:], "/") {
		o.out.WriteString(l[:indent] + `\/`)
		l = l[indent+1:]
	}
	for i := 0; i < len(l); {
		i += o.step(l, i)
	}
}

// step writes what begins at l[i] and returns its length.
func (o *output) step(l string, i int) int {
	s := l[i:]
	switch s[0] {
	case '`':
		return o.backticks(l, i)
	case '\\':
		return o.backslash(s)
	case '<':
		o.out.WriteString("&lt;")
		return 1
	case '!':
		if m := image.FindStringSubmatch(s); m != nil {
			o.code(strings.TrimSpace(m[1] + " (" + m[2] + ")"))
			return len(m[0])
		}
		if strings.HasPrefix(s, "![") {
			o.out.WriteString("! ")
			return 1
		}
	case ']':
		return o.bracket(s)
	case '&':
		if at := charRef.FindStringIndex(s[:min(len(s), 40)]); at != nil && at[0] == 0 {
			o.out.WriteString(s[:at[1]])
			return at[1]
		}
	}
	if n := o.live(l, i); n > 0 {
		return n
	}
	_, n := utf8.DecodeRuneInString(s)
	o.out.WriteString(s[:n])
	return n
}

// backticks keeps a code span, and escapes backticks that open none.
func (o *output) backticks(l string, i int) int {
	n := leading(l[i:], '`')
	end := closingRun(l, i+n, n)
	if end == 0 || o.table && strings.Contains(l[i:end], "|") {
		o.out.WriteString(strings.Repeat("&#96;", n))
		return n
	}
	o.span(l[i:end])
	return end - i
}

// backslash keeps an escape unless it hides from us what the forge would see.
func (o *output) backslash(s string) int {
	switch {
	case len(s) == 1:
		o.out.WriteString(`\`)
	case s[1] == '`':
		o.out.WriteString("&#96;")
		return 2
	case strings.IndexByte(`<@#!&[]`, s[1]) >= 0:
		return 1
	case strings.IndexByte("\"'()*+,-./:;=>?\\^_{|}~%$", s[1]) >= 0:
		o.out.WriteString(s[:2])
		return 2
	default:
		o.out.WriteString(`\`)
	}
	return 1
}

// bracket keeps ](…) to an allowed page. Without "](" there is no link, and
// without "]:" no definition of one.
func (o *output) bracket(s string) int {
	m := target.FindStringSubmatch(s)
	switch {
	case m != nil && o.allowed(m[1]) && certain.MatchString(m[1]):
		o.out.WriteString(m[0])
		if !alone(s[len(m[0]):]) {
			o.out.WriteByte(' ') // without a [ before, this is a bare address
		}
		return len(m[0])
	case m != nil:
		o.out.WriteString("] (")
		o.code(m[1])
		o.out.WriteString(")")
		return len(m[0])
	case strings.HasPrefix(s, "]("), strings.HasPrefix(s, "]:"):
		o.out.WriteString("] ")
		return 1
	}
	o.out.WriteString("]")
	return 1
}

var (
	image  = lazyregexp.New("^!\\[([^\\[\\]`]*)\\]\\([ \\t]*<?([^()<>`\\s]*)>?(?:[ \\t]+\"[^\"`]*\")?[ \\t]*\\)")
	target = lazyregexp.New("^\\]\\(([^()<>`\\s\\\\]+)\\)")

	address = lazyregexp.New("^(?i:(?:https?|ftp)://|www\\.)[^\\s<>`\\\\\\[\\](){}\"'|*]+")
	scheme  = lazyregexp.New("^(?i:javascript|vbscript|data|file|mailto):[^\\s`]+")
	mention = lazyregexp.New(`^@[A-Za-z0-9_][A-Za-z0-9_./-]*`)
	number  = lazyregexp.New(`^(?:[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)*)?[#!&][0-9]+|^(?i:GH)-[0-9]+`)
	closes  = lazyregexp.New(`^(?i:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?)\b[ \t]*:?[ \t]+`)
	// certain is an address in which nobody can see the beginning of another one.
	certain   = lazyregexp.New(`^https?://[A-Za-z0-9.:\[\]-]+(?:/(?:[A-Za-z0-9_.#?=&%+-]+/?)*)?$`)
	reference = lazyregexp.New("^(?i:https?)://[^\\s<>`\\\\]+")
)

const (
	maxReference = 300 // bytes; longer than any owner, repository and number
	// trailing is what ends a sentence, not an address.
	trailing = ".,:;!?'\")]}*_~"
)

// live writes what the forge would act upon, as code. It returns 0 if there is nothing.
func (o *output) live(l string, i int) int {
	s := l[i:]
	if i > 0 && word(l[i-1]) && !strings.HasSuffix(o.out.String(), "`") { // after code a word begins
		return 0
	}
	if m := strings.TrimRight(token(s), trailing); len(m) > 1 {
		o.code(m)
		return len(m)
	}
	if strings.IndexByte("hHfFwWcCrRiI", s[0]) < 0 { // nothing below begins otherwise
		return 0
	}
	if m := strings.TrimRight(address.FindString(s), trailing); m != "" {
		if o.allowed(m) && certain.MatchString(m) && alone(s[len(m):]) && (i == 0 || strings.IndexByte(" \t(", l[i-1]) >= 0) {
			o.out.WriteString(m)
		} else {
			o.code(m)
		}
		return len(m)
	}
	verb := closes.FindString(s)
	if verb == "" {
		return 0
	}
	ref := number.FindString(s[len(verb):min(len(s), len(verb)+maxReference)])
	if ref == "" {
		ref = strings.TrimRight(reference.FindString(s[len(verb):]), trailing)
	}
	if ref == "" {
		return 0
	}
	o.code(verb + ref)
	return len(verb) + len(ref)
}

// alone tells whether an address ends before rest. A forge takes everything up to
// a space for the address, even code.
func alone(rest string) bool {
	rest = strings.TrimLeft(rest, trailing)
	return rest == "" || rest[0] == ' ' || rest[0] == '\t'
}

// token is what is live by itself at the start of s. Expressions run only where
// they can match: a text has many words.
func token(s string) string {
	if s[0] == '@' {
		return mention.FindString(s)
	}
	near := s[:min(len(s), maxReference)]
	n := 0
	for n < len(near) && (word(near[n]) || strings.IndexByte("./-", near[n]) >= 0) {
		n++
	}
	if n < len(near) && strings.IndexByte("#!&", near[n]) >= 0 || near[0] == 'G' || near[0] == 'g' {
		if m := number.FindString(near); m != "" {
			return m
		}
	}
	if n > 0 && n < len(near) && near[n] == ':' {
		return scheme.FindString(s)
	}
	return ""
}

func word(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (o *output) allowed(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.User == nil &&
		slices.ContainsFunc(o.allow, func(host string) bool { return strings.EqualFold(host, u.Host) })
}

// code writes s, which holds no backtick, as a code span.
func (o *output) code(s string) {
	if o.table {
		s = strings.ReplaceAll(s, "|", "¦") // or it would end the cell
	}
	o.span("`" + s + "`")
}

// span writes a code span so that nothing before it can open or escape it.
func (o *output) span(s string) {
	before := o.out.String()
	switch {
	case strings.HasSuffix(before, "`"), strings.HasPrefix(s, "`@") && before != "" && !strings.ContainsAny(before[len(before)-1:], " \t\n([>|"):
		o.out.WriteByte(' ') // the latter could be taken for an address of mail
	case (len(before)-len(strings.TrimRight(before, `\`)))%2 == 1:
		o.out.WriteByte('\\')
	}
	o.out.WriteString(s)
}

// deepTildes is a line that could be a fence, with tabs and containers of any kind.
var deepTildes = lazyregexp.New(`^(?:[ \t>]|[-*+][ \t]|[0-9]{1,9}[.)][ \t])*~~~`)

var charRef = lazyregexp.New(`&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});?`)

// decode replaces references to characters that a forge acts upon: it looks for
// them after rendering.
func decode(l string) string {
	for {
		next := charRef.ReplaceAllStringFunc(l, func(ref string) string {
			c := html.UnescapeString(ref)
			if len(c) == 1 && (word(c[0]) || strings.Contains("@#/:.-!", c)) || hidden(firstRune(c)) != "" {
				return strings.TrimFunc(c, func(r rune) bool { return hidden(r) != "" })
			}
			return ref
		})
		if next == l {
			return l
		}
		l = next
	}
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}
