// Package archtest holds the import rules of docs/architecture.md as a test.
package archtest

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// rules say which packages of this module a package may import. An entry that
// ends in /... stands for the package and everything below it.
var rules = map[string][]string{
	"internal/fsx":            {},
	"internal/i18n":           {},
	"internal/sanitize":       {},
	"internal/redact":         {},
	"internal/loosejson":      {},
	"internal/git":            {"internal/sandbox"},
	"internal/archtest":       {},
	"internal/exhaustive":     {},
	"internal/release":        {},
	"internal/sandbox":        {},
	"internal/crash":          {"contexts", "eventlog/event", "forge/forgetest", "handlers/engine", "internal/fsx", "llm", "llm/llmtest"},
	"eventlog":                {"internal/fsx"},
	"eventlog/event":          {"eventlog"},
	"llm":                     {},
	"llm/httpx":               {"llm"},
	"llm/textcall":            {"llm"},
	"llm/openai":              {"llm", "llm/httpx"},
	"llm/ollama":              {"llm", "llm/httpx"},
	"llm/lmstudio":            {"llm", "llm/httpx", "llm/openai"},
	"llm/llmtest/...":         {"llm", "llm/llmtest/..."},
	"mcp":                     {"internal/sandbox", "internal/sanitize"},
	"mcp/workspace":           {"mcp", "internal/sandbox"},
	"forge":                   {},
	"forge/github":            {"forge", "forge/rest"},
	"forge/gitlab":            {"forge", "forge/rest"},
	"forge/rest":              {"forge"},
	"forge/viamcp":            {"forge"},
	"forge/forgetest":         {"forge"},
	"forge/forgetest/openapi": {"forge/forgetest"},
	"contexts":                {"eventlog", "eventlog/event", "internal/fsx", "forge", "projections"},
	"contexts/history":        {"contexts", "eventlog", "eventlog/event", "internal/sanitize", "llm", "mcp", "projections"},
	"projections":             {"eventlog/event", "llm", "forge", "internal/i18n", "internal/loosejson"},
	"handlers":                {"handlers/tell", "handlers/prompt", "handlers/reply", "handlers/reply/shapes", "handlers/format", "projections", "eventlog/event", "llm", "internal/i18n"},
	"handlers/tell":           {"handlers/format", "projections", "eventlog/event", "forge", "internal/i18n", "internal/sanitize", "internal/loosejson"},
	"handlers/prompt":         {"handlers/reply", "handlers/format", "projections", "eventlog/event", "llm", "internal/i18n", "internal/sanitize"},
	"handlers/reply":          {"projections", "eventlog/event", "internal/loosejson", "llm", "llm/textcall"},
	"handlers/reply/shapes":   {"eventlog/event", "internal/loosejson"},
	"handlers/format":         {"internal/sanitize"},
	"handlers/engine":         {"contexts", "eventlog", "eventlog/event", "forge", "handlers", "handlers/policy", "handlers/reply", "internal/i18n", "internal/loosejson", "internal/redact", "internal/sanitize", "llm", "llm/textcall", "mcp", "projections"},
	"internal/app":            {"contexts", "contexts/history", "forge", "forge/viamcp", "handlers/engine", "handlers/prompt", "internal/config", "internal/fsx", "internal/i18n", "internal/logging", "internal/redact", "internal/workspace", "llm", "mcp", "projections"},
	"internal/config":         {"forge", "llm", "internal/registry"},
	"internal/registry":       {"forge", "forge/github", "forge/gitlab", "llm", "llm/lmstudio", "llm/ollama", "llm/openai"},
	"internal/world":          {"forge/forgetest", "llm/llmtest"},
	"internal/search":         {"contexts", "eventlog", "eventlog/event", "forge"},
	"internal/demo":           {"handlers/reply", "internal/i18n", "internal/sandbox", "internal/world", "llm", "llm/llmtest"},
	"internal/workspace":      {"eventlog/event", "forge", "handlers", "handlers/engine", "handlers/prompt", "internal/git", "internal/redact", "internal/sanitize", "projections"},
	"internal/doctor":         {"contexts", "forge", "forge/probe", "internal/app", "internal/config", "internal/fsx", "internal/git", "internal/i18n", "internal/registry", "internal/sanitize", "llm", "mcp"},
	"internal/setup":          {"forge", "forge/probe", "internal/config", "internal/i18n", "internal/redact", "internal/registry", "llm"},
	"forge/probe":             {"forge", "forge/rest"},
	"internal/report":         {"contexts", "eventlog/event", "handlers", "internal/config", "internal/i18n", "internal/sanitize", "projections"},
	"internal/retention":      {"contexts", "handlers/engine", "internal/config", "internal/workspace"},
	"handlers/policy":         {"eventlog/event", "forge", "projections"},
	"internal/app/rounds":     {"contexts", "eventlog", "eventlog/event", "forge", "handlers", "handlers/engine", "handlers/policy", "handlers/prompt", "internal/app", "internal/config", "internal/git", "internal/i18n", "internal/logging", "internal/report", "internal/retention", "internal/sanitize", "internal/workspace", "llm", "projections"},
	"internal/logging":        {"internal/sanitize", "internal/redact"},

	"forge/forgetest/suite": {"forge", "forge/forgetest"},
}

// pure packages decide and fold: nothing in them may see the world.
var pure = []string{"handlers", "handlers/policy", "handlers/reply/shapes", "internal/loosejson", "llm/textcall", "projections"}

var impure = []string{"os", "net", "net/http", "os/exec", "math/rand", "math/rand/v2", "crypto/rand", "syscall", "runtime", "io/fs"}

type pkg struct {
	ImportPath string
	Imports    []string
	GoFiles    []string
}

func load(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,GoFiles", "agent/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func allowed(name string) (list []string, ok bool) {
	for rule, list := range rules {
		if matches(rule, name) {
			return list, true
		}
	}
	return nil, false
}

func matches(rule, name string) bool {
	tree, isTree := strings.CutSuffix(rule, "/...")
	return rule == name || isTree && (name == tree || strings.HasPrefix(name, tree+"/"))
}

func TestImportTable(t *testing.T) {
	seen := 0
	for _, p := range load(t) {
		name := strings.TrimPrefix(p.ImportPath, "agent/")
		if name == "cmd/agent" {
			continue // it wires everything
		}
		list, ok := allowed(name)
		if !ok {
			t.Errorf("%s has no rule: say in this test what it may import", name)
			continue
		}
		seen++
		for _, imported := range p.Imports {
			inner, ours := strings.CutPrefix(imported, "agent/")
			if ours && !slices.ContainsFunc(list, func(rule string) bool { return matches(rule, inner) }) {
				t.Errorf("%s imports %s", name, inner)
			}
		}
	}
	if seen < 15 {
		t.Fatalf("only %d packages were checked", seen)
	}
}

// hidden from package main are forges, the store's files and git: other packages
// know them for it.
var hidden = []string{"forge", "forge/github", "forge/gitlab", "forge/viamcp", "eventlog", "internal/fsx", "internal/git"}

func TestMainImports(t *testing.T) {
	for _, p := range load(t) {
		if p.ImportPath != "agent/cmd/agent" {
			continue
		}
		for _, name := range hidden {
			if slices.Contains(p.Imports, "agent/"+name) {
				t.Errorf("cmd/agent imports %s", name)
			}
		}
		return
	}
	t.Fatal("cmd/agent is not listed")
}

func TestPurePackages(t *testing.T) {
	for _, p := range load(t) {
		name := strings.TrimPrefix(p.ImportPath, "agent/")
		if !slices.Contains(pure, name) {
			continue
		}
		for _, imported := range p.Imports {
			if slices.Contains(impure, imported) {
				t.Errorf("%s imports %s, but decides or folds", name, imported)
			}
		}
	}
}

// TestPureTime looks for clocks, which no import can tell.
func TestPureTime(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "agent/handlers", "agent/projections").Output()
	if err != nil {
		t.Fatal(err)
	}
	dirs := strings.Fields(string(out))
	for _, dir := range dirs {
		found, err := exec.Command("grep", "-nE", `time\.(Now|Since|Until|After|Sleep|NewTimer|NewTicker)\(`, "-r", "--include=*.go", "--exclude=*_test.go", "--exclude-dir=engine", dir).Output()
		if len(found) > 0 {
			t.Errorf("clock in pure code:\n%s", found)
		}
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
	}
	if len(dirs) != 2 {
		t.Fatalf("looked at %d packages", len(dirs))
	}
}
