package tell

import (
	"fmt"

	"agent/forge"
	"agent/handlers/format"
	"agent/internal/i18n"
	"agent/internal/sanitize"
	"agent/projections"
)

// ApprovalReason is one reason why a person has to approve a change.
type ApprovalReason struct {
	Kind       string // files | lines | secret | submodule | large | binary | path | unplanned
	Path       string
	Have, Most int // of files and lines
}

// ApprovalLines renders reasons, a line each.
func ApprovalLines(lang i18n.Lang, reasons []ApprovalReason) (lines []string) {
	for _, r := range reasons {
		id := "held." + i18n.ID(r.Kind)
		if r.Path == "" {
			lines = append(lines, i18n.Text(lang, id, r.Have, r.Most))
			continue
		}
		lines = append(lines, i18n.Text(lang, id, format.Code(r.Path)))
	}
	return lines
}

// longestTitle is how many characters of a task's title the title of its change
// has. Forges take 255, with what stands around it.
const longestTitle = 200

// ChangeTitle is the title of the pull or merge request.
func ChangeTitle(s *projections.State) string {
	return i18n.Text(s.Lang, "change.title", sanitize.Title(format.First(s.Task.Title, longestTitle)), s.Key.Number)
}

// ChangeBody is its description: the closing words, and the evidence for them.
func ChangeBody(s *projections.State, e *projections.Ending) string {
	context := i18n.Text(s.Lang, "facts.context", format.Code(s.Created.UUID))
	known := format.Paragraphs([]string{unverified(s, e), details(s, append(evidence(s, e), context))})
	body := format.Paragraphs([]string{link(s), sanitize.Unclosing(before(s, closingWords(s, e), known))})
	return sanitize.Cut(body, MaxComment, i18n.Text(s.Lang, "cut"))
}

// link ties a request to its item. A merge closes an issue.
func link(s *projections.State) string {
	if s.Key.Kind == forge.GitHubPullRequest || s.Key.Kind == forge.GitLabMergeRequest {
		return i18n.Text(s.Lang, "change.for", s.Task.URL)
	}
	return fmt.Sprintf("Closes #%d", s.Key.Number) // in the forges' own words
}
