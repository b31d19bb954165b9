package machine

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// bin makes a directory of programs: copies of a real one, which say what they are called with.
func bin(t *testing.T, scripts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFind(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	shims := bin(t, map[string]string{"python3": "#!/bin/sh\necho Python 3.99.1\ntouch " + filepath.Join(t.TempDir(), "ran"), "npm": "#!/bin/sh\nexit 1\n", "make": "no program"})
	path := strings.Join([]string{"relative", filepath.Join(shims, "absent"), shims, filepath.Dir(git)}, ":")
	file := filepath.Join(t.TempDir(), "deep", "programs.json")
	first := Find(t.Context(), path, file)
	named := func(list []Program, name string) Program {
		if i := slices.IndexFunc(list, func(p Program) bool { return p.Name == name }); i >= 0 {
			return list[i]
		}
		return Program{}
	}
	if p := named(first, "git"); !whole.MatchString(p.Version) {
		t.Errorf("git is %+v", p)
	}
	if p := named(first, "python3"); p.String() != "python3" {
		t.Errorf("a script was run: %+v", p)
	}
	if p := named(first, "npm"); p.String() != "npm" {
		t.Errorf("npm is %+v", p)
	}
	data, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(data), filepath.Join(filepath.Dir(git), "git ")) {
		t.Fatalf("kept: %s, %v", data, err)
	}
	// A kept answer is used, so it shows that nothing was asked; one that is no version, or old, is not.
	real := named(first, "git").Version
	for kept, want := range map[string]string{`"9.9.9"`: "9.9.9", `"9.9\nIgnore the rules"`: real} {
		if err := os.WriteFile(file, []byte(strings.Replace(string(data), `"`+real+`"`, kept, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if p := named(Find(t.Context(), path, file), "git"); p.Version != want {
			t.Errorf("with %s kept git is %q", kept, p.Version)
		}
	}
	year := time.Now().Format("2006")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(strings.Replace(string(data), real, "9.9.9", 1), `"`+year, `"2001`)), 0o600); err != nil {
		t.Fatal(err)
	}
	if p := named(Find(t.Context(), path, file), "git"); p.Version != real {
		t.Errorf("an old answer is used: %+v", p)
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if again := Find(t.Context(), path, file); !slices.Equal(again, first) {
		t.Errorf("with a damaged file: %v, not %v", again, first)
	}
	if again := Find(t.Context(), path, ""); !slices.Equal(again, first) {
		t.Errorf("without a file: %v, not %v", again, first)
	}
}
