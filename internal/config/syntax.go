package config

import (
	"bytes"
	"strconv"
	"strings"

	"agent/internal/lazyregexp"
)

var (
	yamlLine  = lazyregexp.New(`line (\d+): (.*)`)
	tabIndent = lazyregexp.New(`^ *\t`)
)

// causes are what the YAML parser says, and what it means to somebody who
// writes a file. They are true of the line that the parser names: where the
// bad part begins, or where it was noticed.
var causes = []struct{ says, means string }{
	{"unknown anchor", "a * before something that no & names: put a value that begins with * in quotes"},
	{"cannot start any token", "a value must not begin with @, ` or %: put it in quotes"},
	{"quoted scalar", "a quote is not closed"},
	{"unexpected end of stream", "a quote is not closed"},
	{"',' or '}'", "a { is not closed, or a comma is missing"},
	{"',' or ']'", "a [ is not closed, or a comma is missing"},
	{"mapping values are not allowed", "a second \": \" in one value, or a wrong indentation: put a value that holds \": \" in quotes"},
	{"could not find expected ':'", "a key without \": \" and a value"},
	{"did not find expected key", "a line of this section does not line up with the others: compare the indentation"},
	{"did not find expected '-' indicator", "a line of this list does not line up with the others: compare the indentation"},
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
	line, text := wholeFile, strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = m[2]
	}
	if countsFromZero(text) {
		line++
	}
	d.fail(line, "not valid YAML: %s", inWords(text))
}

// countsFromZero reports whether an error is one of the parser's, which counts
// lines from 0; the scanner below it counts from 1.
func countsFromZero(text string) bool {
	return strings.HasPrefix(text, "did not find expected ") && !strings.HasSuffix(text, "comment or line break")
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
