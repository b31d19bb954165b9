package archtest

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agent/eventlog/event"
)

var update = flag.Bool("update", false, "write the table of imports in docs/architecture.md")

func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestLogFormat keeps docs/log-format.md true: every event and every field stands
// in it, and what it means is said in other words than its name.
func TestLogFormat(t *testing.T) {
	text := document(t, "log-format.md")
	for _, kind := range event.Types() {
		checkShape(t, text, "`"+kind+"`", reflect.TypeOf(event.New(kind)).Elem())
	}
}

// checkShape looks for the fields of a type in the section of that name, and for those of its parts.
func checkShape(t *testing.T, text, name string, shape reflect.Type) {
	t.Helper()
	_, section, ok := strings.Cut(text, "\n### "+name+"\n")
	if !ok {
		t.Errorf("docs/log-format.md has no section on %s", name)
		return
	}
	section, _, _ = strings.Cut(section, "\n#")
	var want []string
	for i := range shape.NumField() {
		field := shape.Field(i)
		key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if key == "" {
			continue // the role
		}
		want = append(want, key)
		if _, meaning, _ := strings.Cut(section, "\n| `"+key+"` "); saysNothing(meaning, key, field.Name) {
			t.Errorf("docs/log-format.md: the meaning of %s.%s is its name", name, key)
		}
		if part := partOf(field.Type); part != nil {
			checkShape(t, text, part.Name(), part)
		}
	}
	if have := firstColumn(section); !slices.Equal(have, want) {
		t.Errorf("docs/log-format.md: %s has the fields %v, the code %v", name, have, want)
	}
}

// saysNothing is true if the rest of a row only repeats a name.
func saysNothing(rest, key, field string) bool {
	row, _, _ := strings.Cut(rest, "\n")
	cells := strings.Split(strings.Trim(row, " |"), " | ")
	meaning := strings.ToLower(strings.ReplaceAll(cells[len(cells)-1], " ", ""))
	return meaning == key || meaning == strings.ToLower(field)
}

// partOf is the struct of package event that a field holds, if it has a section of its own.
func partOf(field reflect.Type) reflect.Type {
	if field.Kind() == reflect.Slice {
		field = field.Elem()
	}
	if field.Kind() != reflect.Struct || field.PkgPath() != reflect.TypeFor[event.Event]().PkgPath() ||
		field == reflect.TypeFor[event.Text]() {
		return nil
	}
	return field
}

var row = regexp.MustCompile("(?m)^\\| `([^`]+)`")

func firstColumn(section string) []string {
	var keys []string
	for _, m := range row.FindAllStringSubmatch(section, -1) {
		keys = append(keys, m[1])
	}
	return keys
}

const importsBegin, importsEnd = "<!-- imports:begin -->\n", "<!-- imports:end -->\n"

// TestImportsOfArchitecture keeps the table of docs/architecture.md equal to the rules.
func TestImportsOfArchitecture(t *testing.T) {
	text := document(t, "architecture.md")
	before, rest, ok := strings.Cut(text, importsBegin)
	_, after, ends := strings.Cut(rest, importsEnd)
	if !ok || !ends {
		t.Fatal("docs/architecture.md has no markers around the table of imports")
	}
	want := before + importsBegin + importTable() + importsEnd + after
	if *update {
		if err := os.WriteFile(filepath.Join("..", "..", "docs", "architecture.md"), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if text != want {
		t.Error("docs/architecture.md does not show the rules: go test ./internal/archtest -update")
	}
}

func importTable() string {
	table := "| package | may import |\n|---|---|\n"
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		imports := "nothing"
		if list := rules[name]; len(list) > 0 {
			imports = "`" + strings.Join(list, "` `") + "`"
		}
		table += fmt.Sprintf("| `%s` | %s |\n", name, imports)
	}
	return table
}
