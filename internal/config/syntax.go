package config

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

var (
	yamlLine  = regexp.MustCompile(`line (\d+): (.*)`)
	tabIndent = regexp.MustCompile(`^ *\t`)
)

// causes are what the parser says, and what it means to somebody who writes a file.
var causes = []struct{ says, means string }{
	{"unknown anchor", "a * before something that no & names: put a value that begins with * in quotes"},
	{"cannot start any token", "a value must not begin with @, ` or %: put it in quotes"},
	{"quoted scalar", "a quote is opened here and not closed"},
	{"unexpected end of stream", "a quote is opened here and not closed"},
	{"',' or '}'", "a { is not closed, or a comma is missing"},
	{"',' or ']'", "a [ is not closed, or a comma is missing"},
	{"mapping values are not allowed", "a second \": \" in one value, or a wrong indentation: put a value that holds \": \" in quotes"},
	{"could not find expected ':'", "a key without \": \" and a value"},
	{"did not find expected key", "this line does not fit to those before it: compare the indentation"},
	{"did not find expected '-' indicator", "this line does not fit to the list before it: compare the indentation"},
}

// syntax reports an error of the YAML parser in words that hold no value: the
// parser's own text may quote what it found.
func (d *decoder) syntax(raw []byte, err error) {
	for i, line := range bytes.Split(raw, []byte("\n")) {
		if tabIndent.Match(line) {
			d.fail(i+1, "a tab in the indentation: use spaces")
			return
		}
	}
	line, text := 1, err.Error()
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = m[2]
	}
	text = inWords(strings.TrimPrefix(text, "yaml: "))
	if found, open := firstBad(raw); found > 0 {
		line = found
		if open {
			text = "a { or [ is opened here and not closed"
		}
	}
	d.fail(line, "not valid YAML: %s", text)
}

func inWords(text string) string {
	for _, c := range causes {
		if strings.Contains(text, c.says) {
			return c.means
		}
	}
	if strings.ContainsAny(text, "'\"`\n") {
		return "a reference to something unknown, or a character that is not allowed here"
	}
	return text
}

// Files beyond these are not searched: each line costs a parse of what is before it.
const (
	searchLines = 1000
	searchBytes = 64 << 10
)

// firstBad is the line that makes a file bad, 0 if it is not searched for: the one
// after the longest beginning that is good. The parser itself names the beginning
// of the section, or the place where it gave up. open tells whether the line has
// more brackets that open than close.
func firstBad(raw []byte) (line int, open bool) {
	lines := bytes.SplitAfter(raw, []byte("\n"))
	if len(raw) > searchBytes || len(lines) > searchLines {
		return 0, false
	}
	reader := &byLine{lines: lines}
	_ = yaml.NewDecoder(reader).Decode(new(yaml.Node)) // to see how far it comes
	end := 0
	for _, line := range lines[:reader.n] {
		end += len(line)
	}
	for n := reader.n; n > 0; n-- {
		end -= len(lines[n-1])
		if goodYAML(raw[:end]) {
			return n, opens(string(lines[n-1]))
		}
	}
	return 0, false
}

// byLine reads lines one by one and counts them.
type byLine struct {
	lines [][]byte
	n     int // read so far
	rest  []byte
}

func (r *byLine) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		if r.n == len(r.lines) {
			return 0, io.EOF
		}
		r.rest = r.lines[r.n]
		r.n++
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// goodYAML tells whether a text is a mapping, a list or nothing. A lone word is
// none: it is a key without a value.
func goodYAML(raw []byte) bool {
	var n yaml.Node
	if yaml.Unmarshal(raw, &n) != nil {
		return false
	}
	return n.Kind == 0 || n.Content[0].Kind != yaml.ScalarNode || n.Content[0].Tag == "!!null"
}

var quotedOrComment = regexp.MustCompile(`"(\\.|[^"\\])*"|'[^']*'|(^|\s)#.*`)

func opens(line string) bool {
	line = quotedOrComment.ReplaceAllString(line, "")
	return strings.Count(line, "{")+strings.Count(line, "[") > strings.Count(line, "}")+strings.Count(line, "]")
}
