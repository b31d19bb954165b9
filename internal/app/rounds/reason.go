package rounds

import (
	"agent/handlers"
	"agent/internal/i18n"
	"agent/internal/sanitize"
	"agent/projections"
)

// Because says on one line why a context is paused or how it ended, with the
// detail behind it; empty while it runs.
func Because(s *projections.State, lang i18n.Lang) string {
	sentence, detail := handlers.Reason(s, lang)
	if detail == "" {
		return sentence
	}
	return sentence + " (" + sanitize.Line(detail, 300) + ")"
}

// NeedsPerson reports whether a context waits for a person who did not ask for that.
func NeedsPerson(s *projections.State) bool {
	return s.Status == projections.Paused && s.Resume == nil && s.Paused.Until.Kind == "person" && s.Paused.Reason != "requested"
}
