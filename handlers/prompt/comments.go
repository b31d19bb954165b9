package prompt

import (
	"slices"
	"strings"

	"agent/eventlog/event"
	"agent/handlers/format"
	"agent/internal/i18n"
	"agent/projections"
)

// summaryLength is how many characters of a comment the detail level "summary" shows.
const summaryLength = 200

// leastShown is how many bytes of each comment are shown at least. Where there is no
// room for so much of all, the oldest are left out.
const leastShown = 200

// roomy renders a message that shows all of what it says it does: with as much room
// for the words of others as lets it be sent whole.
func roomy(s *projections.State, render func(room int) *event.MessageAdded) *event.MessageAdded {
	most := MostOfResult(s)
	m := render(most)
	for room := most; room > leastShown && !projections.SentWhole(m, most); m = render(room) {
		room = room * 3 / 4
	}
	return m
}

// commentBytes is about what the new comments take, whole.
func commentBytes(s *projections.State) (n int) {
	for _, c := range s.Comments.Pending {
		n += len(c.Body.View()) + leastShown // with what stands around it
	}
	return n
}

// commentsHead tells comments that came during a pause from those that a look in the
// middle of the work found.
func commentsHead(s *projections.State) i18n.ID {
	resume := s.Steps[projections.FetchedAtResume]
	if s.Resumes > 0 && resume > s.Since && resume > max(s.Steps[projections.FetchedPeriodic], s.Steps[projections.FetchedToPublish]) {
		return "comments.resumed"
	}
	return "comments.head"
}

// mark frames the task's text and the new comments. It is longer than any in all of
// them, so that none can end its own frame or, where a text in between is cut, that of
// another.
func mark(s *projections.State) string {
	texts := []string{s.Task.Body.View()}
	for _, c := range s.Comments.Pending {
		texts = append(texts, c.Body.View())
	}
	return fence(texts...)
}

// commentList shows the new comments in so many bytes, and names those that it
// shows. Of comments that are too long for their share the beginning is shown.
func commentList(s *projections.State, lang i18n.Lang, room int) (list string, ids []string) {
	all, frame := s.Comments.Pending, mark(s)
	heads, bodies := make([]string, len(all)), make([]string, len(all))
	for i, c := range all {
		heads[i], bodies[i] = commentHead(c, lang), commentBody(s, c, lang)
		room -= 2 * (len(frame) + 1)
	}
	first := 0
	for ; first < len(all)-1 && share(heads[first:], bodies[first:], room) < leastShown; first++ {
	}
	most := max(share(heads[first:], bodies[first:], room), leastShown)
	var b strings.Builder
	for i, c := range all[first:] {
		body := beginning(bodies[first+i], most, lang)
		if c.Verdict != event.DeletedComment {
			body = between(frame, body)
		}
		b.WriteString(heads[first+i] + body + "\n\n")
		ids = append(ids, projections.CommentID(c.Kind, c.ID))
	}
	b.WriteString("---\n")
	if older := s.Comments.Older + first; older > 0 {
		b.WriteString(i18n.Text(lang, "comments.older", older) + "\n")
	}
	return b.String(), ids
}

func commentHead(c event.Comment, lang i18n.Lang) string {
	head := "---\n" + i18n.Text(lang, "comments.author", c.Author) + "\n" + i18n.Text(lang, "comments.time", format.Clock(c.Created)) + "\n"
	if c.Verdict == event.EditedComment {
		head += i18n.Text(lang, "comments.edited") + "\n"
	}
	return head + i18n.Text(lang, "comments.body") + "\n"
}

func commentBody(s *projections.State, c event.Comment, lang i18n.Lang) string {
	body := c.Body.View()
	if c.Verdict == event.DeletedComment {
		body = i18n.Text(lang, "comments.deleted", projections.CommentID(c.Kind, c.ID))
	}
	if s.Config.Comments.Detail == "summary" {
		body = format.First(body, summaryLength)
	}
	return body
}

// share is how many bytes each text may have so that all have room: short ones
// leave theirs to the long ones.
func share(heads, bodies []string, room int) int {
	sizes := make([]int, len(bodies))
	for i := range bodies {
		sizes[i] = len(bodies[i])
		room -= len(heads[i]) + len("\n\n")
	}
	slices.Sort(sizes)
	for i, size := range sizes {
		if left := len(sizes) - i; size > room/left {
			return max(room/left, 0)
		}
		room -= size
	}
	return max(room, leastShown) // all of each
}

// beginning is a text, or as much of it as fits most bytes, with a word on the rest.
func beginning(text string, most int, lang i18n.Lang) string {
	if len(text) <= most {
		return text
	}
	note := i18n.Text(lang, "comments.cut", len(text))
	shown := strings.ToValidUTF8(text[:max(most-len(note)-1, most/2)], "")
	return shown + "\n" + note
}
