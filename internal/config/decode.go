package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"

	"agent/internal/registry"
)

// maxNodes bounds the values of a file with aliases followed, against alias bombs.
const maxNodes = 20_000

// missing is a variable that a value needs and the environment lacks.
type missing struct {
	path, name string
	line       int
}

// decoder fills a Config from a YAML tree and collects what is wrong on the way.
// yaml's own decoder stops early, prints values, and takes "yes" for true.
type decoder struct {
	file      string            // "" if there is none
	replaced  map[string]string // path → variable that set it instead of another value of the file
	env       func(string) string
	nodes     int
	lines     map[string]int    // path → line, for everything that is set
	from      map[string]string // path → variable that set it instead
	literal   []string          // paths of secrets that stand in the file itself
	inserted  []string          // values put into mcp_servers and notify by ${…}
	missing   []missing
	optional  []missing // that the configuration says may be empty
	unprinted []string  // paths of secrets whose commands failed
	problems  []lined
	warnings  []lined
}

// wholeFile is the line of what is true of the file as a whole.
const wholeFile = -2

type lined struct {
	line     int // 0: not in the file
	text     string
	variable string // as in Problem
}

func (d *decoder) fail(line int, format string, args ...any) {
	d.problems = append(d.problems, lined{line: line, text: fmt.Sprintf(format, args...)})
}

func (d *decoder) warn(line int, format string, args ...any) {
	d.warnings = append(d.warnings, lined{line: line, text: fmt.Sprintf(format, args...)})
}

// value stores a node at a path. What does not fit is a problem, and v stays as it was.
func (d *decoder) value(n *yaml.Node, v reflect.Value, path string) {
	line := n.Line
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if d.nodes++; d.nodes > maxNodes {
		if d.nodes == maxNodes+1 {
			d.fail(line, "too many values or aliases")
		}
		return
	}
	d.lines[path] = line
	if n.Tag == "!!null" && v.Kind() != reflect.Int && v.Kind() != reflect.Float64 && v.Kind() != reflect.Bool {
		if v.Kind() == reflect.String {
			v.SetString("")
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.mapping(n, v, path)
	case reflect.Map:
		d.table(n, v, path)
	case reflect.Slice:
		d.list(n, v, path)
	default:
		d.scalar(n, v, path)
	}
}

// mapping stores the keys of a section in the fields of a struct.
func (d *decoder) mapping(n *yaml.Node, v reflect.Value, path string) {
	keys := fields(v)
	d.pairs(n, path, func(key string, kn, vn *yaml.Node) {
		full := join(path, key)
		if hint, ok := obsoleteHint(plain(full)); ok {
			d.warnObsolete(kn.Line, full, hint)
			return
		}
		target := []string{key}
		if a, ok := aliases[plain(full)]; ok {
			target = a
		}
		field, at, known := v, path, true
		for _, k := range target {
			if field, known = fields(field)[k]; !known {
				break
			}
			at = join(at, k)
		}
		if !known {
			d.unknown(kn.Line, path, key, keys)
			return
		}
		if first, ok := d.lines[at]; ok {
			d.fail(kn.Line, "%s is set twice, under two names (first in line %d)", shown(at), first)
			return
		}
		d.value(vn, field, at)
	})
}

func (d *decoder) warnObsolete(line int, path, hint string) {
	if hint != "" {
		hint = ": " + hint
	}
	d.warn(line, "%s no longer does anything%s", shown(path), hint)
}

func (d *decoder) unknown(line int, path, key string, keys map[string]reflect.Value) {
	text := "unknown key" + quoteKey(key)
	near := synonym(plain(path), key)
	if near == "" {
		near = closest(key, slices.Sorted(maps.Keys(keys)))
	}
	if near != "" {
		text += fmt.Sprintf(`: did you mean %q?`, near)
	}
	d.fail(line, "%s", text)
}

// pairs calls f for each pair of a mapping, and refuses what is none.
func (d *decoder) pairs(n *yaml.Node, path string, f func(key string, kn, vn *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		d.fail(n.Line, "%s: must be a mapping (key: value)", orTop(shown(path)))
		return
	}
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		kn, vn := n.Content[i], n.Content[i+1]
		switch line, twice := first[kn.Value]; {
		case kn.Kind != yaml.ScalarNode:
			d.fail(kn.Line, "%s: a key must be text", orTop(shown(path)))
		case kn.Tag == "!!merge":
			d.fail(kn.Line, "merging with << is not supported: write the keys out")
		case twice:
			d.fail(kn.Line, "duplicate key%s (first in line %d)", quoteKey(kn.Value), line)
		default:
			first[kn.Value] = kn.Line
			f(kn.Value, kn, vn)
		}
	}
}

func orTop(path string) string {
	if path == "" {
		return "the file"
	}
	return path
}

// table stores a mapping with free keys.
func (d *decoder) table(n *yaml.Node, v reflect.Value, path string) {
	m := reflect.MakeMap(v.Type())
	d.pairs(n, path, func(key string, _, vn *yaml.Node) {
		e := reflect.New(v.Type().Elem()).Elem()
		d.value(vn, e, join(path, key))
		m.SetMapIndex(reflect.ValueOf(key), e)
	})
	v.Set(m)
}

// list stores a sequence; Strings and Forges may also be a single item.
func (d *decoder) list(n *yaml.Node, v reflect.Value, path string) {
	items := n.Content
	switch t := v.Type(); {
	case n.Kind == yaml.SequenceNode:
	case t == reflect.TypeFor[Strings]() && n.Kind == yaml.ScalarNode, t == reflect.TypeFor[Forges]() && n.Kind == yaml.MappingNode:
		items = []*yaml.Node{n}
	default:
		d.fail(n.Line, "%s: must be a list", shown(path))
		return
	}
	all := reflect.MakeSlice(v.Type(), 0, min(len(items), 64))
	for i, item := range items {
		e := reflect.New(v.Type().Elem()).Elem()
		switch v.Type().Elem() {
		case reflect.TypeFor[Forge]():
			kind, _ := registry.Forge(path)
			e.Set(reflect.ValueOf(defaultForge(kind)))
		case reflect.TypeFor[MCPServer]():
			e.Set(reflect.ValueOf(blankServer()))
		case reflect.TypeFor[Notification]():
			e.Set(reflect.ValueOf(blankNotification()))
		}
		d.value(item, e, fmt.Sprintf("%s[%d]", path, i))
		all = reflect.Append(all, e)
	}
	v.Set(all)
}
