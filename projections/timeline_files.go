package projections

import (
	"fmt"
	"strings"

	"agent/eventlog/event"
)

// describeFiles says what became of the working copy.
func describeFiles(b event.Body) string {
	switch b := b.(type) {
	case *event.WorkspaceSaved:
		text := fmt.Sprintf("%s: %d files, +%d −%d lines, tree %s", b.Reason, b.Count, b.Added, b.Removed, short(b.Tree))
		if b.Count > 0 && len(b.Files) > 0 {
			text += ": " + somePaths(b.Files, b.Count)
		}
		if len(b.NotSaved) > 0 {
			text += fmt.Sprintf("; not saved: %s (%s)", b.NotSaved[0].Path, b.NotSaved[0].Reason)
			if more := len(b.NotSaved) - 1; more > 0 {
				text += fmt.Sprintf(" and %d more", more)
			}
		}
		return strings.TrimSpace(text + " " + b.Error)
	case *event.WorkspaceRestored:
		text := fmt.Sprintf("%s: %d files differed, tree %s", b.Reason, b.Count, short(b.Tree))
		if b.Kept != "" {
			text += ", kept in " + b.Kept
		}
		return strings.TrimSpace(text + " " + b.Error)
	case *event.WorkspaceChanged:
		if b.Reason != "" {
			text := fmt.Sprintf("what is stored is damaged, and %d files may not be what it held: %s", b.Count, somePaths(b.Files, b.Count))
			if b.Kept != "" {
				text += ", kept in " + b.Kept
			}
			return text
		}
		return fmt.Sprintf("%d files were changed by somebody: %s", b.Count, somePaths(b.Files, b.Count))
	}
	return ""
}

// somePaths names the first files of a list.
func somePaths(files []event.SavedFile, count int) string {
	const most = 3
	var names []string
	for _, f := range files[:min(len(files), most)] {
		names = append(names, f.Path)
	}
	if more := count - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}
