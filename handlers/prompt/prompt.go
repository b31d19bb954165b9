// Package prompt renders what the model reads: system, task and phase messages,
// comments of people, corrections, the requests for summaries, and the next request
// as a whole. Everything in it is a pure function of the state.
package prompt

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"

	"agent/eventlog/event"
	"agent/handlers/format"
	"agent/handlers/reply"
	"agent/internal/i18n"
	"agent/internal/sanitize"
	"agent/llm"
	"agent/projections"
)

// Inherited stands before the user's request. Its prefix tells it from a
// reply of this conversation.
func Inherited(s *projections.State) *event.MessageAdded {
	in := s.Inherited
	text := i18n.Text(s.Lang, "inherited.prefix", format.ShortID(in.From), format.Clock(in.At)) + "\n"
	switch in.Trust {
	case projections.TrustAuthor:
		text += i18n.Text(s.Lang, "inherited.author") + "\n"
	case projections.TrustAnybody:
		text += i18n.Text(s.Lang, "inherited.anybody") + "\n"
	}
	text += in.Summary.View()
	return &event.MessageAdded{Role: string(llm.Assistant), Purpose: event.InheritedMessage, Content: event.T(text)}
}

// SystemTemplate is the embedded system prompt. system_prompt_file replaces it;
// its placeholders are {protocol}, {language} and {mcp_prompt}.
//
//go:embed templates/system.txt
var SystemTemplate string

//go:embed templates/json.txt
var jsonRules string

//go:embed templates/tools.txt
var toolRules string

// System is the system message: the rules, the tools, and what the repository says.
func System(s *projections.State) *event.MessageAdded {
	template := SystemTemplate
	if s.Config.Prompt != "" {
		template = s.Config.Prompt
	}
	if !strings.Contains(template, "{protocol}") {
		template += "\n\n{protocol}" // a model that does not know the protocol can do nothing
	}
	rules := toolRules
	if s.Protocol() == "json" {
		rules = jsonRules
	}
	text := strings.NewReplacer("{protocol}", strings.TrimSpace(rules), "{language}", language(s),
		"{mcp_prompt}", serverPrompt(s)).Replace(template)
	if s.Planned() {
		text = strings.TrimSpace(text) + "\n\n" + planPrompt(s, "system")
	}
	text = strings.TrimSpace(text) + historyText(s) + ProjectText(s) // last: nothing of ours stands below what others wrote
	return &event.MessageAdded{Role: string(llm.System), Purpose: event.SystemMessage, Content: event.T(text)}
}

// historyText says that the history of the working copy is cut.
func historyText(s *projections.State) string {
	switch {
	case s.Workspace == nil || !s.Workspace.Shallow:
		return ""
	case s.Workspace.InPlace:
		return "\n\nThe history of the repository is cut here; older commits cannot be looked at."
	}
	return "\n\nThe clone holds the latest part of the history; git_log, git_blame and calls that name an older commit fetch more."
}

// language is the name, for the model, of the language that people are written to in.
func language(s *projections.State) string {
	if s.Lang == i18n.Ja {
		return "Japanese"
	}
	return "English"
}

// serverPrompt merges what each tool server says and offers. With native calls
// the schemas travel beside the conversation, so names are enough here.
func serverPrompt(s *projections.State) string {
	var b strings.Builder
	b.WriteString("Tools\n")
	for _, server := range s.Tools.Servers {
		if server.Prompt != "" {
			b.WriteString("\n" + strings.TrimSpace(server.Prompt) + "\n")
		}
		for _, t := range server.Tools {
			if s.Protocol() == "tools" {
				b.WriteString("- " + reply.FunctionName(server.Name, t.Name) + "\n")
				continue
			}
			b.WriteString("- " + server.Name + "/" + t.Name + ": " + format.OneLine(t.Description) + "\n  args: " + string(t.Schema) + "\n")
		}
		if server.Error != "" {
			b.WriteString("- the server " + server.Name + " is not available\n")
		}
	}
	return strings.TrimSpace(b.String())
}

// Task is the first message of the user: the task with its comments.
func Task(s *projections.State) *event.MessageAdded {
	return roomy(s, func(room int) *event.MessageAdded { return task(s, room) })
}

func task(s *projections.State, room int) *event.MessageAdded {
	t := s.Task
	body := i18n.Text(s.Lang, "task.empty")
	if text := strings.TrimSpace(t.Body.View()); text != "" {
		if len(s.Comments.Pending) > 0 {
			text = event.Shorten(text, max(room/2, room-commentBytes(s))) // the comments get what it leaves, half of the room at least
		}
		body = i18n.Text(s.Lang, "task.frame") + "\n" + between(mark(s), text)
	}
	var b strings.Builder
	b.WriteString(i18n.Text(s.Lang, "task.head", t.Title) + "\n")
	b.WriteString(i18n.Text(s.Lang, "task.by", t.Author, t.URL) + "\n\n" + body + "\n")
	b.WriteString(setupText(s))
	b.WriteString(continuedText(s))
	m := &event.MessageAdded{Role: string(llm.User), Purpose: event.TaskMessage}
	if len(s.Comments.Pending) > 0 {
		b.WriteString("\n" + i18n.Text(s.Lang, "task.comments") + "\n\n")
		list, ids := commentList(s, s.Lang, room-b.Len())
		b.WriteString(list)
		m.Comments = ids
	}
	m.Content = event.T(strings.TrimSpace(b.String()))
	return m
}

// Edited tells the model that the task itself was changed under its hands.
func Edited(s *projections.State) *event.MessageAdded {
	text := i18n.Text(s.Lang, "task.edited") + "\n\n" + i18n.Text(s.Lang, "task.head", s.Task.Title) + "\n\n" + fenced(s.Task.Body.View())
	return &event.MessageAdded{Role: string(llm.User), Purpose: event.EditedMessage, Content: event.T(strings.TrimSpace(text))}
}

// Comments tells the model what people wrote since the latest message.
func Comments(s *projections.State) *event.MessageAdded {
	return roomy(s, func(room int) *event.MessageAdded {
		lang := cmp.Or(i18n.Lang(s.Config.Comments.Language), s.Lang)
		head, foot := i18n.Text(lang, commentsHead(s))+"\n\n", i18n.Text(lang, "comments.foot")
		list, ids := commentList(s, lang, room-len(head)-len(foot))
		return &event.MessageAdded{Role: string(llm.User), Purpose: event.CommentsMessage, Content: event.T(head + list + foot), Comments: ids}
	})
}

// NewFiles asks about files that commands made, before they are published. words are
// the model's closing words, which stay.
func NewFiles(s *projections.State, paths []string, words string) *event.MessageAdded {
	var quoted []string
	for _, p := range paths {
		quoted = append(quoted, sanitize.Path(p))
	}
	slices.Sort(quoted)
	list, _ := fitFiles(quoted, s.WindowTokens()/8)
	text := i18n.Text(s.Lang, "files.new", len(paths)) + "\n" + fenced(strings.Join(list, "\n")) + "\n" + i18n.Text(s.Lang, "files.answer")
	return &event.MessageAdded{Role: string(llm.User), Purpose: event.NewFilesMessage, Content: event.T(text), Words: event.T(words)}
}

// Correction tells the model why its latest reply could not be used.
func Correction(problem string) *event.MessageAdded {
	return &event.MessageAdded{Role: string(llm.User), Purpose: event.CorrectionMessage, Content: event.T(problem)}
}

// setupOutput is how many runes of the output of a command that failed the model sees.
const setupOutput = 2000

// setupText tells the model what was run before it began.
func setupText(s *projections.State) string {
	if len(s.Setup) == 0 {
		return ""
	}
	lines := []string{i18n.Text(s.Lang, "task.setup")}
	for _, run := range s.Setup {
		if run.ExitCode == "0" {
			lines = append(lines, "- "+i18n.Text(s.Lang, "facts.command", format.Code(run.Command), run.ExitCode))
			continue
		}
		output := []rune(strings.TrimSpace(run.Output))
		lines = append(lines, "- "+format.Code(run.Subject)+":\n"+string(output[max(len(output)-setupOutput, 0):]))
	}
	return "\n" + strings.Join(lines, "\n") + "\n"
}

// continuedText tells the model which unfinished work its working copy holds.
func continuedText(s *projections.State) string {
	if s.Workspace == nil {
		return ""
	}
	switch c := s.Workspace.Continued; {
	case c.From == "":
		return ""
	case c.Error != "":
		return "\n" + i18n.Text(s.Lang, "task.fresh", format.Code(c.Error)) + "\n"
	}
	return "\n" + i18n.Text(s.Lang, "task.continued") + "\n"
}
