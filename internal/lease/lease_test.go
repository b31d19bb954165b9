package lease

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestCheck(t *testing.T) {
	left := time.Second
	ctx, cancel := context.WithCancel(With(t.Context(), func() time.Duration { return left }))
	for _, c := range []struct {
		name string
		do   func()
		ok   bool
	}{
		{"it is held", func() {}, true},
		{"it has run out and nobody was told", func() { left = 0 }, false},
		{"it was cancelled", func() { left = time.Second; cancel() }, false},
	} {
		c.do()
		if err := Check(ctx); (err == nil) != c.ok || err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if err := Check(t.Context()); err != nil {
		t.Errorf("without a lease: %v", err)
	}
}
