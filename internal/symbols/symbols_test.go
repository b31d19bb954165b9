package symbols

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agent/internal/repomap"

	"github.com/google/go-cmp/cmp"
)

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestOf(t *testing.T) {
	if _, err := exec.LookPath("ctags"); err != nil {
		t.Skip("ctags is not installed")
	}
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a.go"), "package a\n\nimport \"fmt\"\n\ntype Queue struct{ n int }\n\nfunc (q *Queue) Push() {}\n\nfunc New() { fmt.Println() }\n")
	put(t, filepath.Join(dir, "sub/b.py"), "class User:\n    def name(self):\n        pass\n\ndef main():\n    x = 1\n")
	put(t, filepath.Join(dir, "-c.rs"), "pub struct P;\nimpl P { pub fn go(&self) {} }\n")
	// What the repository configures would rename what is found, or run programs.
	put(t, filepath.Join(dir, ".ctags.d/x.ctags"), "--kinds-go=-f\n--exclude=*\n")
	put(t, filepath.Join(dir, "ctags.d/x.ctags"), "--exclude=*\n")
	put(t, filepath.Join(dir, ".ctags"), "--exclude=*\n")
	t.Setenv("CTAGS", "--exclude=*")
	// A link leads to what is outside.
	secret := filepath.Join(t.TempDir(), "secret.go")
	put(t, secret, "package s\n\nfunc Secret() {}\n")
	if err := os.Symlink(secret, filepath.Join(dir, "link.go")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(secret), filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	got := Of(t.Context(), dir, []string{"a.go", "sub/b.py", "-c.rs", "link.go", "out/secret.go", "absent.go"})
	want := map[string][]repomap.Symbol{
		"a.go":     {{Kind: "struct", Name: "Queue", Line: 5}, {Kind: "func", Name: "Queue.Push", Line: 7}, {Kind: "func", Name: "New", Line: 9}},
		"sub/b.py": {{Kind: "class", Name: "User", Line: 1}, {Kind: "function", Name: "main", Line: 5}},
	}
	if diff := cmp.Diff(want["a.go"], got["a.go"]); diff != "" {
		t.Errorf("a.go (-want +got)\n%s", diff)
	}
	for file, symbols := range want {
		for _, s := range symbols {
			if !strings.Contains(cmp.Diff(nil, got[file]), s.Name) {
				t.Errorf("%s lacks %+v: %+v", file, s, got[file])
			}
		}
	}
	if len(got["-c.rs"]) == 0 || len(got["link.go"])+len(got["absent.go"]) > 0 {
		t.Errorf("%+v", got)
	}
	if len(got["out/secret.go"]) > 0 {
		t.Error("a link led out of the working copy")
	}
}
