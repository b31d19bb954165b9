package handlers

import (
	"strconv"
	"strings"

	"agent/handlers/prompt"
	"agent/internal/lazyregexp"
	"agent/llm"
	"agent/projections"
)

// places are how servers count tools in a refusal: tools[3], tools.3,
// function_declarations[3]. The more exact form stands first.
var places = []*lazyregexp.Regexp{
	lazyregexp.New(`function_?[dD]eclarations[\[.](\d+)`),
	lazyregexp.New(`\btools[\[.](\d+)`),
}

// refusedTool is the native name of the one tool that the latest refusal of a
// request is about, "" if it is about none or several.
func refusedTool(s *projections.State) string {
	f := s.Work.Failure
	if kind := llm.Kind(f.Kind); kind != llm.Invalid && kind != llm.ToolsRefused || s.Tools == nil {
		return ""
	}
	tools := offeredTools(s)
	if name, several := onlyNamed(tools, f.Message); name != "" || several {
		return name
	}
	for _, place := range places {
		found := place.FindAllStringSubmatch(f.Message, -1)
		for _, m := range found {
			if m[1] != found[0][1] {
				return ""
			}
		}
		if len(found) == 0 {
			continue
		}
		if n, err := strconv.Atoi(found[0][1]); err == nil && n < len(tools) {
			return tools[n].Name
		}
		return ""
	}
	return ""
}

// offeredTools are those of the latest request. After a refusal of tools the next
// one would hold none.
func offeredTools(s *projections.State) []llm.Tool {
	before := *s
	if s.Work.ToolsRefused == s.Work.FailureSeq {
		before.Work.ToolsRefused = 0
	}
	return prompt.Tools(&before)
}

// onlyNamed is the only tool whose name stands in a text as a word.
func onlyNamed(tools []llm.Tool, text string) (name string, several bool) {
	for _, t := range tools {
		if !hasWord(text, t.Name) {
			continue
		}
		if name != "" {
			return "", true
		}
		name = t.Name
	}
	return name, false
}

// hasWord reports whether a name stands in a text, and not as part of another name.
func hasWord(text, name string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		at += i
		end := at + len(name)
		if (at == 0 || !nameByte(text[at-1])) && (end == len(text) || !nameByte(text[end])) {
			return true
		}
		at++
	}
}

func nameByte(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
