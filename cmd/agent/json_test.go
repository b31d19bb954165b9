package main

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"agent/internal/app/rounds"
	"agent/internal/cli"
	"agent/internal/integrity"
	"agent/internal/report"
	"agent/internal/search"
	"agent/internal/viewer"
)

// TestTimesHaveOneVocabulary wants every time that --json prints to be called as
// docs/json.md says, in every command. What is read by scripts is hard to rename.
func TestTimesHaveOneVocabulary(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/json.md")
	must(t, err)
	_, table, _ := strings.Cut(string(page), "| name |")
	known := map[string]bool{}
	for line := range strings.Lines(table) {
		names, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		for name := range strings.SplitSeq(names, ", ") {
			known[strings.Trim(name, "`")] = true
		}
	}
	for _, v := range []any{report.Listed{}, report.Why{}, report.Status{}, report.Stats{}, report.Comparison{}, rounds.Outcome{}, search.Hit{},
		viewer.Call{}, viewer.Sum{}, viewer.Message{}, collected{}, forgotten{}, integrity.Verified{}, cli.Build{}} {
		times(reflect.TypeOf(v), map[reflect.Type]bool{}, func(owner reflect.Type, name string) {
			if !known[name] {
				t.Errorf("%s has a time %q, which docs/json.md does not name", owner, name)
			}
		})
	}
	for _, name := range []string{"created_at", "updated_at", "time", "llm_begun", "unpriced_calls"} {
		if !known[name] {
			t.Errorf("docs/json.md was not understood: it lacks %s", name)
		}
	}
}

// times calls found for every field that holds a time or is called like one.
func times(of reflect.Type, seen map[reflect.Type]bool, found func(owner reflect.Type, name string)) {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Array:
		times(of.Elem(), seen, found)
	case reflect.Struct:
		if seen[of] || of == reflect.TypeFor[time.Time]() {
			return
		}
		seen[of] = true
		for i := range of.NumField() {
			f := of.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" || !f.IsExported() && !f.Anonymous {
				continue
			}
			if f.Type == reflect.TypeFor[time.Time]() || strings.HasSuffix(name, "_at") || strings.HasSuffix(name, "seconds") || strings.HasSuffix(name, "_tokens") {
				found(of, name)
			}
			times(f.Type, seen, found)
		}
	}
}
