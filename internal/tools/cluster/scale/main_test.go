package main

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables into docs/scale.md")

// The document holds what the program prints.
func TestDocument(t *testing.T) {
	const path, begin, end = "../../../../docs/scale.md", "<!-- scale:begin -->\n", "<!-- scale:end -->"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(data), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatal("docs/scale.md has no markers around the tables")
	}
	var tables strings.Builder
	report(&tables)
	want := before + begin + tables.String() + end + after
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(data) != want {
		t.Error("docs/scale.md does not show the tables: go test ./scale -update in internal/tools/cluster")
	}
}

// Twice the workers and tasks cost four times the messages to those who listen: each has
// twice as much to say, to twice as many.
func TestFanOut(t *testing.T) {
	a, b := measured.load(100, 10_000, 10), measured.load(200, 20_000, 10)
	for what, pair := range map[string][2]float64{"sessions": {a.sessions, b.sessions}, "locks": {a.locks, b.locks}, "lines": {a.follow, b.follow}} {
		if ratio := pair[1] / pair[0]; ratio < 3.99 || ratio > 4.01 {
			t.Errorf("%s: %v times", what, ratio)
		}
	}
	if n := measured.most(a.cores, 100, 10); n != 100 {
		t.Errorf("%d workers with the cores of 100", n)
	}
}
