package policy

import (
	"slices"
	"strings"

	"agent/internal/lazyregexp"
)

// CommandName is what a command in a comment asks for.
type CommandName string

// The commands. Which of them have an argument, and which, is in [arguments].
const (
	CommandApprove CommandName = "approve" // argument: the hash of a plan, or ""
	CommandRevise  CommandName = "revise"  // argument: what is to be different
	CommandStop    CommandName = "stop"
	CommandPause   CommandName = "pause"
	CommandResume  CommandName = "resume"
	CommandRetry   CommandName = "retry"
	CommandBudget  CommandName = "budget" // argument: +N
	CommandStatus  CommandName = "status"
)

// Command is one line of a comment that is meant for the agent.
type Command struct {
	Name     CommandName
	Argument string
}

// Grammar is how commands are written on a forge.
type Grammar struct {
	Off   bool   // comments are comments: nothing in them is a command
	Slash bool   // lines that begin with a slash are ours, not the forge's own commands
	Bot   string // login of the agent's account; "": it is not known, and a mention is no command
}

// arguments are the commands with the form of what follows each. A line with other
// words is a sentence, no command: people write "agent stop using this library", too.
var arguments = map[CommandName]*lazyregexp.Regexp{
	CommandApprove: lazyregexp.New("(?i)^(?:`?([0-9a-f]{7,64})`?)?\\.?$"),
	CommandRevise:  lazyregexp.New(`^(.+)$`),
	CommandStop:    lazyregexp.New(`^()\.?$`),
	CommandPause:   lazyregexp.New(`^()\.?$`),
	CommandResume:  lazyregexp.New(`^()\.?$`),
	CommandRetry:   lazyregexp.New(`^()\.?$`),
	CommandBudget:  lazyregexp.New(`^(\+[0-9]+(?:\.[0-9]+)?)$`),
	CommandStatus:  lazyregexp.New(`^()\.?$`),
}

// Agent addresses the agent where nobody knows the name of its account.
const Agent = "agent"

// Commands reads the commands of a comment, in their order, and tells whether it says
// nothing else. A command is first in its line: /approve, @bot approve, agent approve,
// and approve HASH. What is quoted, hidden or shown as code is none.
func Commands(body string, g Grammar) (commands []Command, alone bool) {
	if g.Off {
		return nil, false
	}
	alone = true
	var m markdown
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, " \t\r\n")
		plain := m.plain(line)
		if line == "" {
			continue
		}
		c, ok := Command{}, false
		if plain {
			c, ok = g.command(line)
		}
		if ok {
			commands = append(commands, c)
		}
		alone = alone && ok
	}
	return commands, alone && len(commands) > 0
}

// Asks reports whether a command of a name is among them.
func Asks(commands []Command, name CommandName) bool {
	return slices.ContainsFunc(commands, func(c Command) bool { return c.Name == name })
}

// command reads one line.
func (g Grammar) command(line string) (Command, bool) {
	first, rest, _ := strings.Cut(strings.TrimLeft(line, " "), " ")
	name, argument, _ := strings.Cut(strings.TrimSpace(rest), " ")
	slash, isSlash := strings.CutPrefix(first, "/")
	switch {
	case isSlash && g.Slash:
		return commandOf(slash, rest)
	case strings.EqualFold(first, Agent), g.mentions(first):
		return commandOf(name, argument)
	case strings.EqualFold(first, "`"+Agent) && strings.HasSuffix(strings.TrimSuffix(rest, "."), "`"): // copied from a comment of ours
		return g.command(strings.Trim(line, " `."))
	case strings.EqualFold(first, string(CommandApprove)):
		c, ok := commandOf(first, rest)
		return c, ok && c.Argument != ""
	}
	return Command{}, false
}

// mentions reports whether a word is a mention of the agent's account. That of an App
// is written without the ending of its login.
func (g Grammar) mentions(word string) bool {
	login, ok := strings.CutPrefix(word, "@")
	return ok && g.Bot != "" && (strings.EqualFold(login, g.Bot) || strings.EqualFold(login, strings.TrimSuffix(g.Bot, "[bot]")))
}

func commandOf(word, rest string) (Command, bool) {
	name := CommandName(strings.ToLower(strings.TrimSuffix(word, ".")))
	form := arguments[name]
	if form == nil {
		return Command{}, false
	}
	found := form.FindStringSubmatch(strings.TrimSpace(rest))
	if found == nil {
		return Command{}, false
	}
	argument := found[1]
	if name == CommandApprove {
		argument = strings.ToLower(argument)
	}
	return Command{name, argument}, true
}

// markdown tells which lines of a text are plain: neither code nor quoted nor hidden.
// Where renderers differ a line counts as not plain.
type markdown struct {
	until  string // what ends the block of code, HTML or quotes that is open, "" if none is
	quoted bool   // a line that continues a quote belongs to it, also without its mark
}

// listMarks may stand before a fence.
var listMarks = lazyregexp.New(`^(?:[ \t]*(?:[-*+]|[0-9]+[.)])[ \t]+)*`)

// opening is HTML within which no line is plain.
var opening = lazyregexp.New(`(?i)<(pre|code|blockquote|script|style|textarea)\b[^>]*>|(<!--)`)

// plain takes the next line, without the spaces at its end.
func (m *markdown) plain(line string) bool {
	text := strings.TrimSpace(line[len(listMarks.FindString(line)):])
	if m.until != "" {
		if m.closes(text) {
			m.until = ""
		}
		return false
	}
	if m.opens(text) {
		m.quoted = false
		return false
	}
	m.quoted = strings.HasPrefix(text, ">") || m.quoted && text != ""
	return !m.quoted && !strings.HasPrefix(line, "    ") && !strings.Contains(line[:len(line)-len(strings.TrimLeft(line, " \t"))], "\t")
}

// opens notes a block that begins in a line.
func (m *markdown) opens(text string) bool {
	for _, mark := range []string{"`", "~", ">"} {
		n := len(text) - len(strings.TrimLeft(text, mark))
		if n >= 3 && (mark != ">" || n == len(text)) && (mark != "`" || !strings.Contains(text[n:], mark)) { // three > are a quote of GitLab's
			m.until = text[:n]
			return true
		}
	}
	found := opening.FindAllStringSubmatchIndex(text, -1)
	for _, at := range found {
		end := "-->"
		if at[2] >= 0 {
			end = "</" + strings.ToLower(text[at[2]:at[3]]) + ">"
		}
		if !strings.Contains(strings.ToLower(text[at[1]:]), end) {
			m.until = end
			return true
		}
	}
	return len(found) > 0
}

// closes reports whether a line ends the open block: a fence of the same kind and at
// least the same length, or the end of the HTML anywhere in it.
func (m *markdown) closes(text string) bool {
	if mark := m.until[:1]; strings.Contains("`~>", mark) {
		return strings.HasPrefix(text, m.until) && strings.Trim(text, mark) == ""
	}
	return strings.Contains(strings.ToLower(text), m.until)
}
