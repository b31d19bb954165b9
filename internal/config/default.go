package config

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"agent/forge"
	"agent/internal/registry"
)

// Default is the configuration of an empty file, with paths not yet resolved.
// Sections of forges are empty.
func Default() *Config {
	c := &Config{TaskSource: Strings{registry.Forges[0].Name}, MCPServers: []MCPServer{defaultServer()}, ForgeSections: map[string]*Forges{}}
	for _, d := range registry.Forges {
		c.ForgeSections[d.Name] = &Forges{}
	}
	c.LLM.Provider, c.LLM.Sections = registry.Providers[0].Name, map[string]*Provider{}
	for _, d := range registry.Providers {
		c.LLM.Sections[d.Name] = &Provider{Driver: d, Name: d.Name, URL: d.URL, Model: d.Model, ContextLength: d.ContextLength}
	}
	setDefaults(reflect.ValueOf(c).Elem())
	return c
}

// fillForges gives the sections that are empty their defaults, where wanted.
func (c *Config) fillForges(wanted func(kind string) bool) {
	for _, d := range registry.Forges {
		if s := c.ForgeSections[d.Name]; len(*s) == 0 && wanted(d.Name) {
			*s = Forges{defaultForge(d)}
		}
	}
}

func defaultForge(d forge.Driver) Forge {
	f := Forge{Driver: d, Kind: d.Name, APIURL: d.APIURL}
	setDefaults(reflect.ValueOf(&f).Elem())
	return f
}

// blankServer is what an entry of mcp_servers starts from.
func blankServer() MCPServer {
	var s MCPServer
	setDefaults(reflect.ValueOf(&s).Elem())
	return s
}

func setDefaults(section reflect.Value) {
	visit(section, "", func(path string, c child) {
		if text, ok := c.tag.Lookup("default"); ok {
			if err := set(c.value, text); err != nil {
				panic(fmt.Sprintf("config: default of %s: %v", path, err))
			}
		}
	})
}

// set reads a value from the text of a tag or a variable. Errors hold no value.
func set(v reflect.Value, text string) error {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		on, err := truth(text)
		if err != nil {
			return err
		}
		v.SetBool(on)
	case reflect.Int:
		i, err := strconv.Atoi(text)
		if err != nil {
			return errors.New("must be a whole number")
		}
		v.SetInt(int64(i))
	case reflect.Float64:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return errors.New("must be a number")
		}
		v.SetFloat(f)
	default: // a list of texts
		words := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
		v.Set(reflect.ValueOf(words).Convert(v.Type()))
	}
	return nil
}

func truth(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "true", "1", "yes", "on":
		return true, nil
	case "false", "0", "no", "off":
		return false, nil
	}
	return false, errors.New("must be true or false")
}

// written is a value as YAML has it, "" for an empty text and for free keys.
func written(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Map:
		return ""
	case reflect.Slice:
		var words []string
		for i := range v.Len() {
			words = append(words, fmt.Sprint(v.Index(i)))
		}
		return "[" + strings.Join(words, ", ") + "]"
	}
	return fmt.Sprint(v.Interface())
}
