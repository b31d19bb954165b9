package engine

import (
	"context"
	"time"

	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers/policy"
	"agent/projections"
)

// takeCommands appends what people ask for in comments while the work goes on. Comments are
// read only where the item has changed since: twice, as forges tell the time in seconds.
func (e *Engine) takeCommands(ctx context.Context, t forge.Task) error {
	s := e.state
	if !s.Config.Commands.Enabled || s.Pause != nil || s.Stop != nil || !s.Done(projections.FetchedAtStart, 0) {
		return nil
	}
	same := !t.UpdatedAt.IsZero() && t.UpdatedAt.Equal(e.commands.changed)
	if same && e.commands.again {
		return nil
	}
	all, err := e.p.Forge.Comments(ctx, s.Key, time.Time{})
	if err != nil {
		return ctx.Err() // they are read again at the next check
	}
	e.commands.changed, e.commands.again = t.UpdatedAt, same
	answers := e.commandsIn(ctx, all)
	for {
		wish, err := e.commanded(ctx, answers)
		if wish == nil || err != nil {
			return err
		}
		if err := e.input(wish); err != nil {
			return err
		}
	}
}

func (e *Engine) commandsIn(ctx context.Context, all []forge.Comment) (answers []policy.Answer) {
	for _, c := range all {
		commands, _ := policy.Commands(c.Body, e.grammar(ctx, c.Body))
		if len(commands) == 0 {
			continue
		}
		id := projections.CommentID(c.Kind, c.ID)
		answers = append(answers, policy.Answer{ID: c.ID, Author: c.Author, Edited: policy.Edited(c), Ordered: id == c.ID, Commands: commands,
			Self: e.mine(ctx, c.Author), Ours: c.System || e.state.Comments.Own(id) || Marked(c.Body)})
	}
	return answers
}

func (e *Engine) commanded(ctx context.Context, answers []policy.Answer) (event.Body, error) {
	for {
		wish, need := policy.Commanded(e.state, answers)
		if need != policy.Permission {
			return wish, ctx.Err()
		}
		for i := range answers {
			answers[i].MayWrite = new(e.mayWrite(ctx, answers[i].Author))
		}
	}
}
