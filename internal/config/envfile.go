package config

import (
	"errors"
	"io/fs"
	"strings"

	"go.yaml.in/yaml/v3"

	"agent/internal/fsx"
)

// envFile reads the file of variables that env_file names, before any value of the
// configuration is looked at: those may hold ${…}. What the environment has wins.
func (d *decoder) envFile(root *yaml.Node, dir string, offline bool) {
	if root.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if key.Value != "env_file" || value.Kind != yaml.ScalarNode || value.Value == "" {
			continue // what is no text is reported with the other values
		}
		missing := d.missing
		text, _ := d.expand(value.Value, "env_file", value.Line)
		unknown := len(d.missing) > len(missing)
		d.missing = missing // said when the value itself is read
		if unknown {
			return // without the variable the path names some other file
		}
		path := d.absolute(text, "env_file", dir)
		if offline && !readable(path) {
			return // secrets may be missing, or be for the service alone
		}
		raw, err := readEnvFile(path)
		if err != nil {
			for _, p := range err.Problems {
				d.fail(value.Line, "env_file: %s: %s", p.Where, p.Text)
			}
			return
		}
		d.variables(raw, printable(path), value.Line)
	}
}

// readable is false for a file that is not there, or that this user may not read.
func readable(path string) bool {
	f, err := openPlain(path)
	if err == nil {
		_ = f.Close() // nothing was written
	}
	return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission)
}

// readEnvFile wants a file that only this user can read: it holds secrets.
func readEnvFile(path string) ([]byte, *Error) {
	name := printable(path)
	f, err := openPlain(path)
	if err != nil {
		return nil, failure(name, "cannot be read: %s", reason(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, failure(name, "cannot be read: %s", reason(err))
	}
	if err := checkMode(info, name); err != nil {
		return nil, err
	}
	if !fsx.Private(info) {
		return nil, failure(name, "can be read by other users: run chmod 600 on it")
	}
	return readText(f, name)
}

// variables takes NAME=value lines, as a shell and systemd read them. Nothing is
// expanded: a value in which a shell would expand something stands in single quotes.
func (d *decoder) variables(raw []byte, name string, line int) {
	values := map[string]string{}
	for i, text := range strings.Split(string(raw), "\n") {
		text = strings.TrimSpace(text)
		if text == "" || text[0] == '#' {
			continue
		}
		key, value, ok := strings.Cut(strings.TrimPrefix(text, "export "), "=")
		if !ok || !varName.MatchString(key) {
			d.fail(line, "env_file: %s:%d: must be NAME=value", name, i+1)
			continue
		}
		value, fault := unquoted(value)
		switch {
		case fault != "":
			d.fail(line, "env_file: %s:%d: %s", name, i+1, fault)
		case !oneLine(value):
			d.fail(line, "env_file: %s:%d: holds a control character", name, i+1)
		default:
			values[key] = value
		}
	}
	env := d.env
	d.env = func(name string) string {
		if v := env(name); v != "" {
			return v
		}
		return values[name]
	}
	for key, value := range values {
		if secretName(key) {
			d.inserted = append(d.inserted, value)
		}
	}
}

// unquoted is a value without the quotes around it, and what is wrong with it.
func unquoted(v string) (value, fault string) {
	quote := byte(0)
	if len(v) > 0 && (v[0] == '\'' || v[0] == '"') {
		quote = v[0]
		if len(v) < 2 || v[len(v)-1] != quote {
			return "", "a quote is not closed"
		}
		v = v[1 : len(v)-1]
	}
	switch {
	case quote != 0 && strings.IndexByte(v, quote) >= 0:
		return "", "holds a quote inside quotes"
	case quote != '\'' && strings.ContainsAny(v, "$`\\"):
		return "", "holds $, ` or \\, which are not expanded here: put the value in single quotes"
	case quote == 0 && strings.ContainsAny(v, " \t'\";&|<>()#"):
		return "", "holds a space or a character that a shell reads: put the value in quotes"
	}
	return v, ""
}
