package config

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agent/internal/registry"
	"agent/llm"
)

var update = flag.Bool("update", false, "write the tables of docs/configuration.md")

const page = "../../docs/configuration.md"

// keyTable is a generated table; its first line lists the sections, a dot for
// the keys outside of sections.
var keyTable = regexp.MustCompile(`(?s)<!-- keys:begin ([^>]*) -->\n.*?<!-- keys:end -->`)

// TestDocumentedKeys keeps the tables of docs/configuration.md equal to the
// structs, and wants each key in exactly one of them.
func TestDocumentedKeys(t *testing.T) {
	have, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	meanings, seen := fieldComments(t), map[string]int{}
	want := keyTable.ReplaceAllStringFunc(string(have), func(block string) string {
		sections := keyTable.FindStringSubmatch(block)[1]
		var b strings.Builder
		keys := len(seen)
		fmt.Fprintf(&b, "<!-- keys:begin %s -->\n| key | default | meaning |\n|---|---|---|\n", sections)
		for _, k := range Keys() {
			if section, _, nested := strings.Cut(k.Path, "."); !slices.Contains(strings.Fields(sections), map[bool]string{true: strings.TrimSuffix(section, "[]"), false: "."}[nested]) {
				continue
			}
			if seen[k.Path]++; !sameAsFirstForge(k) {
				fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.Path, code(k.Default), strings.Join(meaning(t, meanings, k), " "))
			}
		}
		if len(seen) == keys {
			t.Errorf("the table of %s has no key", sections)
		}
		return b.String() + "<!-- keys:end -->"
	})
	for _, k := range Keys() {
		if seen[k.Path] != 1 {
			t.Errorf("%s stands in %d tables", k.Path, seen[k.Path])
		}
	}
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(have) {
		t.Error("docs/configuration.md does not fit the keys: run go test ./internal/config -update")
	}
}

// sameAsFirstForge reports whether a key of another forge is as that of the first.
func sameAsFirstForge(k Key) bool {
	section, key, _ := strings.Cut(k.Path, ".")
	if _, isForge := registry.Forge(section); !isForge || section == registry.ForgeNames()[0] || k.Env != "" {
		return false
	}
	return slices.ContainsFunc(Keys(), func(other Key) bool {
		return other.Path == registry.ForgeNames()[0]+"."+key && other.Default == k.Default
	})
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

// meaning is the comment of the key's field, and what its tags say.
func meaning(t *testing.T, comments map[string]string, k Key) []string {
	t.Helper()
	text := comments[general(k.Path)]
	if !strings.HasSuffix(text, ".") {
		t.Errorf("%s: the comment of its field must be a sentence: %q", k.Path, text)
	}
	out := []string{text}
	if words := slices.DeleteFunc(slices.Clone(k.OneOf), func(w string) bool { return strings.Contains(text, "`"+w+"`") }); len(words) > 0 {
		out = append(out, "One of `"+strings.Join(k.OneOf, "`, `")+"`.")
	}
	switch {
	case k.Min != "" && k.Max != "":
		out = append(out, k.Min+" to "+k.Max+".")
	case k.Min != "":
		out = append(out, "At least "+k.Min+".")
	case k.Max != "":
		out = append(out, "At most "+k.Max+".")
	}
	if k.Env != "" {
		out = append(out, "Environment: `"+k.Env+"`.")
	}
	return out
}

// general is a path as the structs have it, without the names that kinds choose.
func general(path string) string {
	parts := strings.Split(strings.ReplaceAll(path, "[]", ""), ".")
	if kind, ok := registry.Forge(parts[0]); ok && len(parts) > 1 {
		if parts[0] = "forge"; parts[1] == kind.ProjectsKey {
			parts[1] = "projects"
		}
	}
	if len(parts) > 2 && parts[0] == "llm" {
		if kind, ok := registry.Provider(parts[1]); ok {
			if parts[1] = "provider"; parts[2] == kind.URLKey {
				parts[2] = "url"
			}
		}
	}
	return strings.Join(parts, ".")
}

// fieldComments reads the comments of the fields, by path.
func fieldComments(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]*ast.StructType{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if s, ok := spec.Type.(*ast.StructType); ok {
					types[spec.Name.Name] = s
				}
			}
			return true
		})
	}
	all := map[string]string{}
	comments(types, types["Config"], "", all)
	comments(types, types["Forge"], "forge", all)
	comments(types, types["Provider"], "llm.provider", all)
	comments(types, types["MCPServer"], "mcp_servers", all)
	comments(types, types["Notification"], "notify", all)
	comments(types, types["Price"], "llm.prices.*", all)
	return all
}

func comments(types map[string]*ast.StructType, s *ast.StructType, path string, all map[string]string) {
	for _, f := range s.Fields.List {
		if f.Tag == nil {
			continue
		}
		full := join(path, reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("yaml"))
		switch typ := f.Type.(type) {
		case *ast.StructType:
			comments(types, typ, full, all)
		case *ast.Ident:
			if inner := types[typ.Name]; inner != nil {
				comments(types, inner, full, all)
			}
		}
		all[full] = strings.Join(strings.Fields(f.Doc.Text()), " ")
	}
}

var yamlBlock = regexp.MustCompile("(?s)\n```yaml\n(.*?)```")

// TestDocumentedExamples loads every YAML example of the pages.
func TestDocumentedExamples(t *testing.T) {
	for _, name := range []string{page, models} {
		t.Run(filepath.Base(name), func(t *testing.T) { tryExamples(t, name) })
	}
}

const models = "../../docs/models.md"

// Each profile that can be set is described.
func TestDocumentedProfiles(t *testing.T) {
	text, err := os.ReadFile(models)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range llm.ProfileNames() {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("docs/models.md lacks %s", name)
		}
	}
}

func tryExamples(t *testing.T, name string) {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	blocks := yamlBlock.FindAllStringSubmatch(string(text), -1)
	for _, block := range blocks {
		if _, _, err := load(t, block[1], nil, Offline()); err != nil {
			t.Errorf("%v in the example\n%s", err, block[1])
		}
	}
	if len(blocks) < 10 {
		t.Errorf("only %d examples", len(blocks))
	}
}

// variables of the page exist: a renamed one must not stay there.
func TestDocumentedVariables(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	passed := []string{"GOPROXY", "GOFLAGS", "GOPRIVATE", "GONOPROXY", "GONOSUMDB", "GOSUMDB", "GOTOOLCHAIN"} // to tool servers
	known := append(passed, "CONFIG_FILE", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "VAR", "CODEOWNERS")
	for _, k := range Keys() {
		known = append(known, k.Env)
	}
	for _, f := range registry.Forges {
		known = append(known, f.Env("mcp_command"))
	}
	for _, m := range regexp.MustCompile("`\\$?([A-Z][A-Z_]{2,})[`=]").FindAllStringSubmatch(string(text), -1) {
		if !slices.Contains(known, m[1]) {
			t.Errorf("%s is no variable that the program reads", m[1])
		}
	}
}
