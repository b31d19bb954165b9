package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"agent/mcp"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestHints(t *testing.T) {
	server := open(t).session.List(t.Context())[0]
	want := mcp.Server{Name: "workspace", Tools: []mcp.Tool{
		{Name: "apply_patch", Destructive: true},
		{Name: "command_output", ReadOnly: true, Idempotent: true},
		{Name: "delete_file", Destructive: true},
		{Name: "edit_file", Destructive: true},
		{Name: "git_blame", ReadOnly: true, Idempotent: true},
		{Name: "git_commit"},
		{Name: "git_diff", ReadOnly: true, Idempotent: true},
		{Name: "git_log", ReadOnly: true, Idempotent: true},
		{Name: "git_restore", Destructive: true, Idempotent: true},
		{Name: "git_show", ReadOnly: true, Idempotent: true},
		{Name: "git_status", ReadOnly: true, Idempotent: true},
		{Name: "list_files", ReadOnly: true, Idempotent: true},
		{Name: "move_file", Destructive: true},
		{Name: "read_file", ReadOnly: true, Idempotent: true},
		{Name: "run_command", Destructive: true, OpenWorld: true},
		{Name: "search", ReadOnly: true, Idempotent: true},
		{Name: "stop_command", Destructive: true, Idempotent: true},
		{Name: "write_file", Destructive: true, Idempotent: true},
	}}
	if diff := cmp.Diff(want, server, cmpopts.IgnoreFields(mcp.Tool{}, "Description", "Schema")); diff != "" {
		t.Error(diff)
	}
}

func TestOutsideIsRefused(t *testing.T) {
	b := open(t)
	outer := filepath.Dir(b.dir)
	b.link("../secret", "out")
	b.link("..", "up")
	b.link(outer+"/secret", "absolute")
	b.link("/proc/self", "proc")
	b.link("loop", "loop")
	for path, want := range map[string]string{
		"../secret":              "outside of the workspace",
		"a/../../secret":         "outside of the workspace",
		outer + "/secret":        "outside of the workspace",
		b.dir + "/../secret":     "outside of the workspace",
		b.dir + "2/secret":       "outside of the workspace",
		"/proc/self/environ":     "outside of the workspace",
		"/proc/self/root/etc":    "outside of the workspace",
		"/dev/fd/0":              "outside of the workspace",
		"out":                    "outside of the workspace",
		"up/secret":              "outside of the workspace",
		"absolute":               "outside of the workspace",
		"proc/environ":           "outside of the workspace",
		"loop":                   "too many levels of symbolic links",
		"a\x00b":                 "NUL",
		"":                       "a directory",
		strings.Repeat("x", 300): "file name too long",
	} {
		b.refused("read_file", args{"path": path}, want)
		if path != "" {
			b.refused("edit_file", args{"path": path, "old_text": "a", "new_text": "b"}, want)
		}
		if strings.Contains(want, "outside") {
			b.refused("write_file", args{"path": path, "content": "x"}, want)
			if path != "out" && path != "absolute" { // a walk shows links and does not follow them
				b.refused("list_files", args{"path": path}, want)
				b.refused("search", args{"path": path, "pattern": "."}, want)
			}
		}
	}
	got, err := os.ReadFile(outer + "/secret")
	if err != nil || string(got) != "outside" {
		t.Errorf("the file outside: %q, %v", got, err)
	}
	b.want("search", args{"pattern": "outside"}, "no matches")
}

func TestReadFile(t *testing.T) {
	b := open(t)
	b.write("a.txt", "one\ntwo\nthree")
	b.write("binary", "a\x00b")
	b.write("latin", "caf\xe9")
	b.write("large", strings.Repeat("0123456789abcde\n", 1<<17))
	b.write("long", strings.Repeat("x", 2<<20)+"\nend")
	b.write("sjis", "\x82\xb1\x82\xea\x82\xcd")
	b.write("eucjp", "\xa4\xb3\xa4\xec\xa4\xcf")
	b.write("utf16", "\xff\xfea\x00\r\x00\n\x00b\x00\r\x00\n\x00")
	b.write("damaged", "éé\xff")
	b.write("dos", "\ufeffa\r\nb\r\n")
	b.write("empty", "")
	b.link("a.txt", "inside")
	if err := syscall.Mkfifo(b.dir+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	whole := "1\tone\n2\ttwo\n3\tthree"
	b.want("read_file", args{"path": "a.txt"}, whole)
	b.want("read_file", args{"path": b.dir + "/a.txt"}, whole)
	b.want("read_file", args{"path": "inside"}, whole)
	b.want("read_file", args{"path": "a.txt", "start_line": 2}, "[lines 2 to 3 of 3]\n2\ttwo\n3\tthree")
	b.want("read_file", args{"path": "a.txt", "end_line": 1}, "[lines 1 to 1 of 3]\n1\tone")
	b.want("read_file", args{"path": "a.txt", "offset": 2, "limit": 1}, "[lines 2 to 2 of 3]\n2\ttwo")
	b.want("read_file", args{"path": "a.txt", "view_range": []int{2, -1}}, "[lines 2 to 3 of 3]\n2\ttwo\n3\tthree")
	b.want("read_file", args{"path": "a.txt", "start_line": 1, "end_line": 9}, whole)
	b.want("read_file", args{"path": "large", "start_line": 100000, "end_line": 100001},
		"[lines 100000 to 100001 of 131072]\n100000\t0123456789abcde\n100001\t0123456789abcde")
	b.wantMatch("read_file", args{"path": "large", "start_line": 2}, `^\[lines 2 to 2199 of 131072; read on with start_line 2200\]\n2\t(?s:.*)\n2199\t0123456789abcde$`)
	b.wantMatch("read_file", args{"path": "large"}, `^\[lines 1 to 2198 of 131072; read on with start_line 2199\]\n1\t`)
	b.wantMatch("read_file", args{"path": "long"}, `^\[lines 1 to 2 of 2; not whole: line 1; read on with start_line 1 and column 2001\]\n1\tx+… \[line of 2097153 bytes\]\n2\tend$`)
	b.wantMatch("read_file", args{"path": "long", "start_line": 1, "column": 2001}, `^\[lines 1 to 1 of 2; not whole: line 1; read on with start_line 1 and column 46857\]\n1\tx+… `)
	b.want("read_file", args{"path": "long", "start_line": 1, "column": 2097150}, "[lines 1 to 1 of 2]\n1\txxx")
	b.want("read_file", args{"path": "latin"}, "[lines 1 to 1 of 1; Windows-1252]\n1\tcafé")
	b.want("read_file", args{"path": "sjis"}, "[lines 1 to 1 of 1; Shift_JIS]\n1\tこれは")
	b.want("read_file", args{"path": "eucjp"}, "[lines 1 to 1 of 1; EUC-JP]\n1\tこれは")
	b.want("read_file", args{"path": "utf16"}, "[lines 1 to 2 of 2; UTF-16LE; CRLF line ends]\n1\ta\n2\tb")
	b.want("read_file", args{"path": "damaged"}, "[lines 1 to 1 of 1; UTF-8 with invalid bytes]\n1\téé\uFFFD")
	b.want("read_file", args{"path": "dos"}, "[lines 1 to 2 of 2; UTF-8 with a byte order mark; CRLF line ends]\n1\ta\n2\tb")
	b.want("read_file", args{"path": "empty"}, "[the file is empty]")
	b.refused("read_file", args{"path": "a.txt", "start_line": 4}, "it has 3 lines only")
	b.refused("read_file", args{"path": "a.txt", "start_line": 3, "end_line": 2}, "no range")
	b.refused("read_file", args{"path": "a.txt", "start_line": 0}, "no range")
	b.refused("read_file", args{"path": "binary"}, "binary file of 3 bytes")
	b.refused("read_file", args{"path": "fifo"}, "not a regular file")
	b.refused("read_file", args{"path": "missing"}, `"missing": no such file or directory`)
	b.refused("read_file", args{}, "argument path is missing")
	b.want("read_file", args{"file": "a.txt"}, whole)
	b.refused("read_file", args{"path": "a.txt", "fil": "a.txt"}, `unknown argument "fil": the tool takes path,`)
	b.refused("read_file", args{"path": 7}, "argument path must not be a number")
}

func TestWriteFile(t *testing.T) {
	b := open(t)
	b.write("tool.sh", "old")
	if err := os.Chmod(b.dir+"/tool.sh", 0o750); err != nil {
		t.Fatal(err)
	}
	b.link("tool.sh", "alias")
	b.want("write_file", args{"path": "alias", "content": "new"}, "wrote 3 bytes to alias")
	info, err := os.Stat(b.dir + "/tool.sh")
	if err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	b.want("read_file", args{"path": "tool.sh"}, "1\tnew")
	b.want("write_file", args{"path": "deep/er/file", "content": "é"}, "wrote 2 bytes to deep/er/file")
	b.want("write_file", args{"path": b.dir + "/empty", "content": ""}, "wrote 0 bytes to "+b.dir+"/empty")
	b.refused("write_file", args{"path": "deep", "content": "x"}, "not a regular file")
	b.refused("write_file", args{"path": "empty/x", "content": "x"}, "not a directory")
	b.refused("write_file", args{"path": "x"}, "argument content is missing")
	b.want("list_files", args{}, "alias\ndeep/er/file\nempty\ntool.sh")
}

func TestGitDirectoryIsNotWritten(t *testing.T) {
	b := open(t)
	b.write(".git/config", "[core]")
	b.write("sub/.git", "gitdir: x")
	b.link(".git", "alias")
	b.link(".git/config", "config")
	for _, path := range []string{".git/config", ".git/hooks/pre-commit", ".GIT/config", "x/../.git/config", "sub/.git", "alias/config", "config", ".git"} {
		b.refused("write_file", args{"path": path, "content": "x"}, "which is not written to")
		if got, isError := b.call("edit_file", args{"path": path, "old_text": "c", "new_text": "d"}); !isError {
			t.Errorf("%s: %s", path, got)
		}
	}
	b.want("read_file", args{"path": ".git/config"}, "1\t[core]")
}

func TestEditFile(t *testing.T) {
	b := open(t)
	b.write("f", "a\nb\nb\n\naXa\n")
	b.want("edit_file", args{"path": "f", "old_text": "X", "new_text": "$1\\n"}, "edited f at line 5")
	b.want("read_file", args{"path": "f"}, "1\ta\n2\tb\n3\tb\n4\t\n5\ta$1\\na")
	b.refused("edit_file", args{"path": "f", "old_text": "b", "new_text": "c"}, `old_text occurs 2 times in "f", at lines 2, 3; add surrounding text`)
	b.want("edit_file", args{"path": "f", "old_text": "\n\n", "new_text": "\n"}, "edited f at line 3")
	b.refused("edit_file", args{"path": "f", "old_text": "z", "new_text": "c"}, `old_text is not in "f"`)
	b.refused("edit_file", args{"path": "f", "old_text": "", "new_text": "c"}, "old_text is empty")
	b.refused("edit_file", args{"path": "f", "old_text": "a", "new_text": "a"}, "are the same")
	b.refused("edit_file", args{"path": "f", "old_text": "a"}, "argument new_text is missing")
	b.refused("edit_file", args{"path": "missing", "old_text": "a", "new_text": "b"}, "no such file")
}

// TestEditLineEnds: \n in an edit matches whatever ends the lines, which stays.
func TestEditLineEnds(t *testing.T) {
	b := open(t)
	for name, c := range map[string]struct{ file, old, new, want string }{
		"whole lines":          {"a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n", "x\r\ny\r\nz\r\nc\r\n"},
		"within a line":        {"a\r\nb\r\n", "b", "x\ny", "a\r\nx\r\ny\r\n"},
		"last line":            {"a\r\nb", "b", "b\nc", "a\r\nb\r\nc"},
		"the model sends both": {"a\r\nb\r\n", "a\r\nb", "x\r\nb", "x\r\nb\r\n"},
		"new text is plain":    {"a\r\nb\r\n", "a\r\n", "x\n", "x\r\nb\r\n"},
		"mixed, plain place":   {"a\nb\nc\r\n", "a\nb", "x\ny", "x\ny\nc\r\n"},
		"mixed, other place":   {"a\nb\nc\r\nd\r\n", "c\nd", "x\ny", "a\nb\nx\r\ny\r\n"},
		"begins with an end":   {"a\r\nb\r\n", "\nb", "", "a\r\n"},
		"only line ends":       {"a\r\nb\r\n", "a\r\n", "a\n", "a\nb\r\n"},
		"a lone return":        {"a\rb\r\n", "a\rb", "c\nd", "c\r\nd\r\n"},
		"plain file":           {"a\nb\n", "a\nb", "x\r\nb", "x\r\nb\n"},
		"other scripts":        {"日\r\n本\r\n", "日\n本", "ب\nج", "ب\r\nج\r\n"},
	} {
		b.write("f", c.file)
		if text, failed := b.call("edit_file", args{"path": "f", "old_text": c.old, "new_text": c.new}); failed {
			t.Errorf("%s: %s", name, text)
		}
		if data, err := os.ReadFile(filepath.Join(b.dir, "f")); err != nil || string(data) != c.want {
			t.Errorf("%s: %q, want %q (%v)", name, data, c.want, err)
		}
	}
	b.write("f", "a\r\nb\r\na\r\nb\r\n")
	b.refused("edit_file", args{"path": "f", "old_text": "a\nb", "new_text": "c"}, `old_text occurs 2 times in "f", at lines 1, 3`)
	b.refusedAtLength("edit_file", args{"path": "f", "old_text": "a\n\nb", "new_text": "c"}, `old_text is not in "f"`)
}

func TestListFiles(t *testing.T) {
	b := open(t)
	for _, name := range []string{"a.go", "b.txt", "d/a.go", "d/e/b.go", "d/é.go", ".git/x", "s/.git/x", ".hidden/y"} {
		b.write(name, "")
	}
	for _, c := range []struct{ path, glob, want string }{
		{"", "", ".hidden/y a.go b.txt d/a.go d/e/b.go d/é.go"},
		{"d", "", "d/a.go d/e/b.go d/é.go"},
		{b.dir + "/d/e", "", "d/e/b.go"},
		{"", "*.go", "a.go d/a.go d/e/b.go d/é.go"},
		{"", "./*.go", "a.go"},
		{"", "d/*.go", "d/a.go d/é.go"},
		{"", "d/**/*.go", "d/a.go d/e/b.go d/é.go"},
		{"", "**/e/**", "d/e/b.go"},
		{"d", "e/*", "d/e/b.go"},
		{"", "?.{go,txt}", "a.go b.txt d/a.go d/e/b.go d/é.go"},
		{"", "[!a].*", "b.txt d/e/b.go d/é.go"},
		{"a.go", "", "a.go"},
	} {
		b.want("list_files", args{"path": c.path, "glob": c.glob}, strings.ReplaceAll(c.want, " ", "\n"))
	}
	b.wantMatch("list_files", args{"glob": "(a).go"}, "^no files; ignored=true")
	b.refused("list_files", args{"glob": "{a"}, "malformed")
	b.refused("list_files", args{"path": "missing"}, "no such file")
	for i := range 1200 {
		b.write(fmt.Sprintf("many/%04d", i), "")
	}
	got, _ := b.call("list_files", args{"path": "many"})
	if !strings.HasPrefix(got, "[by directory: ./ 1200]\nmany/0000\n") || !strings.HasSuffix(got, "many/0999\n[files 1 to 1000 of 1200; go on with offset 1000, or narrow it down with path or glob]") {
		t.Errorf("ends in %q", got[len(got)-100:])
	}
}

func TestSearch(t *testing.T) {
	b := open(t)
	b.write("a.go", "package a\r\nfunc A() {}\nfunc B() {}\n")
	b.write("d/b.go", "func C() {}")
	b.write(".git/x", "func hidden()")
	b.write("binary", "func\x00")
	b.write("wide", strings.Repeat("é", 400)+"needle")
	b.link("a.go", "link")
	b.want("search", args{"pattern": `^func (A|C)`}, "a.go:2: func A() {}\nd/b.go:1: func C() {}")
	b.want("search", args{"pattern": `a$`}, "a.go:1: package a")
	b.want("search", args{"pattern": `func`, "path": "d"}, "d/b.go:1: func C() {}")
	b.want("search", args{"pattern": `func`, "path": "d/b.go"}, "d/b.go:1: func C() {}")
	b.want("search", args{"pattern": "needle"}, "wide:1: …"+strings.Repeat("é", 20)+"needle")
	b.want("search", args{"pattern": `nothing`}, "no matches")
	b.wantMatch("search", args{"pattern": "A("}, `^a.go:2: func A\(\) \{\}\n\[searched as plain text: .*missing closing \)`)
	b.refused("search", args{"pattern": "(?=a"}, "RE2 syntax")
	b.refused("search", args{"pattern": "((a{1,1000}){1,1000}){1,1000}"}, "invalid repeat count")
	b.refused("search", args{}, "argument pattern is missing")
	b.write("many", strings.Repeat("x\n", 300))
	got, _ := b.call("search", args{"pattern": "^x$"})
	if !strings.HasSuffix(got, "many:100: x\n[1 to 100 of 300 lines in 1 files; go on with offset 100, or narrow it down with path, glob or pattern]") {
		t.Errorf("ends in %q", got[len(got)-100:])
	}
	b.write("huge", strings.Repeat("y", 17<<20))
	b.want("search", args{"pattern": "yy"}, "no matches\n[not searched: 1 files that are too large or cannot be read, the first is huge]")
}
