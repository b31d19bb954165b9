package redact

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agent/internal/exhaustive"
)

// corpus are modules that this one needs, so their sources are there.
var corpus = []string{
	"github.com/google/go-github/v89", "gitlab.com/gitlab-org/api/client-go/v2", "github.com/getkin/kin-openapi", "github.com/yuin/goldmark", "github.com/spf13/cobra",
	"github.com/klauspost/compress", "github.com/mark3labs/mcp-go", "github.com/sashabaranov/go-openai", "golang.org/x/net", "golang.org/x/text",
}

// The texts of real repositories hold no fragment of a secret that is not theirs,
// although they are full of other people's tokens, keys and hashes.
func TestRealRepositoriesHaveNoFragments(t *testing.T) {
	secrets := []string{"ghp_" + rnd, "github_pat_11ABCDEFG0" + rnd, "glpat-" + rnd[:20], "sk-proj-" + rnd + rnd, "correct-horse-battery-staple-42", "0f1e2d3c4b5a69788796a5b4c3d2e1f0"}
	for _, key := range keys(t) {
		secrets = append(secrets, key)
	}
	f := newFragments(secrets)
	files, bytes := 0, 0
	for _, path := range texts(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files, bytes = files+1, bytes+len(text)
		if got, changed := f.replace(string(text)); changed {
			at := strings.Index(got, markerStart)
			t.Errorf("%s: …%q", path, got[max(0, at-40):min(len(got), at+40)])
		}
	}
	t.Logf("%d files, %d bytes", files, bytes)
	if files < exhaustive.Of(50, 1000) {
		t.Errorf("only %d files", files)
	}
}

// texts are Go sources and documents of the corpus, in a sample every 25th.
func texts(t *testing.T) (paths []string) {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list", "-m", "-f", "{{.Dir}}"}, corpus...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, dir := range strings.Fields(string(out)) {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if ext := filepath.Ext(path); err != nil || d.IsDir() || ext != ".go" && ext != ".md" {
				return err
			}
			if seen++; seen%exhaustive.Every(25) == 0 {
				paths = append(paths, path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return paths
}
