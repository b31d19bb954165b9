package config

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
)

var (
	yamlLine  = regexp.MustCompile(`line (\d+): (.*)`)
	tabIndent = regexp.MustCompile(`^ *\t`)
)

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
	text = strings.TrimPrefix(text, "yaml: ")
	if strings.ContainsAny(text, "'\"`\n") {
		text = "a reference to something unknown, or a character that is not allowed here"
	}
	d.fail(line, "not valid YAML: %s", text)
}
