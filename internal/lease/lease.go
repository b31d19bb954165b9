// Package lease carries in a context for how long an effect may begin. A context that is
// cancelled is seen by those who wait, and not by a process that slept and goes on in the
// middle of a step: so whoever sends something asks right before it does.
package lease

import (
	"context"
	"fmt"
	"time"
)

type key struct{}

// With is a context in which effects may begin while left is not 0.
func With(ctx context.Context, left func() time.Duration) context.Context {
	return context.WithValue(ctx, key{}, left)
}

// Held reports whether effects may begin only for some time.
func Held(ctx context.Context) bool { return ctx.Value(key{}) != nil }

// Check tells whether an effect may begin now. Where nothing was said it may.
func Check(ctx context.Context) error {
	if left, ok := ctx.Value(key{}).(func() time.Duration); ok && left() == 0 {
		return fmt.Errorf("the lease has run out: %w", context.Canceled)
	}
	return ctx.Err()
}
