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
			t.Errorf("%s has no rule: say in rules_test.go what it may import", name)
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
