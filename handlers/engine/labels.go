package engine

import (
	"context"

	"agent/eventlog/event"
	"agent/forge"
)

func (e *Engine) labels(ctx context.Context, in *event.LabelsRequested) (event.Body, error) {
	return e.write(ctx, write{
		send: func() (event.Body, error) {
			now, err := e.p.Forge.ChangeLabels(ctx, e.state.Key, e.styled(in.Add), in.Remove)
			if now == nil {
				now = []string{}
			}
			return &event.LabelsChanged{Labels: now}, err
		},
		refused: func(err *forge.Error) event.Body {
			return &event.LabelsFailed{Kind: string(err.Kind), Message: clean(err.Message)}
		},
	})
}

// styled gives labels the look that they get if they have to be created.
func (e *Engine) styled(names []string) []forge.Label {
	l := e.state.Config.Labels
	looks := map[string]forge.Label{
		l.Processing: {Color: "1d76db", Description: "The agent works on this"},
		l.Done:       {Color: "0e8a16", Description: "The agent has finished"},
		l.Paused:     {Color: "fbca04", Description: "The agent rests and will go on"},
		l.Stopped:    {Color: "cccccc", Description: "The agent was told to stop"},
		l.Failed:     {Color: "d73a4a", Description: "The agent could not finish"},
		l.Awaiting:   {Color: "d4c5f9", Description: "The agent waits for an answer"},
	}
	styled := make([]forge.Label, 0, len(names))
	for _, name := range names {
		label := looks[name]
		label.Name = name
		styled = append(styled, label)
	}
	return styled
}

// change publishes the work. Committing, pushing and looking for the change by
// its branch may all be repeated.
func (e *Engine) change(ctx context.Context, in *event.ChangeRequested) (event.Body, error) {
	commit, files, err := e.p.Workspace.Publish(ctx, e.state, in.Branch, in.Title)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return &event.ChangeFailed{Kind: "publish", Message: clean(err.Error())}, nil
	}
	if len(files) == 0 {
		return &event.ChangeOpened{}, nil
	}
	opened := func(c forge.Change) event.Body {
		return &event.ChangeOpened{Number: c.Number, URL: c.URL, Commit: commit, Files: files}
	}
	spec := forge.ChangeSpec{Branch: in.Branch, Base: in.Base, Title: in.Title, Body: in.Body.View(), Draft: in.Draft}
	return e.write(ctx, write{
		uncertain: true,
		patience:  5, // the work is pushed: better said without a change than never
		look: func() (event.Body, error) {
			found, err := e.p.Forge.FindChange(ctx, e.state.Key, in.Branch)
			if found == nil || err != nil {
				return nil, err
			}
			return opened(*found), nil
		},
		send: func() (event.Body, error) {
			c, err := e.p.Forge.OpenChange(ctx, e.state.Key, spec)
			return opened(c), err
		},
		refused: func(err *forge.Error) event.Body {
			return &event.ChangeFailed{Kind: string(err.Kind), Message: clean(err.Message)}
		},
	})
}
