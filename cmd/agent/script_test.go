package main

import (
	"strings"

	"agent/llm/llmtest"
)

// summarising answers requests for the final summary, and leaves the rest to script.
func summarising(script llmtest.Script) llmtest.Script {
	return func(n int, r llmtest.Request) llmtest.Reply {
		if isSummary(r) {
			return llmtest.Text("A file was written.")
		}
		return script(n, r)
	}
}

func isSummary(r llmtest.Request) bool {
	return strings.HasPrefix(r.System(), "You write the final summary")
}

// write is a call of write_file in the native protocol.
func write(path, content string) llmtest.Reply {
	r := llmtest.ToolCall("workspace__write_file", map[string]any{"path": path, "content": content})
	return r
}

// command is a call of run_command in the native protocol.
func command(argv ...string) llmtest.Reply {
	return llmtest.ToolCall("workspace__run_command", map[string]any{"argv": argv})
}

// greet writes hello.txt and ends.
func greet() llmtest.Script {
	return llmtest.Turns(write("hello.txt", "hello\n"), llmtest.Done("I wrote hello.txt."))
}

// forms returns a script for both protocols: native where tools are offered, else JSON.
func forms(native, asJSON llmtest.Script) llmtest.Script {
	return func(n int, r llmtest.Request) llmtest.Reply {
		if len(r.Tools) > 0 {
			return native(n, r)
		}
		return asJSON(n, r)
	}
}

func greetJSON() llmtest.Script {
	return llmtest.Turns(
		llmtest.JSONCommand("workspace/write_file", map[string]any{"path": "hello.txt", "content": "hello\n"}, "I write the file."),
		llmtest.Done("I wrote hello.txt."))
}
