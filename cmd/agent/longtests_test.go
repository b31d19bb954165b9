package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agent/internal/exhaustive"
	"agent/llm"
)

// longTests is how long the tests of these projects take.
const longTests = 3 * time.Minute

// TestLongTests: tests of three minutes, in four languages, in the foreground and in the background, are waited for.
// Nothing of their output is lost, and the description says how they ended. Nothing is downloaded.
func TestLongTests(t *testing.T) {
	exhaustive.Only(t)
	t.Parallel()
	solve(t, []solved{longGo(), longPython(), longRust(), longNode()}, 5*longTests, func(w *world) {
		w.extra = "workers: 4"
		w.env = []string{"RUSTUP_HOME=" + rustupHome()}
	})
}

const seconds = int(longTests / time.Second)

// long is an issue that is solved by one edit, and by tests, which the steps after it run.
func long(title, needs, line, file string, files map[string]string, steps ...llm.ToolCall) solved {
	s := solved{title: title, needs: needs, files: map[string]string{}, tests: []string{passed(line)},
		want: map[string]string{needs + "/" + file: strings.Replace(files[file], "41", "42", 1)}}
	for name, text := range files {
		s.files[needs+"/"+name] = text
	}
	s.steps = append([]llm.ToolCall{do("edit_file", args{"path": needs + "/" + file, "old_text": "41", "new_text": "42"})}, steps...)
	return s
}

// wait is a command in the foreground that may take its time.
func wait(line, cwd string) llm.ToolCall {
	return do("run_command", args{"command": line, "cwd": cwd, "timeout_seconds": 1500})
}

func longGo() solved {
	const line = "go test -v ./..."
	s := long("The answer in Go", "go", line, "m.go", map[string]string{"go.mod": "module m\n\ngo 1.21\n", "m.go": "package m\n\nvar Answer = 41\n",
		"m_test.go": fmt.Sprintf("package m\n\nimport (\n\t\"testing\"\n\t\"time\"\n)\n\nfunc TestAnswer(t *testing.T) {\n\ttime.Sleep(%d * time.Second)\n\tif Answer != 42 {\n\t\tt.Fatal(Answer)\n\t}\n}\n", seconds),
	}, wait(line, "go"))
	s.said = []string{"", "--- PASS: TestAnswer"}
	return s
}

func longPython() solved {
	const line = "python3 -B -m unittest -v"
	s := long("The answer in Python", "python3", line, "m.py", map[string]string{"m.py": "answer = 41\n",
		"test_m.py": fmt.Sprintf("import time\nimport unittest\nimport m\n\n\nclass T(unittest.TestCase):\n    def test_answer(self):\n        time.sleep(%d)\n        self.assertEqual(m.answer, 42)\n", seconds),
	}, wait(line, "python3"))
	s.said = []string{"", "test_answer"}
	return s
}

func longRust() solved {
	const line = "cargo test --offline"
	s := long("The answer in Rust", "cargo", line, "src/lib.rs", map[string]string{"Cargo.toml": "[package]\nname = \"m\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
		".gitignore": "target\nCargo.lock\n",
		"src/lib.rs": fmt.Sprintf("pub const ANSWER: i32 = 41;\n\n#[test]\nfn answer() {\n    std::thread::sleep(std::time::Duration::from_secs(%d));\n    assert_eq!(ANSWER, 42);\n}\n", seconds),
	}, wait(line, "cargo"))
	s.said = []string{"", "test answer ... ok"}
	return s
}

// In the background: the model does something else, waits, and waits again.
func longNode() solved {
	const line = "node --test"
	s := long("The answer in JavaScript", "node", line, "m.js", map[string]string{"m.js": "exports.answer = 41\n",
		"m.test.js": fmt.Sprintf("require('node:test')('answer', (t, done) => setTimeout(() => { require('assert').strictEqual(require('./m').answer, 42); done() }, %d000))\n", seconds),
	}, do("run_command", args{"command": line, "cwd": "node", "background": true}), do("list_files", args{"path": "node"}),
		do("command_output", args{"id": 1, "wait_seconds": 20}), do("command_output", args{"id": 1, "wait_seconds": 1500}))
	s.said = []string{"", "runs since", "node/m.test.js", "runs since", "with exit code 0"}
	return s
}

// rustupHome is where the toolchains of Rust are; the agent of these tests has another home.
func rustupHome() string {
	if dir := os.Getenv("RUSTUP_HOME"); dir != "" {
		return dir
	}
	home, _ := os.UserHomeDir()
	return filepath.Join(home, ".rustup")
}
