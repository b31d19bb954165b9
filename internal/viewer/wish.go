package viewer

import (
	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/i18n"
)

// Wish remembers who asked for a pause until the work pauses: the event of the pause does not say.
type Wish struct{ pause string }

// Words is [Words] of the next event of a log, which names who asked.
func (w *Wish) Words(ev event.Event, lang i18n.Lang) string {
	text := Words(ev, lang)
	switch b := ev.Body.(type) {
	case *event.PauseRequested:
		w.pause = text
	case *event.ContextPaused:
		if b.Reason == event.PauseOnRequest && w.pause != "" {
			text = w.pause
		}
		w.pause = ""
	}
	return text
}

// Sentence is [Sentence] of the next event of a log, which names who asked.
func (w *Wish) Sentence(ev event.Event, lang i18n.Lang) string {
	if text := w.Words(ev, lang); text != "" {
		return text
	}
	return Sentence(ev, lang)
}

// saw takes an event that is not shown.
func (w *Wish) saw(r eventlog.Record, lang i18n.Lang) {
	if string(r.Type) != "pause.requested" {
		return
	}
	if ev, err := event.Decode(r); err == nil {
		w.Words(ev, lang)
	}
}
