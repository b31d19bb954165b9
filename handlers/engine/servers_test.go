package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/handlers/engine"
	"agent/llm"
	"agent/llm/llmtest"
	"agent/projections"
)

// The kinds of answers that a task must stand hold on every server's own protocol:
// a kind that one adapter reads in its own words leads to the same end as elsewhere.

// servers are the dialects that have a protocol, or words, of their own.
var servers = []string{"OpenAI, chat", "Anthropic", "Ollama, native", "LM Studio"}

// answers is what a server says, by the beginning of its name; "" is for all others.
type answers map[string]llmtest.Reply

func (a answers) of(server string) llmtest.Reply {
	for begins, reply := range a {
		if begins != "" && strings.HasPrefix(server, begins) {
			return reply
		}
	}
	return a[""]
}

// in gives a body in the form in which each server wraps an error.
func in(status int, code, words string) answers {
	return answers{
		"":          llmtest.Error(status, code, words),
		"Anthropic": llmtest.JSON(status, fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q}}`, code, words)),
		"Ollama":    llmtest.JSON(status, fmt.Sprintf(`{"error":%q}`, words)),
		"LM Studio": llmtest.JSON(status, fmt.Sprintf(`{"error":%q}`, words)),
	}
}

var tooLong = answers{"": llmtest.ContextOverflow(),
	"Anthropic": llmtest.JSON(400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}`),
	"Ollama":    llmtest.JSON(400, `{"error":"the input length exceeds the context length"}`),
	"LM Studio": llmtest.JSON(400, `{"error":"The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length."}`)}

// kinds of answers, in the numbering of what they are about. A fault is given once, to
// the second request, unless ends names the pause that it leads to.
var kinds = []struct {
	name  string
	fault func(server string, good llmtest.Reply) llmtest.Reply
	ends  string   // reason of the pause; "": the task is done
	kind  llm.Kind // of the llm.failed event; "": there is none
}{
	{"call as text", asText("<tool_call>", "</tool_call>"), "", ""},
	{"call as text, fenced", asText("```json\n", "\n```"), "", ""},
	{"call as text, with a preamble", asText("I do it now.\n<tool_call>", "</tool_call>"), "", ""},
	{"call as text, cut off", func(string, llmtest.Reply) llmtest.Reply { return llmtest.Text(`<tool_call>{"name": "files__ap`) }, "", ""},
	{"empty reply", func(string, llmtest.Reply) llmtest.Reply { return llmtest.Text("") }, "", llm.Empty},
	{"only blanks", func(string, llmtest.Reply) llmtest.Reply { return llmtest.Text(" \n\t") }, "", llm.Empty},
	{"model loads", said(in(503, "overloaded_error", "Loading model")), "", llm.Transient},
	{"model crashed", said(answers{"": llmtest.ServerError(500), "Ollama": llmtest.JSON(500, `{"error":"llama runner process has terminated: exit status 2"}`),
		"LM Studio": llmtest.JSON(400, `{"error":"The model has crashed without additional information. (Exit code: 18446744072635812000)"}`)}), "", llm.Transient},
	{"server busy", said(in(503, "overloaded_error", "server busy, please try again.  maximum pending requests exceeded")), "", llm.Transient},
	{"stream cut", func(_ string, good llmtest.Reply) llmtest.Reply { return llmtest.Cut(good, 1) }, "", llm.Transient},
	{"connection dropped", func(string, llmtest.Reply) llmtest.Reply { return llmtest.Drop() }, "", llm.Transient},
	{"a web page", func(string, llmtest.Reply) llmtest.Reply { return llmtest.HTML() }, "", llm.Transient},
	{"malformed call", said(answers{"": llmtest.Error(400, "tool_use_failed", "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details."),
		"Anthropic": llmtest.JSON(400, `{"type":"error","error":{"type":"invalid_request_error","message":"tool_use_failed: Failed to call a function."}}`),
		"Ollama":    llmtest.JSON(500, `{"error":"error parsing tool call: raw='{\"path\": \"no', err=unexpected end of JSON input"}`)}), "", llm.MalformedCall},
	{"unknown model", said(answers{"": llmtest.Error(404, "model_not_found", "The model `gpt-9` does not exist or you do not have access to it."),
		"Anthropic": llmtest.JSON(404, `{"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}`),
		"Ollama":    llmtest.JSON(404, `{"error":"model 'qwen9' not found"}`),
		"LM Studio": llmtest.JSON(400, `{"error":"No models loaded. Please load a model in the developer page or use the 'lms load' command."}`)}), "model_not_found", llm.NotFound},
	{"key refused", said(in(401, "authentication_error", "invalid api key")), "model_auth", llm.Auth},
	{"key forbidden", said(in(403, "permission_error", "you are not allowed to use this model")), "model_auth", llm.Auth},
	{"no money", said(in(402, "billing_error", "insufficient credits")), "model_quota", llm.Quota},
	{"prompt too long", said(tooLong), "model_context_overflow", llm.ContextOverflow},
	{"prompt too long, once", said(tooLong), "", llm.ContextOverflow},
	{"prompt cut silently", func(_ string, good llmtest.Reply) llmtest.Reply {
		good.Usage = &llm.Usage{Prompt: 4096, Completion: 5, Known: true} // of some 8000
		return good
	}, "model_truncated", llm.Truncated},
}

func said(a answers) func(string, llmtest.Reply) llmtest.Reply {
	return func(server string, _ llmtest.Reply) llmtest.Reply { return a.of(server) }
}

// asText puts the calls of a reply into its text.
func asText(open, end string) func(string, llmtest.Reply) llmtest.Reply {
	return func(_ string, good llmtest.Reply) llmtest.Reply {
		if len(good.Calls) == 0 {
			return good
		}
		call, _ := json.Marshal(map[string]any{"name": good.Calls[0].Name, "arguments": json.RawMessage(good.Calls[0].Arguments)})
		return llmtest.Text(open + string(call) + end)
	}
}

// TestServersAlike tries each kind on each protocol: no task fails at it or is done
// without its work, and the replay is exact.
func TestServersAlike(t *testing.T) {
	for _, name := range servers {
		for _, k := range kinds {
			t.Run(name+" "+k.name, func(t *testing.T) {
				d := llmtest.DialectNamed(name)
				w := strict(t, d, d.Profile)
				defer w.close()
				w.once.Store(true) // no pause
				if k.kind == llm.Truncated || k.name == "prompt too long, once" {
					w.forge.EditIssueAs(project, 1, "alice", "Correct the notes", "The answer in notes.txt is wrong.\n"+strings.Repeat("A long report. ", 2000))
				}
				w.model.Close()
				asked := 0
				w.model = llmtest.NewStrict(func(n int, r llmtest.Request) llmtest.Reply {
					good := w.playShaped(n, r)
					if asked++; asked == 2 || asked > 2 && k.ends != "" {
						return k.fault(name, good)
					}
					return good
				}, d)
				if err := errors.Join(w.born().run(), w.endsAs(k.ends, k.kind)); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// endsAs wants the task done, or paused for a reason, after a failure of a kind.
func (w *world) endsAs(reason string, kind llm.Kind) error {
	if reason == "" {
		log, err := w.ended()
		return errors.Join(err, failedOnce(log, kind))
	}
	store, err := contexts.Open(w.disk, contexts.Options{})
	if err != nil {
		return err
	}
	log := w.log(store)
	report, err := engine.Replay(func(yield func(event.Event, error) bool) {
		for _, ev := range log {
			if !yield(ev, nil) {
				return
			}
		}
	})
	if err != nil || len(report.Differences) > 0 {
		return fmt.Errorf("replay: %v %v", err, report.Differences)
	}
	s := report.State
	if s.Status != projections.Paused || string(s.Paused.Reason) != reason || s.Paused.Until.Kind != "person" {
		return fmt.Errorf("it is %s, %+v, want paused because of %s", s.Status, s.Paused, reason)
	}
	return failedOnce(log, kind)
}

func failedOnce(log []event.Event, kind llm.Kind) error {
	var all []string
	for _, ev := range log {
		if f, ok := ev.Body.(*event.LLMFailed); ok {
			all = append(all, f.Kind)
		}
	}
	if kind == "" && len(all) > 0 || kind != "" && (len(all) == 0 || all[0] != string(kind)) {
		return fmt.Errorf("model calls failed as %v, want %q first", all, kind)
	}
	return nil
}
