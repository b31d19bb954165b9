package main

import (
	"fmt"
	"strings"

	"agent/llm"
)

type (
	llmCall = llm.ToolCall
	args    = map[string]any
)

// solvedIssues are ten kinds of issues. What is special about a kind stands above it.
func solvedIssues() []solved {
	return []solved{failingTest(), renaming(), newOption(), dependency(), carriageReturns(), generated(), monorepo(), flaky(), large(), nonASCII()}
}

// The test fails before the edit and passes after it: both runs are evidence.
func failingTest() solved {
	const before, after = "def mean(xs):\n    return sum(xs) / (len(xs) - 1)\n", "def mean(xs):\n    return sum(xs) / len(xs)\n"
	test := "import unittest\nfrom calc import mean\n\n\nclass T(unittest.TestCase):\n    def test_mean(self):\n        self.assertEqual(mean([1, 2, 3]), 2)\n"
	return solved{title: "The mean is wrong", needs: "python3",
		files: map[string]string{"bug/calc.py": before, "bug/test_calc.py": test},
		steps: []llmCall{sh("python3 -m unittest", "bug"), do("read_file", args{"path": "bug/calc.py"}),
			do("edit_file", args{"path": "bug/calc.py", "old_text": "(len(xs) - 1)", "new_text": "len(xs)"}), sh("python3 -m unittest", "bug")},
		said: []string{"exit code: 1", "len(xs) - 1", "", "exit code: 0"},
		want: map[string]string{"bug/calc.py": after}, tests: []string{passed("python3 -m unittest"), "`python3 -m unittest` → exit code 1"}}
}

// A name in thirty files and in the name of one, which is a program and stays one.
func renaming() solved {
	s := solved{title: "Rename fetch to load everywhere", files: map[string]string{}, want: map[string]string{}}
	patch := "*** Begin Patch\n"
	for i := range 30 {
		name := fmt.Sprintf("rename/part%02d.sh", i)
		s.files[name] = fmt.Sprintf("fetch_%02d() {\n\techo prefetch\n}\nfetch_%02d\n", i, i)
		s.want[name] = fmt.Sprintf("load_%02d() {\n\techo prefetch\n}\nload_%02d\n", i, i)
		patch += fmt.Sprintf("*** Update File: %s\n@@\n-fetch_%02d() {\n+load_%02d() {\n \techo prefetch\n }\n-fetch_%02d\n+load_%02d\n", name, i, i, i, i)
	}
	s.files["rename/fetch.sh*"] = "#!/bin/sh\nfor f in part*.sh; do sh \"$f\"; done\n"
	s.want["rename/load.sh*"] = s.files["rename/fetch.sh*"]
	s.gone = []string{"rename/fetch.sh"}
	s.files["rename/test.sh"] = "test \"$(./load.sh | grep -c prefetch)\" = 30\n"
	test := "sh test.sh"
	s.steps = []llmCall{do("search", args{"pattern": `\bfetch`, "path": "rename", "count": true}), do("apply_patch", args{"patch": patch + "*** End Patch\n"}),
		do("move_file", args{"path": "rename/fetch.sh", "to": "rename/load.sh"}), do("search", args{"pattern": `\bfetch`, "path": "rename"}), sh(test, "rename")}
	s.said = []string{"part29.sh", "", "", "no match", "exit code: 0"}
	s.tests = []string{passed(test), "rename/load.sh"}
	return s
}

// Several places of a program at once, its documentation, and a test of its own.
func newOption() solved {
	const program = "#!/bin/sh\ncase $1 in\n--help) echo 'usage: greet [NAME]' ;;\n*) echo \"hello ${1:-world}\" ;;\nesac\n"
	edited := strings.Replace(strings.Replace(program, "greet [NAME]", "greet [--loud] [NAME]", 1), "*) echo", "--loud) shift; greet \"$@\" | tr a-z A-Z ;;\n*) echo", 1)
	edited = strings.Replace(edited, "greet \"$@\"", "sh \"$0\" \"$@\"", 1)
	const test = "set -e\ntest \"$(sh greet --loud bob)\" = 'HELLO BOB'\ntest \"$(sh greet)\" = 'hello world'\n"
	return solved{title: "Add an option --loud", files: map[string]string{"option/greet*": program, "option/README.md": "# greet\n\nOptions:\n\n- `--help`: usage\n"},
		steps: []llmCall{do("edit_file", args{"path": "option/greet", "edits": []args{{"old_text": "greet [NAME]", "new_text": "greet [--loud] [NAME]"},
			{"old_text": "*) echo", "new_text": "--loud) shift; sh \"$0\" \"$@\" | tr a-z A-Z ;;\n*) echo"}}}),
			do("edit_file", args{"path": "option/README.md", "old_text": "- `--help`: usage\n", "new_text": "- `--help`: usage\n- `--loud`: capitals\n"}),
			do("write_file", args{"path": "option/test/loud.sh", "content": test}), sh("sh test/loud.sh", "option")},
		said:  []string{"", "", "", "exit code: 0"},
		want:  map[string]string{"option/greet*": edited, "option/README.md": "# greet\n\nOptions:\n\n- `--help`: usage\n- `--loud`: capitals\n", "option/test/loud.sh": test},
		tests: []string{passed("sh test/loud.sh")}}
}

// A vendored dependency is replaced: the manifest, the lock file, and files that .gitignore would hide
// if they were not in the repository already.
func dependency() solved {
	const test = "import sys\nsys.path.insert(0, 'vendor')\nimport dep\nassert dep.VERSION == '2.0', dep.VERSION\nassert dep.new() == 'new'\n"
	patch := "--- a/dep/requirements.txt\n+++ b/dep/requirements.txt\n@@ -1 +1 @@\n-dep==1.0\n+dep==2.0\n" +
		"--- a/dep/lock.json\n+++ b/dep/lock.json\n@@ -1,3 +1,3 @@\n {\n-  \"dep\": {\"version\": \"1.0\", \"hash\": \"sha256:11\"}\n+  \"dep\": {\"version\": \"2.0\", \"hash\": \"sha256:22\"}\n }\n" +
		"--- a/dep/vendor/dep/__init__.py\n+++ b/dep/vendor/dep/__init__.py\n@@ -1,2 +1,4 @@\n-VERSION = '1.0'\n-def old(): return 'old'\n+VERSION = '2.0'\n+\n+\n+def new(): return 'new'\n" +
		"--- a/dep/vendor/dep/old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-OLD = True\n"
	return solved{title: "Update dep to 2.0", needs: "python3", files: map[string]string{"dep/requirements.txt": "dep==1.0\n", "dep/lock.json": "{\n  \"dep\": {\"version\": \"1.0\", \"hash\": \"sha256:11\"}\n}\n",
		"dep/vendor/dep/__init__.py": "VERSION = '1.0'\ndef old(): return 'old'\n", "dep/vendor/dep/old.py": "OLD = True\n", "dep/check_dep.py": test},
		steps: []llmCall{do("list_files", args{"path": "dep"}), do("apply_patch", args{"patch": patch}), sh("python3 -B check_dep.py", "dep")},
		said:  []string{"dep/vendor/dep/old.py", "", "exit code: 0"},
		want: map[string]string{"dep/requirements.txt": "dep==2.0\n", "dep/lock.json": "{\n  \"dep\": {\"version\": \"2.0\", \"hash\": \"sha256:22\"}\n}\n",
			"dep/vendor/dep/__init__.py": "VERSION = '2.0'\n\n\ndef new(): return 'new'\n"},
		gone: []string{"dep/vendor/dep/old.py"}, tests: []string{passed("python3 -B check_dep.py")}}
}

// Line ends stay, also around lines that were added, and so does the mark at the start.
func carriageReturns() solved {
	const before = "\uFEFF[server]\r\nport = 80\r\nhost = a\r\n\r\n[log]\r\nlevel = info\r\n"
	const after = "\uFEFF[server]\r\nport = 8080\r\ntls = on\r\nhost = a\r\n\r\n[log]\r\nlevel = debug\r\nfile = x\r\n"
	test := `test "$(tr -cd '\r' <app.ini | wc -c)" = "$(wc -l <app.ini)"`
	return solved{title: "Serve TLS on port 8080", files: map[string]string{"crlf/app.ini": before},
		steps: []llmCall{do("read_file", args{"path": "crlf/app.ini"}),
			do("edit_file", args{"path": "crlf/app.ini", "old_text": "port = 80\nhost = a\n", "new_text": "port = 8080\ntls = on\nhost = a\n"}),
			do("apply_patch", args{"patch": "--- a/crlf/app.ini\n+++ b/crlf/app.ini\n@@ -6,2 +6,3 @@\n [log]\n-level = info\n+level = debug\n+file = x\n"}), sh(test, "crlf")},
		said: []string{"port = 80", "", "", "exit code: 0"},
		want: map[string]string{"crlf/app.ini": after}, tests: []string{passed(test)}}
}

// A file that a program makes: the program is changed and run, and what it made is part of the change.
func generated() solved {
	const script = "#!/bin/sh\n{ echo '# Code generated by generate.sh. DO NOT EDIT.'; sort names.txt | sed 's/^/name: /'; } >names.yaml\n"
	const made = "# Code generated by generate.sh. DO NOT EDIT.\nname: anna\nname: ben\n"
	test := "./generate.sh && sh test.sh"
	return solved{title: "Add carl to the names", files: map[string]string{"gen/generate.sh*": script, "gen/names.txt": "ben\nanna\n", "gen/names.yaml": made,
		"gen/test.sh": "git diff --name-only -- . | grep -q names.txt && grep -qx 'name: carl' names.yaml\n"},
		steps: []llmCall{do("read_file", args{"path": "gen/names.yaml"}), do("edit_file", args{"path": "gen/names.txt", "old_text": "anna\n", "new_text": "anna\ncarl\n"}), sh(test, "gen")},
		said:  []string{"DO NOT EDIT", "", "exit code: 0"},
		want:  map[string]string{"gen/names.txt": "ben\nanna\ncarl\n", "gen/names.yaml": made + "name: carl\n"}, tests: []string{passed(test), "gen/names.yaml"}}
}

// One package of several: its own rules, its own tests, and nothing else is touched.
func monorepo() solved {
	const lib = "exports.add = (a, b) => a + b + 1\n"
	const test = "require('assert').strictEqual(require('./lib').add(1, 2), 3)\n"
	return solved{title: "packages/b adds one too many", needs: "node", files: map[string]string{"packages/a/lib.js": lib, "packages/a/test.js": test, "packages/b/lib.js": lib,
		"packages/b/test.js": test, "packages/b/package.json": "{\"name\": \"b\", \"scripts\": {\"test\": \"node test.js\"}}\n", "packages/b/AGENTS.md": "Run the tests with `node test.js`.\n"},
		steps: []llmCall{do("list_files", args{"glob": "**/package.json"}), do("read_file", args{"path": "packages/b/AGENTS.md"}), sh("node test.js", "packages/b"),
			do("edit_file", args{"path": "packages/b/lib.js", "old_text": " + 1", "new_text": ""}), sh("node test.js", "packages/b")},
		said: []string{"packages/b/package.json", "node test.js", "exit code: 1", "", "exit code: 0"},
		want: map[string]string{"packages/b/lib.js": "exports.add = (a, b) => a + b\n"}, tests: []string{passed("node test.js")}}
}

// A test that fails by turns. What it leaves behind is no part of the change.
func flaky() solved {
	const test = "#!/bin/sh\n# Two writers share a file.\nn=$(cat state 2>/dev/null || echo 0)\necho $((n + 1)) >state\ntest $((n % 2)) = 1\n"
	const fixed = "#!/bin/sh\n# Each run has a file of its own.\nstate=$(mktemp)\necho 1 >\"$state\"\ntest \"$(cat \"$state\")\" = 1\n"
	runs := "for i in 1 2 3 4; do ./test.sh || exit 1; done"
	return solved{title: "test.sh fails by turns", files: map[string]string{"flaky/test.sh*": test, "flaky/.gitignore": "state\n"},
		steps: []llmCall{sh("./test.sh", "flaky"), sh("./test.sh", "flaky"), sh(runs, "flaky"), do("write_file", args{"path": "flaky/test.sh", "content": fixed}), sh(runs, "flaky")},
		said:  []string{"exit code: 1", "exit code: 0", "exit code: 1", "", "exit code: 0"},
		want:  map[string]string{"flaky/test.sh*": fixed}, tests: []string{passed(runs), "`./test.sh` → exit code 1"}}
}

// One line of sixty thousand, which no single answer shows.
func large() solved {
	var b strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&b, "entry %05d = value of a line that is long enough\n", i)
	}
	const old, new = "entry 45678 = value of a line that is long enough\n", "entry 45678 = 12\n"
	test := "sh test.sh"
	return solved{title: "Set entry 45678 to 12", files: map[string]string{"large/big.conf": b.String(), "large/test.sh": "sed -n 45679p big.conf | grep -qx 'entry 45678 = 12'\n"},
		steps: []llmCall{do("search", args{"pattern": "entry 45678", "path": "large/big.conf"}), do("read_file", args{"path": "large/big.conf", "start_line": 45678, "end_line": 45680}),
			do("edit_file", args{"path": "large/big.conf", "old_text": old, "new_text": new}), sh(test, "large")},
		said: []string{"large/big.conf:45679:", "entry 45677", "", "exit code: 0"},
		want: map[string]string{"large/big.conf": strings.Replace(b.String(), old, new, 1)}, tests: []string{passed(test)}}
}

// Names of two scripts, with blanks, composed and decomposed, and a file in another encoding.
func nonASCII() solved {
	const decomposed = "names/cafe\u0301.txt"
	latin := "Stra\xdfe = Hauptstra\xdfe\n"
	s := solved{title: "Correct the texts in names", files: map[string]string{"names/日本語/テスト ファイル.txt": "こんにちわ\n", decomposed: "ouvert\n", "names/latin.ini": latin, "names/übrig.txt": "x\n"},
		want: map[string]string{"names/日本語/テスト ファイル.txt": "こんにちは\n", "names/日本語/新しい.txt": "新規\n", decomposed: "fermé\n", "names/latin.ini": strings.Replace(latin, "Haupt", "Neben", 1), "names/rest/übrig – alt.txt": "x\n"},
		gone: []string{"names/übrig.txt"}}
	test := `test "$(cat 日本語/*.txt | wc -l)" = 2 && ls "rest/übrig – alt.txt"`
	s.steps = []llmCall{do("list_files", args{"path": "names"}), do("edit_file", args{"path": "names/日本語/テスト ファイル.txt", "old_text": "こんにちわ", "new_text": "こんにちは"}),
		do("write_file", args{"path": "names/日本語/新しい.txt", "content": "新規\n"}), do("edit_file", args{"path": decomposed, "old_text": "ouvert", "new_text": "fermé"}),
		do("edit_file", args{"path": "names/latin.ini", "old_text": "Hauptstraße", "new_text": "Nebenstraße"}), do("move_file", args{"path": "names/übrig.txt", "to": "names/rest/übrig – alt.txt"}),
		do("git_status", args{}), sh(test, "names")}
	s.said = []string{"names/日本語/テスト ファイル.txt", "", "", "", "", "", "日本語/新しい.txt", "exit code: 0"}
	s.tests = append([]string{passed(test)}, "`names/日本語/新しい.txt`")
	return s
}
