package tell

import (
	"fmt"
	"slices"
	"strings"

	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers/format"
	"agent/internal/i18n"
	"agent/internal/lazyregexp"
	"agent/internal/sanitize"
	"agent/projections"
)

// What people read about a change is made of events, not of what the model says.

// shownFiles is how many changed files are named.
const shownFiles = 30

// longestPatch is how many bytes of a patch are shown in a comment.
const longestPatch = 20000

// facts ties the closing words to what really happened.
func facts(s *projections.State, v *projections.Ending) string {
	u := s.Usage
	lines := evidence(s, v)
	if v.Reason == event.EndMaxCalls && u.LLMBegun > u.LLMCalls { // the title names the limit, which counts these too
		lines = append(lines, i18n.Text(s.Lang, "facts.begun", u.LLMBegun-u.LLMCalls))
	}
	return details(s, append(lines, i18n.Text(s.Lang, "facts.usage", u.LLMCalls, u.ToolCalls, u.Tokens(), format.Code(s.Created.UUID))))
}

func details(s *projections.State, lines []string) string {
	return fmt.Sprintf("<details><summary>%s</summary>\n\n- %s\n\n</details>", i18n.Text(s.Lang, "facts"), strings.Join(lines, "\n- "))
}

// evidence is what was changed, which commands ran, and what nobody looked at.
func evidence(s *projections.State, v *projections.Ending) []string {
	lines := append(changedLines(s), missingServers(s)...)
	ran := false
	for _, f := range s.Work.Facts {
		if f.ExitCode != "" {
			ran = true
			lines = append(lines, commandLine(s, f))
		}
	}
	for _, command := range s.Work.Unended() {
		ran = true
		lines = append(lines, i18n.Text(s.Lang, "facts.interrupted", format.Code(command)))
	}
	if v.Status == projections.Completed && v.ByModel() {
		if !ran {
			lines = append(lines, i18n.Text(s.Lang, "facts.none"))
		} else if late := writtenLate(s); len(late) > 0 {
			lines = append(lines, i18n.Text(s.Lang, "facts.late", codeList(late)))
		}
	}
	return lines
}

// commandLine says how a command ended, or that it did not.
func commandLine(s *projections.State, f projections.Fact) string {
	if f.ExitCode == projections.Killed || f.ExitCode == projections.Interrupted {
		return i18n.Text(s.Lang, i18n.ID("facts."+f.ExitCode), format.Code(f.Command))
	}
	return i18n.Text(s.Lang, "facts.command", format.Code(f.Command), f.ExitCode)
}

// missingServers name the tool servers that the work was done without. The reason
// may name paths of the agent's machine, which are no matter of a comment's readers.
func missingServers(s *projections.State) (lines []string) {
	if s.Tools == nil {
		return nil
	}
	for _, server := range s.Tools.Servers {
		if server.Error != "" {
			lines = append(lines, i18n.Text(s.Lang, "facts.server", format.Code(server.Name)))
		}
	}
	for _, name := range s.Shape.Tools {
		lines = append(lines, i18n.Text(s.Lang, "facts.tool", format.Code(name)))
	}
	return lines
}

// changedLines name what was changed: as git counts it, else as tools were asked to write it.
func changedLines(s *projections.State) (lines []string) {
	m := s.Publishing.Measured
	if m == nil || m.Error != "" {
		if files := s.Work.Files; len(files) > 0 {
			lines = append(lines, i18n.Text(s.Lang, "facts.files", codeList(files)))
		}
		return lines
	}
	for _, f := range m.Files[:min(len(m.Files), shownFiles)] {
		text := fmt.Sprintf("%s +%d −%d", format.Code(f.Path), f.Added, f.Removed)
		if f.Kind != "" {
			text = format.Code(f.Path) + " (" + i18n.Text(s.Lang, "kind."+i18n.ID(f.Kind)) + ")"
		}
		lines = append(lines, i18n.Text(s.Lang, "facts.changed", text))
	}
	if more := m.Count - min(len(m.Files), shownFiles); more > 0 {
		lines = append(lines, i18n.Text(s.Lang, "facts.more", more, m.Count, m.Added, m.Removed))
	}
	if len(m.LeftOut) > 0 {
		lines = append(lines, i18n.Text(s.Lang, "facts.left", codeList(m.LeftOut)))
	}
	if len(m.ByProducts) > 0 {
		lines = append(lines, i18n.Text(s.Lang, "facts.byproducts", byProducts(s)))
	}
	if s.Workspace != nil && s.Workspace.Missing != "" {
		lines = append(lines, i18n.Text(s.Lang, "facts.base", format.Code(s.Workspace.Missing), format.Code(s.Workspace.Base)))
	}
	return lines
}

// ByProductKind says what made a by-product: a program's name, or a word for it.
func ByProductKind(lang i18n.Lang, b event.ByProduct) string {
	if id := "byproduct." + i18n.ID(b.Kind); i18n.Has(id) {
		return i18n.Text(lang, id)
	}
	return b.Kind
}

// byProducts names what was left out, and what made it.
func byProducts(s *projections.State) string {
	var all, shown []string
	for _, b := range s.Publishing.Measured.ByProducts {
		all = append(all, b.Path)
		if len(shown) < shownFiles {
			shown = append(shown, i18n.Text(s.Lang, "byproduct", format.Code(b.Path), ByProductKind(s.Lang, b)))
		}
	}
	return strings.Join(shown, ", ") + more(all)
}

// writtenLate are files that were written after the last command had run.
func writtenLate(s *projections.State) (files []string) {
	for _, f := range slices.Backward(s.Work.Facts) {
		if f.ExitCode != "" && !f.Stale {
			break
		}
		if f.Writes && f.OK && !slices.Contains(files, f.Subject) {
			files = append(files, f.Subject)
		}
	}
	slices.Reverse(files)
	return files
}

// How words and commands are told apart. A command that only looks at files is no
// check, whatever the names of the files say.
// look is the beginning of a command that may name a test and runs none.
const look = `(?:(?:cat|ls|head|tail|grep|rg|echo|printf|sed|awk|find|wc|rm|cp|mv|mkdir|touch|chmod|git|diff|which|type|\[)(?:\s|$)|test\s+[-!]|` +
	`(?:pip3?|npm|pnpm|yarn|apt|apt-get|apk|go|cargo|gem|brew|uv|poetry|bundle|python3?\s+-m\s+pip)\s+(?:install|add|get|download|i|ci)(?:\s|$))`

var (
	claims = lazyregexp.New(`(?i)\b(tests?|test suite|specs?|checks|build)\s[^.!?\n]{0,60}\b(pass(es|ed|ing)?|succeed(s|ed)?|green)\b|` +
		`\bpass(es|ed|ing)?\b[^.!?\n]{0,40}\b(tests?|checks|specs?)\b|(テスト|ビルド)[^。\n]{0,30}(通|成功|パス|合格)`)
	denials = lazyregexp.New(`(?i)\b(not|no|never|cannot|couldn't|can't|don't|doesn't|didn't|without|fail(s|ed|ing)?)\b|n't\b|ない|ません|未|失敗|できず`)
	checks  = lazyregexp.New(`(?i)test|spec|check|verify|tox|build|^make$|^(mvn|gradle)\s`)
	looks   = lazyregexp.New(`^(?:` + look + `|(?:ba|da|z)?sh\s+-l?c\s+` + look + `[^;&|\n]*$)`)
	ends    = lazyregexp.New(`[.!?。！？\n]`)
)

// unverified marks the claim that tests pass if no command shows it: one that
// ended well after the last file was written.
func unverified(s *projections.State, v *projections.Ending) string {
	if !claimsTests(v.Text) || testsShown(s) {
		return ""
	}
	return i18n.Text(s.Lang, "facts.unverified")
}

func claimsTests(text string) bool {
	for _, sentence := range ends.Split(text, -1) {
		if claims.MatchString(sentence) && !denials.MatchString(sentence) {
			return true
		}
	}
	return false
}

func testsShown(s *projections.State) bool {
	for _, f := range slices.Backward(s.Work.Facts) {
		switch {
		case f.Setup:
			return false
		case f.Stale:
			continue
		case f.ExitCode != "" && checks.MatchString(f.Subject) && !looks.MatchString(f.Subject):
			return f.ExitCode == "0"
		case f.Writes && f.OK:
			return false
		}
	}
	return false
}

// codeList names shownFiles items at most.
func codeList(items []string) string {
	var shown []string
	for _, item := range items[:min(len(items), shownFiles)] {
		shown = append(shown, format.Code(item))
	}
	return strings.Join(shown, ", ") + more(items)
}

// more counts the items that are not shown.
func more(items []string) string {
	if len(items) <= shownFiles {
		return ""
	}
	return fmt.Sprintf(", … (+%d)", len(items)-shownFiles)
}

// changeLine says what became of the change.
func changeLine(s *projections.State) string {
	p := s.Publishing
	switch {
	case s.ChangedInPlace():
		return inPlaceLine(s)
	case p.Unfinished():
		return keptLine(s)
	case p.Failed != nil:
		return failedChange(s, p.Failed)
	case p.Measured != nil && p.Measured.Error != "":
		return i18n.Text(s.Lang, "change.other", format.Code(p.Measured.Error))
	case p.Measured != nil && p.Measured.Count == 0:
		return i18n.Text(s.Lang, "change.nothing")
	case p.Opened == nil:
		return ""
	case p.Opened.URL == "":
		return format.Paragraphs([]string{i18n.Text(s.Lang, unpushed(s)), patchBlock(s, p.Opened.Patch)})
	}
	line := i18n.Text(s.Lang, "change", p.Opened.URL)
	if p.Opened.Reviewer != "" {
		line += i18n.Text(s.Lang, "change.review")
	}
	if p.Opened.Rebased {
		line += " " + i18n.Text(s.Lang, "change.rebased")
	}
	return line
}

// unpushed says why work ended as a patch that was not to be pushed.
func unpushed(s *projections.State) i18n.ID {
	switch {
	case s.Task.Confidential:
		return "change.confidential"
	case s.Task.NoPush:
		return "change.nopush"
	}
	return "change.fork"
}

func failedChange(s *projections.State, f *event.ChangeFailed) string {
	if f.Pushed {
		return i18n.Text(s.Lang, unopened(f), format.Code(f.Message))
	}
	id := i18n.ID("change." + f.Kind)
	if !i18n.Has(id) {
		id = "change.other"
	}
	return format.Paragraphs([]string{i18n.Text(s.Lang, id, format.Code(f.Message)), patchBlock(s, f.Patch)})
}

// unopened tells apart why a request could not be opened: each reason has another remedy.
func unopened(f *event.ChangeFailed) i18n.ID {
	switch {
	case strings.Contains(strings.ToLower(f.Message), "archived"):
		return "change.unopened.archived"
	case f.Kind == string(forge.Forbidden):
		return "change.unopened.forbidden"
	}
	return "change.unopened"
}

// patchBlock shows a patch that is not too long, in a fence that it cannot end.
func patchBlock(s *projections.State, patch event.Text) string {
	if patch.IsZero() {
		return "" // there were no commits to make one of
	}
	kept := i18n.Text(s.Lang, "change.kept", format.Code(s.Created.UUID), event.PatchFile)
	if patch.Spilled() || len(patch.Inline) > longestPatch || s.Foreign { // who reads the item may not read that project
		return kept
	}
	fence := "```"
	for strings.Contains(patch.Inline, fence) {
		fence += "`"
	}
	return fmt.Sprintf("%s\n\n<details><summary>%s</summary>\n\n%sdiff\n%s\n%s\n\n</details>", kept, i18n.Text(s.Lang, "change.patch"),
		fence, strings.TrimRight(sanitize.Terminal(patch.Inline), "\n"), fence)
}

// inPlaceLine says where a change is that nobody published.
func inPlaceLine(s *projections.State) string {
	return i18n.Text(s.Lang, "change.inplace", directory(s))
}

// directory names the working copy. It shows only the last name of the directory:
// the whole path is the operator's business.
func directory(s *projections.State) string {
	dir := s.Workspace.Dir[strings.LastIndexByte(strings.TrimRight(s.Workspace.Dir, "/"), '/')+1:]
	return format.Code(sanitize.Line(dir, 120))
}
