package llm

import (
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// runByRun is what a weigher must give, as its definition says it.
func runByRun(text string, weight runWeigher, words bool, end class) int {
	sum, run := 0, 0
	var last class
	var lower bool // the last letter was in lower case
	for _, r := range text {
		c := classOf(r)
		upper := c == classLetter && r <= 'Z'
		if run > 0 && (c != last || words && upper && lower) {
			sum += weight(last, run, c)
			run = 0
		}
		run++
		last, lower = c, c == classLetter && !upper
	}
	if run == 0 {
		return 0
	}
	return sum + weight(last, run, end)
}

func TestWeighersAreTheirDefinition(t *testing.T) {
	check := func(t rapid.TB, text string) {
		if got, want := weight(text), runByRun(text, runWeight, true, classOther); got != want {
			t.Fatalf("weight of %q: %d, want %d", text, got, want)
		}
		if got, want := leastWeight(text), runByRun(text, leastRun, false, classSpace); got != want {
			t.Fatalf("least weight of %q: %d, want %d", text, got, want)
		}
	}
	for _, r := range "aZ7.( かカ。漢한ñ😀\t\n\u00a0\ufffd" {
		for n := range 40 {
			check(t, strings.Repeat(string(r), n))
			check(t, "aB "+strings.Repeat(string(r), n)+"x")
		}
	}
	piece := rapid.SampledFrom([]string{"a", "b", "Z", "Q", "7", ".", "(", " ", "\n", "か", "漢", "ñ", "😀", "\xff", "abcdefghij", "1234"})
	rapid.Check(t, func(t *rapid.T) {
		check(t, strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), ""))
	})
}

func BenchmarkWeight(b *testing.B) {
	source, err := os.ReadFile("estimate.go")
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat(string(source), 20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		weight(text)
	}
}
