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
