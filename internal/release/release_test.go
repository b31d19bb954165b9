package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agent/internal/exhaustive"
)

// TestReproducible makes the release of one system twice, from copies of this tree
// in two directories: the same bytes, a binary that names the commit, a manual,
// and a list of what is linked.
func TestReproducible(t *testing.T) {
	exhaustive.Only(t)
	var first map[string][]byte
	for _, name := range []string{"a", "a longer name"} {
		tree, out := filepath.Join(t.TempDir(), name), t.TempDir()
		commit(t, tree)
		if err := release(tree, out, []string{"linux/amd64"}); err != nil {
			t.Fatal(err)
		}
		made := contents(t, out)
		if first == nil {
			first = made
			continue
		}
		for name, data := range first {
			if !bytes.Equal(data, made[name]) {
				t.Errorf("%s has other bytes in another directory", name)
			}
		}
	}
	checkArchive(t, first)
	checkSBOM(t, first["sbom.cdx.json"])
}

func TestChangedTreeIsRefused(t *testing.T) {
	tree := t.TempDir()
	run(t, tree, "git", "init", "-q")
	if err := os.WriteFile(filepath.Join(tree, "new"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := release(tree, t.TempDir(), targets); err == nil || !strings.Contains(err.Error(), "?? new") {
		t.Errorf("error %v", err)
	}
}

// commit copies the files of this tree that git knows, or would add, to a repository of their own.
func commit(t *testing.T, tree string) {
	t.Helper()
	root := filepath.Join("..", "..")
	for _, file := range strings.Split(strings.Trim(run(t, root, "git", "ls-files", "-coz", "--exclude-standard"), "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join(root, file))
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted, and that is not committed yet
		}
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(filepath.Join(tree, file)), 0o755),
			os.WriteFile(filepath.Join(tree, file), data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for key, value := range map[string]string{"GIT_AUTHOR_DATE": "2026-11-28T00:00:00Z", "GIT_COMMITTER_DATE": "2026-11-28T00:00:00Z"} {
		t.Setenv(key, value)
	}
	run(t, tree, "git", "init", "-q")
	run(t, tree, "git", "add", "-A")
	run(t, tree, "git", "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "All")
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	return string(out)
}

func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, f := range files {
		if all[f.Name()], err = os.ReadFile(filepath.Join(dir, f.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func checkArchive(t *testing.T, made map[string][]byte) {
	t.Helper()
	name := "agent-0.1.0-linux-amd64"
	z, err := gzip.NewReader(bytes.NewReader(made[name+".tar.gz"]))
	if err != nil {
		t.Fatalf("%v in %d files", err, len(made))
	}
	var names []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		names = append(names, strings.TrimPrefix(h.Name, name+"/"))
	}
	for _, want := range []string{"agent", "LICENSE", "LICENSES", "README.md", "man/man1/agent.1", "man/man1/agent-run.1"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not among %v", want, names)
		}
	}
	if sums := string(made["SHA256SUMS"]); strings.Count(sums, "\n") != 3 || !strings.Contains(sums, name+".tar.gz\n") {
		t.Errorf("SHA256SUMS is\n%s", sums)
	}
}

func checkSBOM(t *testing.T, data []byte) {
	t.Helper()
	var bom sbom
	if err := json.Unmarshal(data, &bom); err != nil {
		t.Fatal(err)
	}
	if bom.Metadata.Component.Version != "0.1.0" {
		t.Errorf("the list is of %+v", bom.Metadata)
	}
	for _, want := range []string{"std", "github.com/spf13/cobra", "github.com/mark3labs/mcp-go"} {
		if !slices.ContainsFunc(bom.Components, func(c component) bool { return c.Name == want && c.Version != "" }) {
			t.Errorf("%s is not listed", want)
		}
	}
}
