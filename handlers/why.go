package handlers

import (
	"strings"

	"agent/eventlog/event"
	"agent/handlers/tell"
	"agent/internal/i18n"
	"agent/projections"
)

// Reason says in one sentence why a context is paused or how it ended, and gives
// the detail behind it: what a server said, or a person's words. Both are empty
// while it runs. The detail is as the log has it, not safe for a terminal.
func Reason(s *projections.State, lang i18n.Lang) (sentence, detail string) {
	sentence, detail = tell.Reason(s, lang, ownEnding(s))
	if s.Status == projections.Paused && s.Paused.Reason == event.PauseChange && s.Publishing.Measured != nil {
		detail = strings.Join(tell.ApprovalLines(lang, approvalReasons(s)), "; ")
	}
	return sentence, detail
}

// Work says on one line where the unfinished work of a context is, "" if there is
// none. It is not safe for a terminal.
func Work(s *projections.State, lang i18n.Lang) string { return tell.Work(s, lang) }

// ByProductKind says what made a by-product.
func ByProductKind(lang i18n.Lang, b event.ByProduct) string { return tell.ByProductKind(lang, b) }
