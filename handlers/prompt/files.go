package prompt

import (
	"slices"
	"strings"

	"agent/eventlog/event"
	"agent/handlers/format"
	"agent/internal/i18n"
	"agent/internal/sanitize"
	"agent/llm"
	"agent/projections"
)

// Restored tells the model that the files were made again, and what of them was not.
func Restored(s *projections.State) *event.MessageAdded {
	r := s.Saved.Fresh
	parts := []string{i18n.Text(s.Lang, i18n.ID("files."+r.Reason)) + " " + i18n.Text(s.Lang, "files.restored")}
	var paths []string
	for _, f := range r.Files {
		paths = append(paths, f.Path)
	}
	parts = append(parts, pathList(s, "files.differed", paths), pathList(s, "files.unknown", r.Missing))
	if r.Base != "" {
		parts = append(parts, i18n.Text(s.Lang, "files.unrestored"))
	}
	return &event.MessageAdded{Role: string(llm.User), Purpose: event.RestoredMessage, Content: event.T(format.Paragraphs(parts))}
}

// pathList is a list below its head, empty without paths.
func pathList(s *projections.State, head i18n.ID, paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	var quoted []string
	for _, p := range paths {
		quoted = append(quoted, sanitize.Path(p))
	}
	slices.Sort(quoted)
	list, _ := fitFiles(quoted, s.WindowTokens()/16)
	return i18n.Text(s.Lang, head) + "\n" + fenced(strings.Join(list, "\n"))
}
