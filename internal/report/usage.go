package report

import (
	"agent/internal/i18n"
	"agent/projections"
)

// Calls says how many model calls there were, and how many of them were no turns of the
// conversation. Whoever tells people of model calls tells them of these.
func Calls(lang i18n.Lang, c projections.ModelCalls) string {
	return i18n.Calls(lang, c.All, c.Summaries, c.Interrupted, c.Failed)
}
