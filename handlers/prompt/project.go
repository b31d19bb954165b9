package prompt

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"agent/eventlog/event"
	"agent/internal/sanitize"
	"agent/llm"
	"agent/projections"
)

//go:embed templates/project.txt
var ProjectHead string

const (
	projectShare = 4        // the repository's texts get one part in so many of the window
	projectMost  = 24 << 10 // tokens that they get at most, see weigh
	projectExtra = 100      // tokens for headings and notes
	ruleCut      = "\n[… the rest was cut: read the file if you need it]"
)

// weigh is the room that a text takes, in tokens. A text of few tokens and many
// bytes counts by its bytes, so that the message stays whole in the log.
func weigh(text string) int { return max(llm.Estimate(text), len(text)/4) }

// projectRoom is what the repository's texts may weigh.
func projectRoom(c *event.ConfigPinned) int {
	return min(c.ContextLength/projectShare, projectMost) - weigh(ProjectHead) - projectExtra
}

// ProjectText is the end of the system message: what the repository says, marked
// as such, each text in a fence that it cannot close. It is empty if the window
// has no room for it.
func ProjectText(s *projections.State) string {
	room := projectRoom(s.Config)
	if s.Project == nil || room <= 0 {
		return ""
	}
	var files, rules string
	if s.Config.Project.Files {
		files = fileSection(s)
	}
	if s.Config.Project.Rules {
		rules = ruleSection(s.Project.Rules, room-weigh(files))
	}
	if files == "" && rules == "" {
		return ""
	}
	return "\n\n" + strings.TrimSpace(ProjectHead) + rules + files
}

// NestedHead stands above rules for directories.
//
//go:embed templates/rules.txt
var NestedHead string

// Rules shows the rules for the directories that the work went into. All such messages
// together get half of the room of the repository's texts.
func Rules(s *projections.State) *event.MessageAdded {
	var due []event.RuleFile
	for _, r := range s.Project.Nested {
		if slices.Contains(s.Entered.Due, r.Path) {
			due = append(due, r)
		}
	}
	room := projectRoom(s.Config)/2 - weigh(NestedHead)
	for _, e := range s.Conversation.Entries {
		if e.Purpose == event.RulesMessage {
			room -= weigh(e.Text)
		}
	}
	return &event.MessageAdded{Role: string(llm.User), Purpose: event.RulesMessage, Rules: s.Entered.Due,
		Content: event.T(strings.TrimSpace(NestedHead) + ruleSection(due, room))}
}

func ruleSection(all []event.RuleFile, room int) string {
	var b strings.Builder
	var missing []string
	for _, r := range all {
		text := strings.TrimSpace(r.Text.View())
		if text == "" {
			continue
		}
		if r.Cut {
			text += ruleCut
		}
		part := fitted(text, room, func(text string) string { return "\n\nFrom: " + r.Path + "\n" + fenced(text) })
		if part == "" {
			missing = append(missing, r.Path)
		}
		room -= weigh(part)
		b.WriteString(part)
	}
	if len(missing) > 0 {
		b.WriteString("\n\nNot shown for want of room, read them: " + strings.Join(missing, ", "))
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n\nProject-Specific Agent Rules" + b.String()
}

// fitted renders as much of a text as has room, or nothing.
func fitted(text string, room int, render func(string) string) string {
	out := render(text)
	for n := len([]rune(text)); weigh(out) > room; {
		if n = min(n*room/weigh(out), n*15/16); n <= len([]rune(ruleCut)) {
			return ""
		}
		out = render(sanitize.Cut(text, n, ruleCut))
	}
	return out
}

// fenced puts a text between marks that are longer than any in it.
func fenced(text string) string { return between(fence(text), text) }

// fence is a mark that is longer than any in the texts.
func fence(texts ...string) string {
	longest := 2
	for _, text := range texts {
		run := 0
		for i := range len(text) {
			if run++; text[i] != '`' {
				run = 0
			}
			longest = max(longest, run)
		}
	}
	return strings.Repeat("`", longest+1)
}

func between(mark, text string) string { return mark + "\n" + text + "\n" + mark }

// mapTokens is what a map of the repository costs at most.
const mapTokens = 2000

// MapTokens is what the map of a repository may cost in the window.
func MapTokens(c *event.ConfigPinned) int { return max(0, min(mapTokens, projectRoom(c)/2)) }

// mapSection is the map, or those of its first lines that have room.
func mapSection(s *projections.State) string {
	text, cut := s.Project.Map.View(), ""
	for most := projectRoom(s.Config) / 2; weigh(text) > most; cut = "\n…" {
		last := strings.LastIndexByte(text, '\n')
		if last < 0 {
			return ""
		}
		text = text[:last]
	}
	return "\n\nMap of " + s.Key.Project + "\n" + fenced(text+cut)
}

func fileSection(s *projections.State) string {
	if !s.Project.Map.IsZero() {
		return mapSection(s)
	}
	if s.Project.Files.IsZero() {
		return ""
	}
	list, more := fitFiles(strings.Split(s.Project.Files.View(), "\n"), projectRoom(s.Config)/2)
	if len(list) == 0 {
		return ""
	}
	text := fmt.Sprintf("\n\nFiles of %s (%d in all; / at the end: a directory whose files are not named here)\n",
		s.Key.Project, s.Project.Total) + fenced(strings.Join(list, "\n"))
	if more += s.Project.More; more > 0 {
		text += fmt.Sprintf("\n… and %d more", more)
	}
	return text
}
