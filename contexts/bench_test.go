package contexts

import (
	"fmt"
	"testing"
)

// seeded is a store whose index knows n contexts, none of which exists.
func seeded(b *testing.B, n int) *Store {
	b.Helper()
	dir := b.TempDir() + "/contexts"
	s, err := openReal(dir, Options{})
	if err != nil {
		b.Fatal(err)
	}
	err = s.SeedIndex(func(yield func(Info) bool) {
		for i := range n {
			id := fmt.Sprintf("%08x-0000-4000-8000-%012x", uint32(i)*2654435761, i)
			if !yield(Info{UUID: id, TaskKey: fmt.Sprintf("github.com/owner/repo%d/issues/%d", i%500, i/2), Title: "A title as people write them, of some length",
				State: StateCompleted, Created: at, Updated: at, Ended: at, LLMCalls: 12, ToolCalls: 30, Tokens: 99_000}) {
				return
			}
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkIndex: a lookup in an index that is opened for it, as a process that
// starts does, and a list of all.
func BenchmarkIndex(b *testing.B) {
	for _, n := range []int{1000, 100_000, 1_000_000} {
		s := seeded(b, n)
		b.Run(fmt.Sprintf("lookup/%d", n), func(b *testing.B) {
			for i := range b.N {
				of, err := s.ofTask(fmt.Sprintf("github.com/owner/repo%d/issues/%d", i*2%n%500, i*2%n/2))
				if err != nil || len(of) == 0 {
					b.Fatal(len(of), err)
				}
			}
		})
		b.Run(fmt.Sprintf("live/%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, live, err := s.Active("github.com/owner/other/issues/1"); live || err != nil {
					b.Fatal(live, err)
				}
			}
		})
		b.Run(fmt.Sprintf("list/%d", n), func(b *testing.B) {
			for b.Loop() {
				x, err := s.whole()
				if err != nil {
					b.Fatal(err)
				}
				got := 0
				for r, err := range x.rows() {
					if err != nil {
						b.Fatal(err)
					}
					if i, err := r.whole(); err == nil && i.TaskKey != "" {
						got++
					}
				}
				x.Close()
				if got != n {
					b.Fatal(got)
				}
			}
		})
	}
}
