package config

import (
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"agent/internal/lazyregexp"
)

var (
	wholeNumber = lazyregexp.New(`^[-+]?[0-9]{1,18}$`)
	realNumber  = lazyregexp.New(`^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$`)
	varName     = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// scalar stores a single value. YAML's other spellings (yes, 0o17, 1_000) are
// refused, since people disagree on what they mean.
func (d *decoder) scalar(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.ScalarNode {
		d.fail(n.Line, "%s: must be a single value", shown(path))
		return
	}
	if n.Tag == "!!null" {
		d.fail(n.Line, "%s: has no value", shown(path))
		return
	}
	switch v.Kind() {
	case reflect.String:
		d.text(n, v, path)
	case reflect.Bool:
		on := strings.EqualFold(n.Value, "true")
		if n.Tag != "!!bool" || !on && !strings.EqualFold(n.Value, "false") {
			d.fail(n.Line, "%s: must be true or false", shown(path))
			return
		}
		v.SetBool(on)
	case reflect.Int:
		i, err := strconv.ParseInt(n.Value, 10, 64)
		if err != nil || n.Tag != "!!int" || !wholeNumber.MatchString(n.Value) {
			d.fail(n.Line, "%s: must be a whole number in decimal digits", shown(path))
			return
		}
		v.SetInt(i)
	case reflect.Float64:
		f, err := strconv.ParseFloat(n.Value, 64)
		if err != nil || math.IsInf(f, 0) || n.Tag == "!!str" || !realNumber.MatchString(n.Value) {
			d.fail(n.Line, "%s: must be a number in decimal digits", shown(path))
			return
		}
		v.SetFloat(f)
	}
}

// text stores a text. Numbers are taken as they are written: an id or a port.
func (d *decoder) text(n *yaml.Node, v reflect.Value, path string) {
	if n.Tag != "!!str" && n.Tag != "!!int" {
		d.fail(n.Line, "%s: must be text: put it in quotes", shown(path))
		return
	}
	s, variables := d.expand(n.Value, path, n.Line)
	if !variables && s != "" && secretPath(path) {
		d.literal = append(d.literal, path)
	}
	v.SetString(s)
}

// expand replaces ${VAR} and ${VAR:-default}, and $$ by a dollar sign. It tells
// whether there was a variable.
func (d *decoder) expand(s, path string, line int) (string, bool) {
	var b strings.Builder
	variables := false
	for {
		i := strings.IndexByte(s, '$')
		if i < 0 || i+1 == len(s) {
			b.WriteString(s)
			return b.String(), variables
		}
		b.WriteString(s[:i])
		s = s[i+1:]
		switch s[0] {
		case '$':
			b.WriteByte('$')
			s = s[1:]
		case '{':
			end := strings.IndexByte(s, '}')
			if end < 0 {
				d.fail(line, "%s: ${ without }: write $${ for the characters themselves", shown(path))
				return "", variables
			}
			variables = true
			b.WriteString(d.variable(s[1:end], path, line))
			s = s[end+1:]
		default:
			b.WriteByte('$')
		}
	}
}

// variable is the value of what stands between ${ and }.
func (d *decoder) variable(expr, path string, line int) string {
	name, fallback, has := strings.Cut(expr, ":-")
	if !varName.MatchString(name) {
		d.fail(line, "%s: ${…} must hold the name of a variable", shown(path))
		return ""
	}
	value := d.env(name)
	switch {
	case value == "" && has:
		if fallback == "" {
			d.optional = append(d.optional, missing{path, name, line})
		}
		return fallback
	case value == "":
		d.missing = append(d.missing, missing{path, name, line})
	case !oneLine(value):
		d.fail(line, "%s: the value of %s holds a line break or control character", shown(path), name)
		return ""
	case strings.HasPrefix(path, "mcp_servers"), strings.HasPrefix(path, "notify") && !strings.Contains(value, "://"): // of an address a part is secret
		d.inserted = append(d.inserted, value)
	}
	return value
}

// oneLine tells whether a text is free of line breaks, control characters and broken UTF-8.
func oneLine(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
	}) < 0
}
