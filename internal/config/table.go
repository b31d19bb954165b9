package config

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"

	"agent/internal/registry"
	"agent/llm"
)

// child is one key of a section: its tags, and the value that it sets.
type child struct {
	key   string
	tag   reflect.StructTag
	env   string        // variable that wins over the file, or ""
	value reflect.Value // addressable
}

// kind is a section whose driver names some keys and its variables.
type kind interface {
	keyName(key string) string // "" if it has no such key
	Env(key string) string
}

// children are the keys of a section in the order of the table; those of an
// inline map follow at its place.
func children(section reflect.Value) iter.Seq[child] {
	return func(yield func(child) bool) {
		of, _ := section.Interface().(kind)
		for i := range section.NumField() {
			key, tag := section.Type().Field(i).Tag.Get("yaml"), section.Type().Field(i).Tag
			if of != nil && key != "-" {
				key = of.keyName(key)
			}
			switch {
			case key == "" || key == "-":
			case key == ",inline":
				if !inlined(section.Field(i), yield) {
					return
				}
			case !yield(child{key, tag, variable(tag, key, of), section.Field(i)}):
				return
			}
		}
	}
}

// variable is the environment variable of a key, "" if there is none.
func variable(tag reflect.StructTag, key string, of kind) string {
	if name := tag.Get("env"); name != "*" {
		return name
	}
	return of.Env(key)
}

// inlined yields the sections of a map of pointers, in the order of the registry.
func inlined(m reflect.Value, yield func(child) bool) bool {
	for _, key := range slices.Concat(registry.ForgeNames(), registry.ProviderNames()) {
		if section := m.MapIndex(reflect.ValueOf(key)); section.IsValid() && !yield(child{key, "", "", section.Elem()}) {
			return false
		}
	}
	return true
}

func sortedKeys(m reflect.Value) []string {
	keys := make([]string, 0, m.Len())
	for _, k := range m.MapKeys() {
		keys = append(keys, k.String())
	}
	slices.Sort(keys)
	return keys
}

// fields are the keys of a section and the values that they set.
func fields(section reflect.Value) map[string]reflect.Value {
	keys := map[string]reflect.Value{}
	for c := range children(section) {
		keys[c.key] = c.value
	}
	return keys
}

// visit calls f for every key that is no section itself, with its path. What f
// sets in a section with free keys (llm.prices) is lost.
func visit(section reflect.Value, path string, f func(path string, c child)) {
	for c := range children(section) {
		full, v := join(path, c.key), c.value
		switch v.Kind() {
		case reflect.Struct:
			visit(v, full, f)
		case reflect.Slice:
			if v.Type().Elem().Kind() != reflect.Struct {
				f(full, c)
				continue
			}
			for i := range v.Len() {
				visit(v.Index(i), fmt.Sprintf("%s[%d]", full, i), f)
			}
		case reflect.Map:
			if v.Type().Elem().Kind() != reflect.Struct {
				f(full, c)
				continue
			}
			for _, key := range sortedKeys(v) {
				entry := reflect.New(v.Type().Elem()).Elem()
				entry.Set(v.MapIndex(reflect.ValueOf(key)))
				visit(entry, join(full, key), f)
			}
		default:
			f(full, c)
		}
	}
}

// Key is one line of the table of keys.
type Key struct {
	Path     string // "llm.timeout_seconds", "github.api_url", "mcp_servers[].url", "llm.prices.*.input"
	Default  string // as it is written in YAML, "" if there is none
	Env      string // variable that wins over the file; in a list of forges that of the first
	Min, Max string // of a number; "": 0 and no bound
	OneOf    []string
	Init     bool // `agent init` writes it
}

// lists are the sections that a file has several of.
var lists = strings.NewReplacer("mcp_servers[0]", "mcp_servers[]", "notify[0]", "notify[]")

// Keys is the table: every key of the configuration in the order of the structs.
func Keys() []Key {
	c := Default()
	c.fillForges(func(string) bool { return true })
	c.MCPServers, c.Notify = []MCPServer{blankServer()}, []Notification{blankNotification()}
	c.LLM.Prices = map[string]Price{"*": {}}
	var all []Key
	visit(reflect.ValueOf(c).Elem(), "", func(path string, k child) {
		path = strings.ReplaceAll(lists.Replace(path), "[0]", "")
		all = append(all, Key{Path: path, Default: written(k.value), Env: k.env, Min: k.tag.Get("min"), Max: k.tag.Get("max"), OneOf: oneOf(k.tag), Init: k.tag.Get("init") == "yes"})
	})
	return all
}

// Starter is the line of a new file for a section or a key: what is marked for
// `agent init`, with the defaults. "loop" gives "loop: {interval_seconds: 30}",
// "llm.protocol" gives "protocol: auto".
func Starter(section string) string {
	name := section[strings.LastIndex(section, ".")+1:]
	var inner []string
	for _, k := range Keys() {
		key, inside := strings.CutPrefix(k.Path, section+".")
		switch {
		case k.Init && k.Path == section:
			return name + ": " + k.Default
		case k.Init && inside:
			inner = append(inner, key+": "+k.Default)
		}
	}
	return name + ": {" + strings.Join(inner, ", ") + "}"
}

// oneOf are the words that a key allows, none if it allows any text.
func oneOf(tag reflect.StructTag) []string {
	switch words := tag.Get("oneof"); words {
	case "":
		return nil
	case "@forges":
		return registry.ForgeNames()
	case "@providers":
		return registry.ProviderNames()
	case "@profiles":
		return append([]string{"auto"}, llm.ProfileNames()...)
	default:
		return strings.Split(words, "|")
	}
}
