package snapshot

import (
	"bytes"
	"strings"
)

// rules are those of one .gitignore.
type rules struct {
	base string // its directory: "" or a path that ends in a slash
	list []rule
}

type rule struct {
	glob    string
	literal int  // bytes before the first special character
	include bool // it began with !
	dir     bool // only of directories
	name    bool // it has no slash: the last element of a path is compared
}

// maxIgnore is how many bytes of a .gitignore are read; git reads all.
const maxIgnore = 1 << 20

func parseIgnore(base string, text []byte) rules {
	r := rules{base: base}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	for line := range strings.SplitSeq(string(text), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if line == "" || line[0] == '#' {
			continue
		}
		var x rule
		line = trimSpaces(line)
		line, x.include = strings.CutPrefix(line, "!")
		line, x.dir = strings.CutSuffix(line, "/")
		if line == "" {
			continue
		}
		x.glob, x.name = line, !strings.Contains(line, "/")
		if x.literal = strings.IndexAny(line, `*?[\`); x.literal < 0 {
			x.literal = len(line)
		}
		r.list = append(r.list, x)
	}
	return r
}

// trimSpaces cuts spaces at the end, but for one after a backslash.
func trimSpaces(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && i+1 >= len(line):
			return line
		case line[i] == '\\':
			i++
			end = i + 1
		case line[i] != ' ':
			end = i + 1
		}
	}
	return line[:end]
}

// ignored reports whether the rules of the directories above a path, the outermost
// first, exclude it. No directory above it is excluded.
func ignored(all []rules, path string, dir bool) bool {
	for i := len(all) - 1; i >= 0; i-- {
		r := &all[i]
		for k := len(r.list) - 1; k >= 0; k-- {
			if r.list[k].matches(strings.TrimPrefix(path, r.base), dir) {
				return !r.list[k].include
			}
		}
	}
	return false
}

func (r *rule) matches(path string, dir bool) bool {
	if r.dir && !dir {
		return false
	}
	if r.name {
		path = path[strings.LastIndexByte(path, '/')+1:]
		if r.literal == len(r.glob) {
			return path == r.glob
		}
		return wild(r.glob, path, false)
	}
	glob, literal := r.glob, r.literal
	if glob[0] == '/' {
		glob, literal = glob[1:], literal-1
	}
	// What stands before the first special character is cut off, as git does: a ** after
	// it counts as one at the beginning.
	if len(path) < literal || path[:literal] != glob[:literal] {
		return false
	}
	glob, path = glob[literal:], path[literal:]
	if glob == "" {
		return path == ""
	}
	return wild(glob, path, true)
}

// wild compares as git does. With paths, * and ? match no slash, and ** does.
func wild(glob, text string, paths bool) bool {
	steps := maxSteps
	return (&matcher{paths, &steps}).match(glob, text, true) == yes
}

// maxSteps bounds the work for one path: whoever wrote the pattern is not trusted.
const maxSteps = 1 << 16

type matcher struct {
	paths bool
	steps *int
}

type answer int

const (
	no         answer = iota
	yes        answer = iota
	never             // nor will it from any later place in the text
	neverUntil        // nor will it before a ** takes over
)

// match is yes if the whole text fits. first is true where glob begins, so that a **
// there is like one after a slash.
func (m *matcher) match(glob, text string, first bool) answer {
	before := byte('/') // the character before glob[i]
	if !first {
		before = 0
	}
	t := 0
	for i := 0; i < len(glob); i++ {
		if *m.steps--; *m.steps < 0 {
			return never
		}
		c := glob[i]
		if t >= len(text) && c != '*' {
			return never
		}
		switch c {
		case '*':
			return m.star(glob, text[t:], i, before)
		case '?':
			if m.paths && text[t] == '/' {
				return no
			}
		case '[':
			end, in := class(glob[i:], text[t])
			if end < 0 {
				return never
			}
			if !in || m.paths && text[t] == '/' {
				return no
			}
			i += end
		case '\\':
			i++
			if i >= len(glob) || glob[i] != text[t] {
				return no
			}
		default:
			if c != text[t] {
				return no
			}
		}
		before = glob[i]
		t++
	}
	if t < len(text) {
		return no
	}
	return yes
}

// star goes on at the * at glob[i], which stands after the character before.
func (m *matcher) star(glob, text string, i int, before byte) answer {
	slashes := !m.paths
	next := i + 1
	if next < len(glob) && glob[next] == '*' {
		for next < len(glob) && glob[next] == '*' {
			next++
		}
		left := glob[next:]
		if m.paths && (before == '/') && (left == "" || left[0] == '/' || strings.HasPrefix(left, `\/`)) {
			if left != "" && left[0] == '/' && m.match(left[1:], text, true) == yes {
				return yes
			}
			slashes = true
		}
	}
	left := glob[next:]
	if left == "" {
		if !slashes && strings.Contains(text, "/") {
			return neverUntil
		}
		return yes
	}
	if !slashes && left[0] == '/' {
		at := strings.IndexByte(text, '/')
		if at < 0 {
			return neverUntil
		}
		return m.match(left[1:], text[at+1:], true)
	}
	for ; text != ""; text = text[1:] {
		switch a := m.match(left, text, false); {
		case a == yes, a == never, a == neverUntil && !slashes:
			return a
		case a == no && !slashes && text[0] == '/':
			return neverUntil
		}
	}
	return never
}

// class says whether c is in the class at the start of glob, and where that ends; -1: nowhere.
func class(glob string, c byte) (end int, in bool) {
	i, negated := 1, false
	if i < len(glob) && (glob[i] == '!' || glob[i] == '^') {
		negated = true
		i++
	}
	last := byte(0)
	for first := true; ; first = false {
		if i >= len(glob) {
			return -1, false
		}
		if glob[i] == ']' && !first {
			return i, in != negated
		}
		switch {
		case glob[i] == '\\':
			if i++; i >= len(glob) {
				return -1, false
			}
			in = in || c == glob[i]
			last = glob[i]
		case glob[i] == '-' && last != 0 && i+1 < len(glob) && glob[i+1] != ']':
			if i++; glob[i] == '\\' {
				if i++; i >= len(glob) {
					return -1, false
				}
			}
			in = in || last <= c && c <= glob[i]
			last = 0
		case strings.HasPrefix(glob[i:], "[:"):
			n := strings.IndexByte(glob[i+2:], ']')
			if n < 0 {
				return -1, false
			}
			name, named := strings.CutSuffix(glob[i+2:i+2+n], ":")
			if !named || n == 0 { // no class after all: the bracket is one of the characters
				in = in || c == '['
				last = '['
				break
			}
			of, known := classes[name]
			if !known {
				return -1, false
			}
			in = in || of(c)
			last = 0
			i += 2 + n
		default:
			in = in || c == glob[i]
			last = glob[i]
		}
		i++
	}
}

func between(low, high byte) func(byte) bool {
	return func(c byte) bool { return low <= c && c <= high }
}

func either(all ...func(byte) bool) func(byte) bool {
	return func(c byte) bool {
		for _, of := range all {
			if of(c) {
				return true
			}
		}
		return false
	}
}

var (
	isDigit = between('0', '9')
	isLower = between('a', 'z')
	isUpper = between('A', 'Z')
	isAlpha = either(isLower, isUpper)
	isAlnum = either(isAlpha, isDigit)
	isGraph = between('!', '~')
)

var classes = map[string]func(byte) bool{
	"alnum": isAlnum, "alpha": isAlpha, "digit": isDigit, "lower": isLower, "upper": isUpper, "graph": isGraph,
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"cntrl":  either(between(0, 31), between(127, 127)),
	"print":  between(' ', '~'),
	"punct":  func(c byte) bool { return isGraph(c) && !isAlnum(c) },
	"space":  func(c byte) bool { return strings.IndexByte(" \t\n\v\f\r", c) >= 0 },
	"xdigit": either(isDigit, between('a', 'f'), between('A', 'F')),
}
