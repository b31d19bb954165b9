// Package exhaustive divides tests into three tiers. `make test` runs before every commit
// (go test -short): it leaves out the series that start many processes. CI runs those,
// too, and of each sweep a sample. `make check` sets AGENT_EXHAUSTIVE=1 and takes all of
// it. Only tests import this package.
//
// A sample is the same in every run: a failure that one person sees, everybody sees.
package exhaustive

import (
	"hash/fnv"
	"maps"
	"os"
	"slices"
	"testing"
)

// On reports whether this run is exhaustive.
func On() bool { return os.Getenv("AGENT_EXHAUSTIVE") == "1" }

// Every is the stride of a sweep: 1 in an exhaustive run, n otherwise.
func Every(n int) int { return Of(n, 1) }

// Of chooses between the size of a sample and the size of the whole sweep.
func Of(sample, whole int) int {
	if On() {
		return whole
	}
	return sample
}

// Brief reports whether tests run before a commit.
func Brief() bool { return testing.Short() && !On() }

// Slow skips the test where tests run before a commit. Use it for a test that takes more
// than two seconds of processor time, if others would find most of the same mistakes.
func Slow(t testing.TB) {
	t.Helper()
	if Brief() {
		t.Skip("left to CI and make check (go test without -short)")
	}
}

// Only skips the test unless the run is exhaustive. Use it for a series that starts
// many processes, if a cheaper test beside it would find most of the same mistakes.
func Only(t testing.TB) {
	t.Helper()
	if !On() {
		t.Skip("part of make check (AGENT_EXHAUSTIVE=1)")
	}
}

// Sample takes every n-th case, from the first on; all of them in an exhaustive run.
// Where the cases of a sweep take turns, n must have no divisor in common with their period.
func Sample[T any](cases []T, n int) []T {
	var some []T
	for i := 0; i < len(cases); i += Every(n) {
		some = append(some, cases[i])
	}
	return some
}

// One takes one case, which depends on the name of the test, so that several tests over
// the same cases divide them among themselves; all of them in an exhaustive run.
func One[T any](t testing.TB, cases []T) []T {
	if On() {
		return cases
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(t.Name()))
	i := int(sum.Sum32() % uint32(len(cases)))
	return cases[i : i+1]
}

// SampleMap takes every n-th case in the order of their names.
func SampleMap[T any](cases map[string]T, n int) map[string]T {
	some := map[string]T{}
	for _, name := range Sample(slices.Sorted(maps.Keys(cases)), n) {
		some[name] = cases[name]
	}
	return some
}
