package engine

import (
	"context"

	"agent/eventlog/event"
	"agent/forge"
)

// react answers a comment. Twice is as good as once, and a forge that does not answer is
// not waited for.
func (e *Engine) react(ctx context.Context, in *event.ReactionRequested) (event.Body, error) {
	return e.write(ctx, write{
		bestEffort: true,
		send: func() (event.Body, error) {
			return &event.ReactionAdded{}, e.p.Forge.React(ctx, e.state.Key, in.Comment, forge.Emoji(in.Reaction))
		},
		refused: func(err *forge.Error) event.Body {
			return &event.ReactionFailed{Kind: string(err.Kind), Message: clean(err.Message)}
		},
	})
}
