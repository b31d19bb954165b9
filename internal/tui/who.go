package tui

import (
	"strings"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/internal/term"
	"agent/internal/timeline"
)

// lookBack is how many events before a pause or its end the wish for it is looked for.
const lookBack = 100

// wish is who asked for something, and how.
type wish struct {
	seq                uint64
	by, actor, comment string
	leads              timeline.Kind // of the row that it leads to
}

// wishOf is the wish in an event, false if there is none.
func wishOf(b event.Body) (w wish, ok bool) {
	switch b := b.(type) {
	case *event.PauseRequested:
		return wish{by: b.By, actor: b.Actor, comment: b.Comment, leads: timeline.Pause}, true
	case *event.ResumeRequested:
		return wish{by: b.By, actor: b.Actor, comment: b.Comment, leads: timeline.Resume}, true
	case *event.StopRequested:
		return wish{by: b.By, actor: b.Actor, comment: b.Comment, leads: timeline.End}, true
	}
	return w, false
}

// who says who asked for a pause, its end or a stop, how, and where that stands. The reason of a
// pause may have said it.
func (p *page) who(r timeline.Row, said bool) {
	if r.Kind != timeline.Pause && r.Kind != timeline.Resume && r.Kind != timeline.Request && r.Kind != timeline.End {
		return
	}
	var found wish
	_ = eachLine(p.Store, p.uuid, max(r.Seq, lookBack)-lookBack+1, func(rec eventlog.Record) bool { // the top names damage
		if strings.HasSuffix(string(rec.Type), ".requested") {
			ev, err := event.Decode(rec)
			if w, ok := wishOf(ev.Body); err == nil && ok && (r.Seq == rec.Seq || r.Kind == w.leads) {
				w.seq = rec.Seq
				found = w
			}
		}
		return rec.Seq < r.Seq
	})
	if found.seq == 0 || r.Kind == timeline.Pause && r.Type == "context.paused" && !p.onRequest(r.Seq) {
		return
	}
	if r.Kind != timeline.Pause || !said {
		p.lines = append(p.lines, styled{})
		p.add(term.Waits, p.text("tui.who", p.how(found)))
	}
	if link := p.commentLink(found.comment); link != "" {
		p.add("", link)
	}
}

// how is a person, and what that person did.
func (p *page) how(w wish) string {
	actor := w.actor
	if actor != "" && w.by != "command" { // whose actor is an account of the machine
		actor = "@" + strings.TrimPrefix(actor, "@")
	}
	if id := i18n.ID("tui.who." + w.by); i18n.Has(id) {
		if actor == "" {
			actor = p.text("tui.who.somebody")
		}
		return p.text(id, actor)
	}
	return strings.TrimSpace(actor + " " + w.by)
}

// onRequest tells whether a pause is one that somebody asked for.
func (p *page) onRequest(seq uint64) (asked bool) {
	_ = eachLine(p.Store, p.uuid, seq, func(rec eventlog.Record) bool {
		if ev, err := event.Decode(rec); err == nil {
			b, ok := ev.Body.(*event.ContextPaused)
			asked = ok && b.Reason == event.PauseOnRequest
		}
		return false
	})
	return asked
}

// commentLink is the address of a comment on the task, "" if it is not known.
func (p *page) commentLink(id string) (link string) {
	if id == "" {
		return ""
	}
	kind := ""
	_ = eachLine(p.Store, p.uuid, 1, func(rec eventlog.Record) bool {
		ev, err := event.Decode(rec)
		if err != nil {
			return rec.Seq < lookBack
		}
		switch b := ev.Body.(type) {
		case *event.ContextCreated:
			kind = b.Kind
		case *event.TaskFetched:
			link = b.URL
		}
		return link == "" && rec.Seq < lookBack
	})
	switch {
	case link == "":
		return ""
	case strings.HasPrefix(kind, "gitlab"):
		return link + "#note_" + id
	case strings.HasPrefix(kind, "github"):
		return link + "#issuecomment-" + id
	}
	return ""
}
