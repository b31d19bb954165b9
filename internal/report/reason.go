package report

import (
	"path"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers"
	"agent/internal/i18n"
	"agent/internal/sanitize"
	"agent/llm"
	"agent/projections"
)

// Because says in one sentence why a context is paused, waits or ended; ""
// for one that is running.
func Because(s *projections.State, lang i18n.Lang) string {
	text := Reason(s, lang)
	if asked := Asked(s, lang); asked != "" {
		text = i18n.Text(lang, "why.requested.by", asked)
	}
	if work := Work(s, lang); work != "" && (s.Status.Ended() || s.Status == projections.Paused) {
		text += "; " + work
	}
	for _, refused := range Refused(s) {
		text += "; " + i18n.Text(lang, "end.refused", refused)
	}
	if ofTry(s) {
		text = InTry(text, s.Created.UUID)
	}
	return text
}

func ofTry(s *projections.State) bool { return s.Created != nil && forge.OfTry(s.Created.Forge) }

// Reason is Because without what became of the work.
func Reason(s *projections.State, lang i18n.Lang) string {
	text, detail := handlers.Reason(s, lang)
	if detail != "" {
		text += " (" + sanitize.Line(detail, 300) + ")"
	}
	if ofTry(s) {
		text = InTry(text, s.Created.UUID)
	}
	return text
}

// Asked says who asked for the pause that a context is in, "" if nobody did. The account of the
// machine is in it, so it is for those who run the agent, not for comments on the forge.
func Asked(s *projections.State, lang i18n.Lang) string {
	if s.Status != projections.Paused || s.Paused.Reason != event.PauseOnRequest || s.Paused.Until.Kind == "signal" || s.Wished == nil {
		return ""
	}
	return i18n.Text(lang, "row.asked.pause", i18n.Who(lang, s.Wished.By, s.Wished.Actor))
}

// Refused are the last comment and labels that the forge did not take, with its words.
func Refused(s *projections.State) (all []string) {
	for _, refused := range s.Refused {
		all = append(all, sanitize.Line(refused, 300))
	}
	return all
}

// Work says on one line where the unfinished work of a context is, "" if there is none.
func Work(s *projections.State, lang i18n.Lang) string {
	return sanitize.Line(handlers.Work(s, lang), 300)
}

// Change is the URL of the pull or merge request of a context, "" if there is none.
func Change(s *projections.State) string {
	if s.Publishing.Opened == nil || s.Publishing.Opened.Simulated != "" {
		return ""
	}
	return s.Publishing.Opened.URL
}

// NeedsPerson reports whether a context waits for a person who did not ask for that.
func NeedsPerson(s *projections.State) bool {
	return s.Status == projections.Paused && s.Resume == nil && s.Paused.Until.Kind == "person" && s.Paused.Reason != event.PauseOnRequest
}

// NeedsOperator reports whether a context waits because the model server refuses this
// machine's requests, as it would for every other task.
func NeedsOperator(s *projections.State) bool {
	if s.Status != projections.Paused {
		return false
	}
	kind, ofModel := s.Paused.Reason.OfModel()
	return ofModel && llm.Kind(kind).RefusesAll()
}

// WaitsForModel reports whether a context is paused until the model server answers
// again. It is tried again by itself.
func WaitsForModel(s *projections.State) bool {
	return s.Status == projections.Paused && s.Resume == nil && s.Paused.Until.Kind == "time"
}

// WaitsFor gives the reason of a pause, and what ends it: signal, person,
// comment, or a time in RFC 3339. Both are "" if the context does not wait.
func WaitsFor(s *projections.State) (reason, until string) {
	switch {
	case s.Status == projections.Awaiting:
		return "awaiting", "comment"
	case s.Status != projections.Paused || s.Paused == nil:
		return "", ""
	case s.Paused.Until.Kind == "time":
		return string(s.Paused.Reason), s.Paused.Until.Time.UTC().Format(time.RFC3339)
	}
	return string(s.Paused.Reason), s.Paused.Until.Kind
}

// WorkAt says where the unfinished work of a context is: its branch, or the patch below the
// directory of the contexts and the command that prints it. It may be in another directory next.
func WorkAt(store *contexts.Store, info contexts.Info, lang i18n.Lang) string {
	if info.Work != event.PatchFile {
		return info.Work
	}
	at, err := store.DirOf(info.UUID)
	if err != nil {
		return info.Work
	}
	return i18n.Text(lang, "work.at", path.Join(string(at), info.UUID, event.PatchFile), info.UUID[:min(8, len(info.UUID))])
}
