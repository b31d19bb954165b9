package rounds

import (
	"context"
	"time"
)

// Within replaces how the time of what a look does beside its tasks is bounded.
func (s *Rounds) Within(f func(context.Context, time.Duration) (context.Context, context.CancelFunc)) {
	s.within = f
}
