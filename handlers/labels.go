package handlers

import (
	"slices"
	"strings"

	"agent/eventlog/event"
	"agent/projections"
)

// startLabels takes the task: the processing label comes, the trigger and the outcomes of earlier attempts leave.
func startLabels(s *projections.State) *event.LabelsRequested {
	l := s.Config.Labels
	return labels("start", l.Processing, append(triggers(l), l.Done, l.Paused, l.Stopped, l.Failed, l.Awaiting)...)
}

func resumeLabels(s *projections.State) *event.LabelsRequested {
	l := s.Config.Labels
	leave := append([]string{l.Paused, l.Awaiting}, triggers(l)...)
	if s.Fork != nil && s.Fork.Fresh { // its origin, or a later attempt, has ended
		leave = append(leave, l.Done, l.Stopped, l.Failed)
	}
	return labels("resumed", l.Processing, append(leave, s.FormerLabels...)...)
}

func triggers(l event.Labels) []string {
	return append([]string{l.Bot}, strings.Split(l.Triggers, "\n")...)
}

func pauseLabels(s *projections.State) *event.LabelsRequested {
	l := s.Config.Labels
	return labels("paused", l.Paused, l.Processing)
}

func awaitLabels(s *projections.State) *event.LabelsRequested {
	l := s.Config.Labels
	return labels("awaiting", l.Awaiting, l.Processing, l.Paused)
}

// finalLabels leaves the trigger label alone: who set it again wishes another attempt. Who asked for
// one in a comment gets the label set, so that it begins also if this process dies here.
func finalLabels(s *projections.State, v *projections.Ending) *event.LabelsRequested {
	l := s.Config.Labels
	add := map[projections.Status]string{projections.Completed: l.Done, projections.Stopped: l.Stopped, projections.Failed: l.Failed}[v.Status]
	if v.Reason == event.EndRetry {
		add = l.Bot
	}
	return labels(string(v.Status), add, append([]string{l.Processing, l.Paused, l.Awaiting}, s.FormerLabels...)...)
}

func labels(purpose, add string, remove ...string) *event.LabelsRequested {
	r := &event.LabelsRequested{Purpose: purpose, Add: []string{}, Remove: []string{}}
	if add != "" {
		r.Add = append(r.Add, add)
	}
	for _, name := range remove {
		if name != "" && name != add && !slices.Contains(r.Remove, name) {
			r.Remove = append(r.Remove, name)
		}
	}
	return r
}
