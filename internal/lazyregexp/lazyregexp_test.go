package lazyregexp_test

import (
	"sync"
	"testing"

	"agent/internal/lazyregexp"
)

// A pattern is compiled once, whoever asks first, and a wrong one is found by its test.
func TestRegexp(t *testing.T) {
	digits := lazyregexp.New(`[0-9]+`)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got := digits.FindString("a12b"); got != "12" {
				t.Errorf("FindString gives %q", got)
			}
		})
	}
	all.Wait()
	defer func() {
		if recover() == nil {
			t.Error("a wrong pattern does not panic")
		}
	}()
	lazyregexp.New(`[`).MatchString("")
}
