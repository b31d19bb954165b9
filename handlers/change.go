package handlers

import (
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"agent/eventlog/event"
	"agent/handlers/format"
	"agent/handlers/prompt"
	"agent/handlers/tell"
	"agent/internal/lazyregexp"
	"agent/projections"
)

// publishes tells whether the work ends as a branch or a patch.
func publishes(s *projections.State) bool {
	return s.Config.Change.Enabled && s.Task != nil && s.Workspace != nil && s.Workspace.Dir != "" && !s.Workspace.InPlace
}

// redoResume takes the steps after a resume before words count that the model said
// before the pause.
func redoResume(s *projections.State, v *projections.Ending) Effect {
	switch {
	case !v.ByModel():
		return nil
	case s.Status != projections.Running:
		return idle(s)
	}
	return resume(s)
}

// publish takes the steps from the model's closing words to the opened request.
// Every other end keeps the work, see keep.
func publish(s *projections.State, v *projections.Ending) Effect {
	switch {
	case !publishes(s), s.Done(projections.StepChange, v.Since):
		return nil
	case !v.ByModel():
		return keep(s, v)
	}
	if e := newInputs(s, v); e != nil {
		return e
	}
	if !s.Done(projections.StepMeasured, v.Since) || s.Publishing.Stale {
		return Read{Want: WantMeasure}
	}
	paths := newFiles(s)
	switch {
	case len(paths) > 0:
		return Record{prompt.NewFiles(s, paths, v.Text)}
	case s.Publishing.Measured.Count > 0:
		return Act{Intent: changeIntent(s, v)}
	}
	return nil
}

// newInputs looks whether the task and the comments are still what the model
// knows. If not, it is told, and decides anew.
func newInputs(s *projections.State, v *projections.Ending) Effect {
	switch {
	case s.Config.Comments.Enabled && (s.Comments.Partial || !s.Done(projections.FetchedToPublish, v.Since)):
		return Read{Want: WantComments, Reason: event.FetchPublish}
	case len(s.Comments.Pending) > 0:
		return Record{prompt.Comments(s)}
	case s.UnreadEdit():
		return Record{prompt.Edited(s)}
	}
	return nil
}

// needsApproval is true while the change that the latest reply, or the plan, ended
// with waits for a person's approval.
func needsApproval(s *projections.State) bool {
	p, since := s.Publishing, s.Work.ReplySeq
	if s.Planned() {
		since = planSince(s)
	}
	since = max(since, s.Steps[projections.MessageStep(event.NewFilesMessage)])
	return publishes(s) && s.Done(projections.StepMeasured, since) && !s.Done(projections.StepChange, since) && p.Measured.Tree != p.Approved &&
		len(approvalReasons(s)) > 0 && len(newFiles(s)) == 0
}

// approvalReasons says why a person has to approve the change that was measured.
func approvalReasons(s *projections.State) (reasons []tell.ApprovalReason) {
	m, rule := s.Publishing.Measured, s.Config.Change
	most := rule.MaxFiles
	if m.Count > len(m.Files) && (most <= 0 || most > len(m.Files)) {
		most = len(m.Files) // nobody looked at the paths of the rest
	}
	if most > 0 && m.Count > most {
		reasons = append(reasons, tell.ApprovalReason{Kind: "files", Have: m.Count, Most: most})
	}
	if n := m.Added + m.Removed; rule.MaxLines > 0 && n > rule.MaxLines {
		reasons = append(reasons, tell.ApprovalReason{Kind: "lines", Have: n, Most: rule.MaxLines})
	}
	plan := s.Planning.Approved
	for _, f := range m.Files {
		switch {
		case f.Kind == "secret", f.Kind == "submodule", f.Kind == "large", f.Kind == "binary" && rule.Binary == "ask":
			reasons = append(reasons, tell.ApprovalReason{Kind: f.Kind, Path: f.Path})
		case protected(f.Path, rule.Protected):
			reasons = append(reasons, tell.ApprovalReason{Kind: "path", Path: f.Path})
		case plan != nil && !plan.Names(f.Path):
			reasons = append(reasons, tell.ApprovalReason{Kind: "unplanned", Path: f.Path})
		}
	}
	return reasons
}

// protected reports whether a path is one that a person has to approve: it is
// below a directory of the list (an entry that ends in a slash), matches an entry
// with a slash, or an entry without one matches its last part. A file or link
// named like a protected directory, or like one above it, counts too: a link puts
// other contents in the directory's place. Case does not count, as some systems
// see none. A path that was cut may be any.
func protected(name, list string) bool {
	if strings.HasSuffix(name, "…") {
		return list != ""
	}
	name = strings.ToLower(name)
	for entry := range strings.SplitSeq(strings.ToLower(list), "\n") {
		whole := name
		switch {
		case entry == "":
			continue
		case strings.HasSuffix(entry, "/"):
			if strings.HasPrefix(name, entry) || strings.HasPrefix(entry, name+"/") {
				return true
			}
			entry += "**"
		case !strings.Contains(entry, "/"):
			whole = path.Base(name)
		}
		if ok, err := doublestar.Match(entry, whole); ok || err != nil && entry == whole { // old logs may hold bad patterns
			return true
		}
	}
	return false
}

func changeIntent(s *projections.State, e *projections.Ending) *event.ChangeRequested {
	c := &event.ChangeRequested{
		Base: s.Workspace.Base, Draft: s.Config.Change.Draft, Tree: s.Publishing.Measured.Tree,
		Title: tell.ChangeTitle(s), Body: event.T(tell.ChangeBody(s, e)),
	}
	switch {
	case s.Task.Fork, s.Task.Confidential, s.Task.NoPush: // there is no branch here to push to, or too many would see it
	case s.Task.Branch != "":
		c.Branch, c.Existing = s.Task.Branch, true
	default:
		c.Branch, c.Reviewer = branchName(s), s.Addressee()
	}
	return c
}

// longestSlug is how many characters of a title go into a branch's name.
const longestSlug = 40

// branchName is one that no other context has: it ends in the context's own
// name. Of the title it holds letters and digits of ASCII.
func branchName(s *projections.State) string {
	parts := []string{fmt.Sprintf("%sissue-%d", s.Config.Change.Prefix, s.Key.Number)}
	if slug := slugOf(s.Task.Title); slug != "" {
		parts = append(parts, slug)
	}
	return strings.Join(append(parts, format.ShortID(s.Created.UUID)), "-")
}

func slugOf(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	slug := ""
	for _, w := range words {
		if slug != "" {
			w = "-" + w
		}
		if len(slug)+len(w) > longestSlug {
			break
		}
		slug += w
	}
	return slug
}

var baseLine = lazyregexp.New("(?mi)^[ \t]*(?:base|base branch|target branch|ベース|ベースブランチ)[ \t]*[:：][ \t]*`?([^\\s`]+)`?[ \t]*$")

// BaseOf is the branch that a task's text says its change goes to, "" if it says
// nothing: a line of its own like "Base: release-1.2".
func BaseOf(text string) string {
	if m := baseLine.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}
