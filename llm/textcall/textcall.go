// Package textcall reads tool calls that a model wrote into its text, because
// its server has no parser for the model's own format.
//
// It is one reader for all providers. Text becomes calls only under narrow
// conditions: the calls are complete, they end the text or are all of it, they
// stand outside of block quotes, inline code and code blocks (but for a block
// that holds nothing else), and each names an offered tool with an object for
// arguments. A call that ends the text and fails one of these is a [Problem], for
// the model to correct. Everything else is prose and stays as it is.
//
// The formats are listed in marks.go. The package is pure and takes time in
// proportion to the text.
package textcall

import (
	"slices"
	"strings"

	"agent/llm"
)

// Problem says why a call that ends a text cannot be made.
type Problem string

// The problems of a written call.
const (
	None         Problem = ""
	CutOff       Problem = "cut_off"       // its end is missing
	NotOffered   Problem = "not_offered"   // no tool of that name is offered
	BadArguments Problem = "bad_arguments" // the arguments are no JSON object
)

// Found is what a text holds.
type Found struct {
	Prose   string         // the text before the calls; all of it if there are none
	Calls   []llm.ToolCall // without ids
	Problem Problem        // why there are no calls although the text ends with one
	Name    string         // the tool that the problem is about, if it names one
}

// Read looks for calls at the end of text. Tools are those that may be called
// at this place; with none, every written call is [NotOffered].
func Read(text string, tools []llm.Tool) Found {
	trimmed := strings.TrimSpace(text)
	for _, at := range starts(trimmed) {
		calls, problem := sequence(trimmed[at:], tools)
		if problem == None && len(calls) == 0 {
			continue
		}
		if bad, name := check(calls, tools); problem == None && bad != None {
			return Found{Prose: text, Problem: bad, Name: name}
		}
		if problem != None {
			return Found{Prose: text, Problem: problem}
		}
		return Found{Prose: strings.TrimSpace(trimmed[:at]), Calls: toolCalls(calls)}
	}
	if endsInMark(trimmed) {
		return Found{Prose: text, Problem: CutOff}
	}
	return Found{Prose: text}
}

// call is one that was read. Arguments is "" if they are no object.
type call struct{ name, arguments string }

// sequence reads calls until the end of text. Both results are empty if text is
// something else, or goes on after the calls.
func sequence(text string, tools []llm.Tool) (all []call, problem Problem) {
	for rest := text; rest != ""; {
		calls, after, state := next(rest, tools)
		switch state {
		case cut:
			return nil, CutOff
		case other:
			return nil, None
		case whole:
		}
		all, rest = append(all, calls...), strings.TrimSpace(after)
	}
	return all, None
}

// check finds the first call that cannot be made.
func check(calls []call, tools []llm.Tool) (Problem, string) {
	for _, c := range calls {
		switch {
		case !slices.ContainsFunc(tools, func(t llm.Tool) bool { return t.Name == c.name }):
			return NotOffered, c.name
		case c.arguments == "":
			return BadArguments, c.name
		}
	}
	return None, ""
}

func toolCalls(calls []call) (out []llm.ToolCall) {
	for _, c := range calls {
		out = append(out, llm.ToolCall{Name: c.name, Arguments: c.arguments})
	}
	return out
}
