package snapshot

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What is ignored must be what git says: a file that we leave out and git takes is lost
// with the copy, one that we take and git leaves out may be a secret that nobody commits.
func TestIgnoresAsGit(t *testing.T) {
	pieces := []string{"*", "**", "?", "a", "b", "ab", "/", "/", "[ab]", "[!a]", "[^b]", "[a-c]", "[[:alpha:]]", "[]a]", "[a", `\`, `\*`, "!", "#", " ", `\ `, "c.d", ".", "é", "[[:nix:]]", "-"}
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 12 {
		dir := t.TempDir()
		must(t, exec.Command("git", "init", "-q", dir).Run())
		text := func() string {
			var lines []string
			for range 1 + r.IntN(4) {
				line := ""
				for range 1 + r.IntN(5) {
					line += pieces[r.IntN(len(pieces))]
				}
				lines = append(lines, line+[]string{"", "", "/", "\r", "  "}[r.IntN(5)])
			}
			return strings.Join(lines, "\n") + "\n"
		}
		subs := []string{"", "a", "b/a", "ab"}
		for _, sub := range subs {
			must(t, os.MkdirAll(filepath.Join(dir, sub), 0o755))
		}
		for _, sub := range subs {
			must(t, os.WriteFile(filepath.Join(dir, sub, ".gitignore"), []byte(text()), 0o644))
			for _, name := range []string{"a", "b", "ab", "c.d", "é", "x-", "*", "#", "! ", "[a", "b/a/b", "ab/a/b/ab/c.d"} {
				file := filepath.Join(dir, sub, "d"+name)
				if r.IntN(2) == 0 {
					file = filepath.Join(dir, sub, name)
				}
				if os.MkdirAll(filepath.Dir(file), 0o755) == nil {
					_ = os.WriteFile(file, nil, 0o644) // a directory may have the name
				}
			}
		}
		command := exec.Command("git", "-C", dir, "-c", "core.excludesFile=/dev/null", "ls-files", "-z", "--others", "--exclude-standard")
		out, err := command.Output()
		must(t, err)
		var want []string
		for path := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
			if len(path) > 0 {
				want = append(want, string(path))
			}
		}
		c := &Copy{Dir: dir, format: SHA1, base: NewTree(SHA1, nil), last: NewTree(SHA1, nil), o: Options{Largest: 1 << 20}, store: &Store{}}
		found, err := c.scan(t.Context(), nil)
		must(t, err)
		var got []string
		for path := range found.changes {
			got = append(got, path)
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("%d: %s", n, difference(dir, got, want))
		}
	}
}

func difference(dir string, got, want []string) string {
	text := ""
	for _, p := range slices.Concat(got, want) {
		if in := slices.Contains(got, p); in != slices.Contains(want, p) {
			out, _ := exec.Command("git", "-C", dir, "check-ignore", "-v", "--no-index", p).CombinedOutput()
			text += fmt.Sprintf("%q: ours %v, git %q\n", p, in, out)
		}
	}
	return text
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
