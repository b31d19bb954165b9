package handlers

import (
	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/llm"
	"agent/projections"
)

// inherits is true if an earlier go at the same task left a summary for this one (seeds/002).
func inherits(s *projections.State) bool {
	return s.Config.Inherit.Enabled && s.Inherited != nil && s.Inherited.From != ""
}

// inheritedMessage stands before the user's request. Its prefix tells it from a
// reply of this conversation.
func inheritedMessage(s *projections.State) *event.MessageAdded {
	in := s.Inherited
	text := i18n.Text(s.Lang, "inherited.prefix", shortID(in.From), clock(in.At)) + "\n"
	switch in.Trust {
	case projections.TrustAuthor:
		text += i18n.Text(s.Lang, "inherited.author") + "\n"
	case projections.TrustAnybody:
		text += i18n.Text(s.Lang, "inherited.anybody") + "\n"
	}
	text += in.Summary.View()
	return &event.MessageAdded{Role: string(llm.Assistant), Purpose: "inherited", Content: event.T(text)}
}

func inheritedNotice(s *projections.State) *event.CommentRequested {
	in := s.Inherited
	return comment(s, "inherited", i18n.Text(s.Lang, "inherited.notice", shortID(in.From), clock(in.At)))
}

// shortID is the beginning of a uuid, as people are shown it.
func shortID(uuid string) string { return uuid[:min(8, len(uuid))] }
