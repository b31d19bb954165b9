package mcp

import (
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// setting is a setting of a toolchain that a server gets from the operator, as a variable. The files
// it may stand in are read here and never by a server: they hold passwords, too.
type setting struct {
	variable string
	file     func(getenv func(string) string) string
	section  string // of an INI file
	key      string
}

var toolchainSettings = []setting{
	{"GOPROXY", goEnv, "", "GOPROXY"}, {"GOFLAGS", goEnv, "", "GOFLAGS"}, {"GOPRIVATE", goEnv, "", "GOPRIVATE"},
	{"GONOPROXY", goEnv, "", "GONOPROXY"}, {"GONOSUMDB", goEnv, "", "GONOSUMDB"}, {"GOSUMDB", goEnv, "", "GOSUMDB"}, {"GOTOOLCHAIN", goEnv, "", "GOTOOLCHAIN"},
	{"PIP_INDEX_URL", pipConf, "global", "index-url"}, {"PIP_EXTRA_INDEX_URL", pipConf, "global", "extra-index-url"},
	{"npm_config_registry", npmrc, "", "registry"},
}

func goEnv(getenv func(string) string) string {
	if file := getenv("GOENV"); file != "" {
		return file // "off" switches the file off
	}
	return inConfig(getenv, "go/env")
}

func pipConf(getenv func(string) string) string {
	if file := getenv("PIP_CONFIG_FILE"); file != "" {
		return file
	}
	return inConfig(getenv, "pip/pip.conf")
}

func npmrc(getenv func(string) string) string {
	if file := getenv("NPM_CONFIG_USERCONFIG"); file != "" {
		return file
	}
	return filepath.Join(getenv("HOME"), ".npmrc")
}

func inConfig(getenv func(string) string, name string) string {
	if dir := getenv("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, name)
	}
	return filepath.Join(getenv("HOME"), ".config", name)
}

// settings are the values of all settings that hold no credentials.
func settings(getenv func(string) string, secret func(string) bool) map[string]string {
	all := make(map[string]string)
	for _, s := range toolchainSettings {
		value := getenv(s.variable)
		if value == "" {
			value = getenv(strings.ToUpper(s.variable))
		}
		if value == "" {
			value = s.read(s.file(getenv))
		}
		if value != "" && !credentials(value) && !secret(value) {
			all[s.variable] = value
		}
	}
	return all
}

// maxSettings bounds a file of settings.
const maxSettings = 1 << 20

// read finds the setting in a file, "" if it is not there.
func (s setting) read(file string) (value string) {
	if !filepath.IsAbs(file) {
		return ""
	}
	f, err := os.Open(file)
	if err != nil {
		return "" // as if it were not set
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, maxSettings))
	section := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[] ")
			continue
		}
		key, rest, ok := strings.Cut(line, "=")
		if ok && section == s.section && strings.TrimSpace(key) == s.key {
			value = strings.Trim(strings.TrimSpace(rest), `"`)
		}
	}
	return value
}

// credentials reports whether a value may hold a password: in an address, or where a variable
// of another program would be put in.
func credentials(value string) bool {
	separators := func(r rune) bool { return strings.ContainsRune(" \t\r\n,|", r) }
	for _, word := range strings.FieldsFunc(value, separators) {
		if strings.Contains(word, "${") {
			return true
		}
		before, _, address := strings.Cut(word, "://")
		if !address {
			if strings.Contains(word, "@") {
				return true
			}
			continue
		}
		if i := strings.LastIndexAny(before, "=+"); i >= 0 {
			word = word[i+1:]
		}
		u, err := url.Parse(word)
		if err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return true
		}
	}
	return false
}
