package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// tree is what lies in the workspace: name, mode and content, a line each.
func (b bench) tree() string {
	b.Helper()
	var all []string
	err := filepath.WalkDir(b.dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Type()&os.ModeNamedPipe != 0 {
			return err
		}
		name, _ := filepath.Rel(b.dir, path)
		if target, err := os.Readlink(path); err == nil {
			all = append(all, name+" -> "+target)
			return nil
		}
		info, _ := entry.Info()
		data, err := os.ReadFile(path)
		all = append(all, name+" "+info.Mode().String()+" "+string(data))
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return strings.Join(all, "\n")
}

// TestPatchOfManyFiles: one patch adds, changes, moves and deletes, in both forms.
func TestPatchOfManyFiles(t *testing.T) {
	for form, patch := range map[string]string{
		"begin": "*** Begin Patch\n*** Add File: new/n\n+one\n+two\n*** Update File: run.sh\n*** Move to: bin/run\n@@\n #!/bin/sh\n-echo old\n+echo new\n" +
			"*** Update File: c\n@@ func b\n-x\n+y\n*** Delete File: gone\n*** End Patch",
		"unified": "Here it is:\ndiff --git a/new/n b/new/n\nnew file mode 100644\n--- /dev/null\n+++ b/new/n\n@@ -0,0 +1,2 @@\n+one\n+two\n" +
			"diff --git a/run.sh b/bin/run\nsimilarity index 60%\nrename from run.sh\nrename to bin/run\n--- a/run.sh\n+++ b/bin/run\n@@ -1,2 +1,2 @@\n #!/bin/sh\n-echo old\n+echo new\n" +
			"diff --git a/c b/c\n--- a/c\t2001-01-01\n+++ b/c\n@@ -4 +4 @@\n-x\n+y\n\ndiff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n",
	} {
		b := open(t)
		b.write("run.sh", "#!/bin/sh\necho old\n")
		if err := os.Chmod(b.dir+"/run.sh", 0o755); err != nil {
			t.Fatal(err)
		}
		b.write("c", "func a\nx\nfunc b\nx\n")
		b.write("gone", "bye\n")
		answer, failed := b.call("apply_patch", args{"patch": patch})
		want := "bin/run -rwxr-xr-x #!/bin/sh\necho new\n\nc -rw-r--r-- func a\nx\nfunc b\ny\n\nnew/n -rw-r--r-- one\ntwo\n"
		if got := b.tree(); got != want || failed {
			t.Errorf("%s: %s\n%s", form, answer, got)
		}
	}
}

// TestBadPatchesChangeNothing: whatever is wrong with the last part of a patch, and
// however it tries to leave the workspace, all stays as it was.
func TestBadPatchesChangeNothing(t *testing.T) {
	b := open(t)
	outer := filepath.Dir(b.dir)
	b.write("a", "one\ntwo\nthree\n")
	b.write("twice", "x\nx\n")
	b.write("blob", "\x00\x01")
	b.write("dir/f", "f\n")
	b.write(".git/config", "[core]\n")
	b.link("..", "up")
	b.link("../secret", "out")
	b.link(".git", "store")
	if err := syscall.Mkfifo(b.dir+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	good := "*** Begin Patch\n*** Update File: a\n@@\n-one\n+1\n*** Add File: made\n+x\n"
	before := b.tree()
	for name, c := range map[string][2]string{
		"stale":             {"*** Update File: dir/f\n@@\n-g\n+h\n", "old lines are not in the file"},
		"done already":      {"*** Update File: dir/f\n@@\n-missing\n+f\n", "made already"},
		"ambiguous":         {"*** Update File: twice\n@@\n-x\n+y\n", "occur 2 times, at lines 1, 2"},
		"overlap":           {"*** Update File: dir/f\n@@\n-f\n+g\n@@\n-f\n+h\n", "hunk 2 of 2"},
		"missing":           {"*** Update File: none\n@@\n-a\n+b\n", "no such file"},
		"exists":            {"*** Add File: twice\n+a\n", "exists already"},
		"binary":            {"*** Update File: blob\n@@\n-a\n+b\n", "binary"},
		"no prefix":         {"*** Update File: dir/f\n@@\nf\n", "begins with none of"},
		"onto another":      {"*** Update File: dir/f\n*** Move to: twice\n@@\n-f\n+g\n", "exists already"},
		"a directory":       {"*** Delete File: dir\n", "a directory"},
		"a pipe":            {"*** Delete File: fifo\n", "not a regular file"},
		"write a pipe":      {"*** Update File: fifo\n@@\n-a\n+b\n", "not a regular file"},
		"up":                {"*** Add File: ../new\n+x\n", "outside of the workspace"},
		"absolute":          {"*** Add File: " + outer + "/new\n+x\n", "outside of the workspace"},
		"by a link":         {"*** Add File: up/new\n+x\n", "outside of the workspace"},
		"delete by a link":  {"*** Delete File: up/secret\n", "outside of the workspace"},
		"update by a link":  {"*** Update File: out\n@@\n-outside\n+x\n", "outside of the workspace"},
		"move out":          {"*** Update File: dir/f\n*** Move to: up/f\n@@\n-f\n+g\n", "outside of the workspace"},
		"move in":           {"*** Update File: ../secret\n*** Move to: mine\n@@\n-outside\n+g\n", "outside of the workspace"},
		"git":               {"*** Add File: .git/hooks/post-checkout\n+x\n", ".git, which is not written to"},
		"git by a link":     {"*** Add File: store/hooks/post-checkout\n+x\n", ".git, which is not written to"},
		"git in capitals":   {"*** Update File: .GIT/config\n@@\n-a\n+b\n", ""},
		"delete git":        {"*** Delete File: .git/config\n", ".git, which is not written to"},
		"move to git":       {"*** Update File: dir/f\n*** Move to: .git/hooks/x\n@@\n-f\n+g\n", ".git, which is not written to"},
		"a file in the way": {"*** Add File: a/b\n+x\n", "not a directory"},
	} {
		if answer, failed := b.call("apply_patch", args{"patch": good + c[0] + "*** End Patch\n"}); !failed || !strings.Contains(answer, c[1]) {
			t.Errorf("%s: %s", name, answer)
		}
		if after := b.tree(); after != before {
			t.Fatalf("%s: changed to\n%s", name, after)
		}
	}
	b.refused("apply_patch", args{"patch": "please change a"}, "neither a unified diff")
	b.refused("apply_patch", args{"patch": "diff --git a/x b/x\nGIT binary patch\n"}, "binary files")
	if data, err := os.ReadFile(outer + "/secret"); string(data) != "outside" {
		t.Error(string(data), err)
	}
}

// TestMoveAndDelete: a link is moved and deleted itself; nothing is overwritten, and
// nothing outside is reached.
func TestMoveAndDelete(t *testing.T) {
	b := open(t)
	outer := filepath.Dir(b.dir)
	b.write("a", "a")
	b.write("b", "b")
	b.write("d/c", "c")
	b.write(".git/config", "x")
	b.link("../secret", "out")
	b.link("..", "up")
	b.link("a", "alias")
	if err := os.Chmod(b.dir+"/a", 0o751); err != nil {
		t.Fatal(err)
	}
	b.refused("move_file", args{"path": "a", "to": "b"}, `"b" exists already`)
	b.refused("move_file", args{"path": "a", "to": "alias"}, "exists already")
	b.refused("move_file", args{"path": "d", "to": "e"}, "a directory")
	b.refused("move_file", args{"path": "none", "to": "e"}, "no such file")
	b.refused("move_file", args{"path": "a"}, "argument to is missing")
	for _, to := range []string{"../x", outer + "/x", "up/x", "out/x"} {
		if got, failed := b.call("move_file", args{"path": "a", "to": to}); !failed {
			t.Errorf("%s: %s", to, got)
		}
	}
	for _, path := range []string{"../secret", "up/secret", outer + "/secret", "/etc/hostname", "up/work/../secret"} {
		b.refused("move_file", args{"path": path, "to": "mine"}, "outside of the workspace")
		b.refused("delete_file", args{"path": path}, "outside of the workspace")
	}
	for _, path := range []string{".git/config", "d/../.git/config", ".GIT/config", ".git"} {
		if got, failed := b.call("delete_file", args{"path": path}); !failed {
			t.Errorf("%s: %s", path, got)
		}
		b.refused("move_file", args{"path": "a", "to": path + "/x"}, ".git, which is not written to")
	}
	b.refused("delete_file", args{"path": "d"}, "a directory")
	b.refused("delete_file", args{"path": "."}, "a directory")
	b.want("move_file", args{"source": "a", "destination": "x/y/a"}, "moved a to x/y/a")
	b.want("delete_file", args{"path": "out"}, "deleted out")
	b.want("delete_file", args{"file_path": "b"}, "deleted b")
	b.want("move_file", args{"path": "alias", "to": "other"}, "moved alias to other")
	want := ".git/config -rw-r--r-- x\nd/c -rw-r--r-- c\nother -> a\nup -> ..\nx/y/a -rwxr-x--x a"
	if got := b.tree(); got != want {
		t.Error(got)
	}
	if data, err := os.ReadFile(outer + "/secret"); string(data) != "outside" {
		t.Error(string(data), err)
	}
}

// TestWriteKeeps: a file that is written whole keeps its encoding, mark and line ends.
func TestWriteKeeps(t *testing.T) {
	b := open(t)
	for name, c := range map[string][4]string{
		"crlf":   {"a\r\nb\r\n", "x\ny\n", "x\r\ny\r\n", "; kept CRLF line ends"},
		"mixed":  {"a\r\nb\n", "x\ny\n", "x\ny\n", ""},
		"theirs": {"a\r\nb\r\n", "x\r\ny\n", "x\r\ny\n", ""},
		"mark":   {"\ufeffa\n", "x\n", "\ufeffx\n", "; kept UTF-8 with a byte order mark"},
		"both":   {"\ufeffa\r\n", "\ufeffx\n", "\ufeffx\r\n", "; kept UTF-8 with a byte order mark and CRLF line ends"},
		"latin":  {"caf\xe9\n", "thé\n", "th\xe9\n", "; kept Windows-1252"},
		"sjis":   {"\x82\xb1\x82\xea\x82\xcd\n", "これ\n", "\x82\xb1\x82\xea\n", "; kept Shift_JIS"},
		"binary": {"\x00\x01", "x\n", "x\n", ""},
		"empty":  {"", "x\n", "x\n", ""},
	} {
		b.write("f", c[0])
		answer, failed := b.call("write_file", args{"path": "f", "content": c[1]})
		data, err := os.ReadFile(b.dir + "/f")
		if failed || err != nil || string(data) != c[2] || !strings.HasSuffix(answer, "to f"+c[3]) {
			t.Errorf("%s: %q: %s", name, data, answer)
		}
	}
	b.write("f", "caf\xe9\n")
	b.refused("write_file", args{"path": "f", "content": "日本\n"}, "the file is in Windows-1252, which lacks a character")
	b.refused("edit_file", args{"path": "f", "old_text": "café", "new_text": "日本"}, "delete the file first")
}

// TestSyntaxHints: a text that a parser refused before says nothing about the edit.
func TestSyntaxHints(t *testing.T) {
	b := open(t)
	for name, c := range map[string][3]string{
		"a.go":     {"package a\n", "package a\n\nfunc {\n", "Hint: a.go does not parse now: line 3:"},
		"b.go":     {"package {{.Name}}\n", "package {{.Other}}\n", ""},
		"c.json":   {"{}\n", "{\n\"a\": 1,\n}\n", "Hint: c.json does not parse now: line 3:"},
		"d.json":   {"// settings\n{}\n", "// settings\n{\"a\": 1}\n", ""},
		"e.yaml":   {"a: 1\n", "a: 1\n b: 2\n", "Hint: e.yaml does not parse now: line 2:"},
		"f.yml":    {"", "{{ if }}\na: {{ x }}\n", ""},
		"g.svg":    {"", "<svg><g></svg>", "Hint: g.svg does not parse now: line 1"},
		"h.py":     {"", "def f(:\n", "Hint: h.py does not parse now: line 1"},
		"i.py":     {"", "print(1)\n", ""},
		"dir/j.sh": {"", "if true; then\n", "Hint: dir/j.sh does not parse now: dir/j.sh: 2"},
	} {
		if c[0] != "" {
			b.write(name, c[0])
		}
		got, failed := b.call("write_file", args{"path": name, "content": c[1]})
		if failed || strings.Contains(got, "Hint") != (c[2] != "") || !strings.Contains(got, c[2]) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
