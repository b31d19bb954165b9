package engine

import (
	"context"

	"agent/eventlog/event"
	"agent/forge"
	"agent/projections"
)

func (e *Engine) labels(ctx context.Context, in *event.LabelsRequested) (event.Body, error) {
	return e.write(ctx, write{
		closing: projections.Status(in.Purpose).Ended(),
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
		l.Processing: forge.ProcessingLabel,
		l.Done:       forge.DoneLabel,
		l.Paused:     forge.PausedLabel,
		l.Stopped:    forge.StoppedLabel,
		l.Failed:     forge.FailedLabel,
		l.Awaiting:   forge.AwaitingLabel,
	}
	styled := make([]forge.Label, 0, len(names))
	for _, name := range names {
		styled = append(styled, looks[name].Named(name))
	}
	return styled
}
