package demo

import (
	"strings"
	"sync"
	"time"

	"agent/handlers/reply"
	"agent/internal/i18n"
	"agent/llm"
	"agent/llm/llmtest"
)

// model plays the model of the demo. It decides from the conversation alone,
// as a real one does, so it copes with whatever a kill left behind.
type model struct {
	lang  i18n.Lang
	once  sync.Once
	reach chan struct{} // closed at the moment at which the demo kills the agent
	pause func()        // asks for a pause, at the moment at which the fix is made
	asks  sync.Once
}

func (m *model) reply(_ int, r llmtest.Request) llmtest.Reply {
	tool, result := lastResult(r)
	switch {
	case len(r.Tools) == 0: // the final summary
		return llmtest.Text(i18n.Text(m.lang, "demo.say.done"))
	case tool == "" && r.Contains(i18n.Text(m.lang, "demo.say.done")): // the first attempt's summary
		return llmtest.Text(i18n.Text(m.lang, "demo.say.nothing"))
	case tool == "":
		return m.call("demo.say.test", "run_command", map[string]any{"argv": []string{"go", "test", "./..."}})
	case strings.HasPrefix(result, "interrupted"):
		return m.call("demo.say.reread", "read_file", map[string]any{"path": file})
	case tool == "run_command" && strings.Contains(result, "exit code: 0"):
		return llmtest.Text(i18n.Text(m.lang, "demo.say.done") + m.answer(r))
	case tool == "run_command":
		return m.call("demo.say.read", "read_file", map[string]any{"path": file})
	case tool == "read_file" && strings.Contains(result, bug):
		r := m.call("demo.say.fix", "edit_file", map[string]any{"path": file, "old_text": bug, "new_text": fix})
		m.once.Do(func() {
			close(m.reach)
			r.Delay = time.Second // long enough to be killed while the call is in flight
		})
		if r.Delay == 0 { // the second time
			m.asks.Do(m.pause)
		}
		return r
	}
	return m.call("demo.say.check", "run_command", map[string]any{"argv": []string{"go", "test", "./..."}})
}

// answer takes up the question that was asked while the work was paused.
func (m *model) answer(r llmtest.Request) string {
	if !r.Contains(i18n.Text(m.lang, "demo.question")) {
		return ""
	}
	return " " + i18n.Text(m.lang, "demo.say.answer")
}

func (m *model) call(say i18n.ID, tool string, args map[string]any) llmtest.Reply {
	r := llmtest.ToolCall(reply.FunctionName("workspace", tool), args)
	r.Text = i18n.Text(m.lang, say)
	return r
}

// lastResult finds the tool that was called last, and what it gave.
func lastResult(r llmtest.Request) (tool, result string) {
	var last llm.Message
	for _, message := range r.Messages { // comments may stand behind it
		if message.Role == llm.ToolRole {
			last = message
		}
	}
	for _, message := range r.Messages {
		for _, c := range message.Calls {
			if c.ID == last.CallID && last.CallID != "" {
				tool = strings.TrimPrefix(c.Name, "workspace__")
			}
		}
	}
	return tool, last.Content
}

const (
	file = "sum.go"
	bug  = "i < len(numbers)-1"
	fix  = "i < len(numbers)"
)

// files is the little program with a failing test.
var files = map[string]string{
	"go.mod": "module example.com/sum\n\ngo 1.21\n",
	file: `// Package sum adds numbers.
package sum

// Of is the sum of all numbers.
func Of(numbers ...int) int {
	total := 0
	for i := 0; ` + bug + `; i++ {
		total += numbers[i]
	}
	return total
}
`,
	"sum_test.go": `package sum

import "testing"

func TestOf(t *testing.T) {
	if got := Of(1, 2, 3); got != 6 {
		t.Fatalf("Of(1, 2, 3) = %d, want 6", got)
	}
}
`,
}
