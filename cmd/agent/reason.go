package main

import (
	"agent/handlers"
	"agent/internal/i18n"
	"agent/internal/sanitize"
	"agent/projections"
)

// because says on one line why a context rests or how it ended, with the detail
// behind it; empty while it runs.
func because(s *projections.State, lang i18n.Lang) string {
	sentence, detail := handlers.Reason(s, lang)
	if detail == "" {
		return sentence
	}
	return sentence + " (" + sanitize.Line(detail, 300) + ")"
}

// stuck tells whether a context waits for a person who did not ask for that.
func stuck(s *projections.State) bool {
	return s.Status == projections.Paused && s.Resume == nil && s.Rest.Until.Kind == "person" && s.Rest.Reason != "requested"
}
