package llmtest

import (
	"fmt"
	"slices"
	"strings"

	"agent/internal/lazyregexp"
)

// Rules that several servers have. Each takes its source, and some the words.

// unknownFields refuses fields of messages by role.
func unknownFields(source, words string, role string, names ...string) Rule {
	return Rule{"no " + strings.Join(names, ", ") + " of " + role, source, 0, func(s Sent) string {
		for i, t := range s.Turns {
			for _, name := range names {
				if _, there := t.Fields[name]; there && t.Role == role {
					return fmt.Sprintf(words, i, name)
				}
			}
		}
		return ""
	}}
}

// noFields refuses fields of the request.
func noFields(source, words string, names ...string) Rule {
	return Rule{"no " + strings.Join(names, ", "), source, 0, func(s Sent) string {
		for _, name := range names {
			if _, there := s.Body[name]; there {
				return fmt.Sprintf(words, name)
			}
		}
		return ""
	}}
}

// otherRoles refuses roles that a server does not know.
func otherRoles(source, words string, roles ...string) Rule {
	return Rule{"no role " + strings.Join(roles, ", "), source, 0, func(s Sent) string {
		for i, t := range s.Turns {
			if slices.Contains(roles, t.Role) {
				return fmt.Sprintf(words, i, t.Role)
			}
		}
		return ""
	}}
}

// with is the rule under another status.
func (r Rule) with(status int) Rule {
	r.Status = status
	return r
}

func systemFirst(source, words string, status int) Rule {
	return Rule{"system first", source, status, func(s Sent) string {
		for i, t := range s.Turns {
			if t.Role == "system" && i > 0 {
				return words
			}
		}
		return ""
	}}
}

// format refuses kinds of response_format.
func format(source, words string, kinds ...string) Rule {
	return Rule{"no format " + strings.Join(kinds, ", "), source, 0, func(s Sent) string {
		if kind := formatOf(s); slices.Contains(kinds, kind) {
			return strings.ReplaceAll(words, "KIND", kind)
		}
		return ""
	}}
}

func formatOf(s Sent) string {
	f, _ := s.Body["response_format"].(map[string]any)
	kind, _ := f["type"].(string)
	return kind
}

func offers(s Sent) bool {
	tools, _ := s.Body["tools"].([]any)
	return len(tools) > 0
}

// without the system's turns.
func (s Sent) talk() []Turn {
	return slices.DeleteFunc(slices.Clone(s.Turns), func(t Turn) bool { return t.Role == "system" })
}

var nineLetters = lazyregexp.New(`^[a-zA-Z0-9]{9}$`)

func shortIDs(source, words string, status int) Rule {
	return Rule{"ids of nine letters or digits", source, status, func(s Sent) string {
		for _, t := range s.Turns {
			for _, c := range t.Calls {
				if !nineLetters.MatchString(c.ID) {
					return fmt.Sprintf(words, c.ID)
				}
			}
			if id, there := t.Fields["tool_call_id"].(string); there && !nineLetters.MatchString(id) {
				return fmt.Sprintf(words, id)
			}
		}
		return ""
	}}
}

// alternate is the check of a chat template: roles change between user and
// assistant, beginning with user. What is skipped stands outside of the count.
func alternate(source, words string, status int, skipped func(Turn) bool) Rule {
	return Rule{"roles alternate", source, status, func(s Sent) string {
		n := 0
		for _, t := range s.talk() {
			if skipped != nil && skipped(t) {
				continue
			}
			user := t.Role != "assistant" // a result of a tool is rendered as a user's turn
			if user != (n%2 == 0) {
				return words
			}
			n++
		}
		return ""
	}}
}

func pairs(source string, words func(before, after Turn, i int) string) Rule {
	return Rule{"what may follow what", source, 0, func(s Sent) string {
		for i := 1; i < len(s.Turns); i++ {
			if said := words(s.Turns[i-1], s.Turns[i], i); said != "" {
				return said
			}
		}
		return ""
	}}
}

func beginsWithUser(source, words string) Rule {
	return Rule{"begins with a user's turn", source, 0, func(s Sent) string {
		if talk := s.talk(); len(talk) > 0 && talk[0].Role != "user" {
			return words
		}
		return ""
	}}
}

// openaiRules are those of the API that the others imitate, as far as they are about
// what nobody sends today, and about ids of other servers.
var openaiRules = []Rule{
	noFields("https://github.com/microsoft/vscode/issues/302713", "Unsupported parameter: '%s' is not supported with this model. Use 'max_completion_tokens' instead.", "max_tokens"),
	noFields("https://github.com/tmc/langchaingo/issues/1355", "Unsupported value: '%s' does not support 0 with this model. Only the default (1) value is supported.", "temperature"),
	// That it is unsupported is public; the words are those of temperature.
	noFields("https://github.com/danny-avila/LibreChat/issues/10737", "Unsupported parameter: '%s' is not supported with this model.", "top_p"),
	{"parallel_tool_calls only with tools", "https://github.com/openai/swarm/issues/30", 0, func(s Sent) string {
		_, there := s.Body["parallel_tool_calls"]
		return unless(!there || offers(s), "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.")
	}},
	{"ids of 40 characters at most", "https://github.com/openclaw/openclaw/pull/875", 0, func(s Sent) string {
		for i, t := range s.Turns {
			for n, c := range t.Calls {
				if len(c.ID) > 40 {
					return fmt.Sprintf("Invalid 'messages[%d].tool_calls[%d].id': string too long. Expected a string with maximum length 40, but got a string with length %d instead.", i, n, len(c.ID))
				}
			}
		}
		return ""
	}},
}
