package workspace_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	utf16 "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/unicode/norm"
)

// editCase is one edit of a real file as a model would ask for it. On disk lies
// file; the answer must leave want. A case without want must be refused.
type editCase struct {
	file, want string
	tool       string
	args       args
	closest    string // that a refusal shows
}

// stretch is a piece of a real file: n whole lines that are in it once.
func stretch(t *testing.T, text string, n int) (piece string, line int) {
	t.Helper()
	lines := strings.SplitAfter(text, "\n")
	for i := len(lines) / 3; i+n < len(lines); i++ {
		piece = strings.Join(lines[i:i+n], "")
		if strings.Count(text, piece) == 1 && strings.ContainsAny(lines[i][:1], " \t") && strings.TrimSpace(lines[i]) != "" && strings.TrimSpace(lines[i+n-1]) != "" {
			return piece, i + 1
		}
	}
	t.Fatal("no such stretch")
	return "", 0
}

func edit(file, old, new, want string) editCase {
	return editCase{file, want, "edit_file", args{"path": "f", "old_text": old, "new_text": new}, ""}
}

// unindented puts spaces in the place of tabs, or the other way round.
func unindented(text string, width int) string {
	if strings.Contains(text, "\n\t") {
		return strings.ReplaceAll(text, "\t", strings.Repeat(" ", width))
	}
	return strings.ReplaceAll(text, strings.Repeat(" ", width), "\t")
}

// realDiff is what git says of a change.
func realDiff(t *testing.T, before, after string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"a/f": before, "b/f": after} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("git", "diff", "--no-index", "--no-prefix", "a/f", "b/f")
	cmd.Dir = dir
	out, _ := cmd.Output() // it exits with 1 if there is a difference
	return string(out)
}

// editKinds make a case of a file's text: what the model takes for the text, and how it writes.
func editKinds(t *testing.T, text string) map[string]editCase {
	two, at := stretch(t, text, 2)
	three, _ := stretch(t, text, 3)
	lines := strings.SplitAfter(three, "\n")
	added := lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], " \t"))] + "x = 1 # é\n"
	new := lines[0] + added + lines[1] + lines[2]
	swapped := strings.Replace(text, three, new, 1)
	patch := func(p string) args { return args{"patch": p} }
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	blanks := strings.Replace(text, lines[1], strings.TrimSuffix(lines[1], "\n")+"  \n", 1)
	accents, old := text+"# Cafe\u0301 noir\n", "# Café noir"
	narrow, _ := charmap.Windows1252.NewEncoder().String("# naïve\n" + three)
	narrowed, _ := charmap.Windows1252.NewEncoder().String("# naïve\n" + new)
	wide := func(s string) string {
		out, _ := utf16.UTF16(utf16.LittleEndian, utf16.UseBOM).NewEncoder().String(s)
		return out
	}
	numbers := func(s string, from int) string {
		var b strings.Builder
		for line := range strings.Lines(s) {
			fmt.Fprintf(&b, "%6d\t%s", from, line)
			from++
		}
		return b.String()
	}
	diff := realDiff(t, text, swapped)
	moved, begin := strings.NewReplacer("@@ -1", "@@ -9", "@@ -2", "@@ -7", "@@ -3", "@@ -8").Replace(diff), "*** Begin Patch\n*** Update File: f\n@@\n "+strings.ReplaceAll(lines[0], "\n", "\n+")+strings.ReplaceAll(added, "\n", "\n ")+lines[1]+"*** End Patch\n"
	stale := strings.Replace(two, strings.Fields(two)[0], "somethingElse", 1)
	return map[string]editCase{
		"exact":                     edit(text, three, new, swapped),
		"part of a line":            edit(text, strings.TrimSpace(two), "changed", strings.Replace(text, strings.TrimSpace(two), "changed", 1)),
		"blanks in the file":        edit(blanks, three, new, strings.Replace(blanks, lines[0], lines[0]+added, 1)),
		"blanks in the text":        edit(text, strings.ReplaceAll(three, "\n", "  \n"), new, swapped),
		"tabs and spaces":           edit(text, unindented(three, 4), unindented(new, 4), swapped),
		"CRLF file":                 edit(crlf(text), three, new, crlf(swapped)),
		"CRLF text":                 edit(text, crlf(three), crlf(new), swapped),
		"CRLF, blanks":              edit(crlf(blanks), three, new, crlf(strings.Replace(blanks, lines[0], lines[0]+added, 1))),
		"byte order mark":           edit("\ufeff"+text, three, new, "\ufeff"+swapped),
		"mark, first line":          edit("\ufeffzqz\n"+text, "zqz\n", "two\n", "\ufefftwo\n"+text),
		"decomposed":                edit(accents, old, "# Thé", text+"# The\u0301\n"),
		"composed":                  edit(norm.NFC.String(accents), "# Cafe\u0301 noir", "# The\u0301", text+"# The\u0301\n"),
		"Windows-1252":              edit(narrow, three, new, narrowed),
		"UTF-16":                    edit(wide(text), three, new, wide(swapped)),
		"line numbers":              edit(text, numbers(two, at), "", strings.Replace(text, two, "", 1)),
		"no last line end":          edit(text+"zqz", "zqz", "zqz\nmore", text+"zqz\nmore"),
		"other names":               {text, swapped, "edit_file", args{"file_path": "f", "old_string": three, "new_string": new}, ""},
		"several":                   {text, strings.Replace(swapped, added, "y\n", 1), "edit_file", args{"path": "f", "edits": []args{{"old_text": three, "new_text": new}, {"old_string": added, "new_string": "y\n"}}}, ""},
		"everywhere":                {text + "zq\nzq zq\n", text + "yy\nyy yy\n", "edit_file", args{"path": "f", "old_text": "zq", "new_text": "yy", "replace_all": true}, ""},
		"diff of git":               {text, swapped, "apply_patch", patch(diff), ""},
		"diff, miscounted":          {text, swapped, "apply_patch", patch(strings.ReplaceAll(diff, ",7 @@", ",3 @@")), ""},
		"diff, wrong lines":         {text, swapped, "apply_patch", patch(moved), ""},
		"diff, no numbers":          {text, swapped, "apply_patch", patch("--- a/f\n+++ b/f\n@@ @@\n " + lines[0] + "+" + added + " " + lines[1]), ""},
		"diff, CRLF file":           {crlf(text), crlf(swapped), "apply_patch", patch(diff), ""},
		"diff, no line end":         {text + "last", text + "more", "apply_patch", patch(realDiff(t, text+"last", text+"more")), ""},
		"diff, in a fence":          {text, swapped, "apply_patch", patch("```diff\n" + diff + "```\n"), ""},
		"begin patch":               {text, swapped, "apply_patch", patch(begin), ""},
		"stale text":                {text, "", "edit_file", args{"path": "f", "old_text": stale, "new_text": "x\n"}, fmt.Sprintf("\n%d\t", at)},
		"twice":                     {text + "zq\nzq\n", "", "edit_file", args{"path": "f", "old_text": "zq", "new_text": "y"}, "occurs 2 times"},
		"twice but for blanks":      {text + "zq \nzq\t\nqq\n", "", "edit_file", args{"path": "f", "old_text": "zq\nqq\nx", "new_text": "y"}, "The closest text is lines"},
		"one of two edits is stale": {text, "", "edit_file", args{"path": "f", "edits": []args{{"old_text": three, "new_text": new}, {"old_text": "zqzq", "new_text": ""}}}, "Nothing was changed"},
	}
}

// TestEditsOfRealFiles judges edits by what lies in the file afterwards: right,
// refused with the closest text, or wrong, which none may be.
func TestEditsOfRealFiles(t *testing.T) {
	b := open(t)
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	right, refused := 0, 0
	for _, name := range []string{"src/strings/replace.go", "src/runtime/runtime-gdb.py", "lib/wasm/wasm_exec.js"} {
		data, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), name))
		if err != nil {
			t.Fatalf("the Go toolchain lacks a file that edits are tried on: %v", err)
		}
		for kind, c := range editKinds(t, string(data)) {
			b.write("f", c.file)
			answer, failed := b.call(c.tool, c.args)
			got, err := os.ReadFile(filepath.Join(b.dir, "f"))
			switch {
			case err != nil:
				t.Fatal(err)
			case c.want != "" && string(got) == c.want && !failed:
				right++
			case c.want == "" && string(got) == c.file && failed && strings.Contains(answer, c.closest):
				refused++
			case string(got) == c.file:
				t.Errorf("%s, %s: nothing was changed: %.600s", name, kind, answer)
			default:
				t.Errorf("%s, %s: wrong: %.300s", name, kind, answer)
			}
		}
	}
	t.Logf("%d right, %d refused as they must be", right, refused)
}
