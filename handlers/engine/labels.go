package engine

import (
	"context"
	"strconv"

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
			changed := &event.LabelsChanged{Labels: now}
			if err == nil && (in.Purpose == string(projections.Paused) || in.Purpose == string(projections.Awaiting)) {
				changed.Event, err = e.newestLabelEvent(ctx)
			}
			return changed, err
		},
		refused: func(err *forge.Error) event.Body {
			return &event.LabelsFailed{Kind: string(err.Kind), Message: clean(err.Message)}
		},
	})
}

// newestLabelEvent is what a label must be later than to end a pause, "" if the
// forge does not tell.
func (e *Engine) newestLabelEvent(ctx context.Context) (string, error) {
	found, err := retryRead(ctx, e, func() (forge.Labelling, error) { return e.p.Forge.LabelledBy(ctx, e.state.Key, "") })
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil || found.Latest == 0:
		e.p.Log.Warn("the forge does not say which label was set last", "error", err)
		return "", nil
	}
	return strconv.FormatInt(found.Latest, 10), nil
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
