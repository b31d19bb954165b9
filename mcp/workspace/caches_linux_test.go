package workspace_test

import (
	"archive/zip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent/internal/caches"
	"agent/mcp"
)

// neighbourhood is a repository that several contexts work on, with a Go module that it depends on.
type neighbourhood struct {
	*testing.T
	dir    string
	caches caches.Caches
}

var ofTest = caches.Repository{Host: "github.com", Project: "o/r", ID: "7"}

func newNeighbourhood(t *testing.T) *neighbourhood {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	n := &neighbourhood{t, dir, caches.Caches{Root: dir + "/caches", Most: 64 << 20}}
	at := dir + "/proxy/example.com/dep/@v/"
	mod := "module example.com/dep\n\ngo 1.21\n"
	n.put(at+"v1.0.0.mod", mod)
	n.put(at+"v1.0.0.info", `{"Version":"v1.0.0","Time":"2026-01-01T00:00:00Z"}`)
	f, err := os.Create(at + "v1.0.0.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	for name, text := range map[string]string{"go.mod": mod, "dep.go": "package dep\n\n// F needs no other package, so nothing else is compiled.\nfunc F() int { return 41 }\n"} {
		w, err := z.Create("example.com/dep@v1.0.0/" + name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(w, text)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return n
}

func (n *neighbourhood) put(path, text string) {
	n.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		n.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		n.Fatal(err)
	}
}

// context is the sandbox of one context.
func (n *neighbourhood) context(uuid string) *house {
	n.Helper()
	work := n.dir + "/workspaces/" + uuid
	n.put(work+"/go.mod", "module example.com/m\n\ngo 1.21\n\nrequire example.com/dep v1.0.0\n")
	n.put(work+"/m.go", "package m\n\nimport \"example.com/dep\"\n\nvar X = dep.F()\n")
	n.put(n.dir+"/home/x", "")
	config := mcp.ServerConfig{Name: "workspace", Command: []string{"agent", "mcp", "workspace", "--root", "{workspace}"}, Sandbox: "auto",
		Read: []string{n.dir + "/proxy"}, Env: map[string]string{"GOPROXY": "file://" + n.dir + "/proxy", "GOSUMDB": "off", "GOFLAGS": "-mod=mod -modcacherw -buildvcs=false", "GOTOOLCHAIN": "local"}}
	getenv := func(name string) string {
		if name == "HOME" {
			return n.dir + "/home"
		}
		return os.Getenv(name)
	}
	pool := mcp.NewPool([]mcp.ServerConfig{config}, mcp.Options{Getenv: getenv, Deny: []string{n.caches.Root}, Stderr: func(_, line string) { n.Log(line) }})
	n.Cleanup(func() { _ = pool.Close() })
	session := pool.SessionWith(work, func(ctx context.Context) (mcp.Local, error) {
		var sums caches.Sums
		if _, err := os.Stat(n.dir + "/go.sum"); err == nil {
			sums = caches.ReadSums(n.dir) // the repository's own
		}
		dir, err := n.caches.Open(ctx, ofTest, uuid, sums)
		if err != nil {
			n.Error(err)
		}
		return mcp.Local{Caches: dir, Env: caches.Variables(dir)}, err
	})
	return &house{T: n.T, dir: n.dir, work: work, pool: pool, session: session}
}

// end ends a context.
func (n *neighbourhood) end(h *house, keep caches.Keep) {
	n.Helper()
	_ = h.pool.Close()
	if _, err := n.caches.Close(n.Context(), ofTest, filepath.Base(h.work), keep); err != nil {
		n.Fatal(err)
	}
}

// build compiles, and says whether the dependency was compiled, and gives the checksum of what it was compiled to.
func (h *house) build() (compiled bool, sum string) {
	h.Helper()
	out, ok := h.inside("sh", "-c", `go build -x . 2>&1`)
	if !ok {
		h.Fatal(out)
	}
	object, ok := h.inside("sh", "-c", `sha256sum <"$(go list -export -f '{{.Export}}' example.com/dep)"`)
	if !ok {
		h.Fatal(object)
	}
	lines := strings.Fields(object)
	return strings.Contains(out, "-p example.com/dep "), lines[len(lines)-2]
}

// The next context of a repository compiles nothing again, and a stranger's in between changes
// nothing of what it compiles with: not by a wrong object, not by a wrong source or archive of a module,
// and not by reaching for the layer itself.
func TestCachesBetweenContexts(t *testing.T) {
	n := newNeighbourhood(t)
	first := n.context("first")
	compiled, want := first.build()
	if !compiled {
		t.Fatal("the first context has compiled nothing: the test proves nothing")
	}
	text, err := os.ReadFile(first.work + "/go.sum")
	if err != nil {
		t.Fatal(err)
	}
	n.put(n.dir+"/go.sum", string(text))
	n.end(first, caches.All)

	second := n.context("second")
	if compiled, got := second.build(); compiled || got != want {
		t.Errorf("the second context: compiled again %v, %s, want %s", compiled, got, want)
	}
	layer, _ := filepath.Glob(n.caches.Root + "/*/layer-1")
	if len(layer) != 1 {
		t.Fatalf("layers: %q", layer)
	}
	second.forbidden("sh", "-c", "ls "+layer[0])
	for _, path := range []string{layer[0] + "/x", filepath.Dir(layer[0]) + "/own/1.context"} {
		second.inside("sh", "-c", "echo x >"+path) // it may work in a directory of the sandbox's own
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("a tool has made %s", path)
		}
	}
	for name, attack := range map[string]string{
		"objects":  `find "$GOCACHE" -type f -exec sh -c 'echo evil >"$1"' - {} \;`,
		"sources":  `d="$GOMODCACHE/example.com/dep@v1.0.0"; mkdir -p "$d"; echo 'package dep; func F() int { return 666 }' >"$d/dep.go"`,
		"archives": `cd "$GOMODCACHE/cache/download/example.com/dep/@v" && echo evil >v1.0.0.zip && echo h1:evil >v1.0.0.ziphash && echo 'module evil' >v1.0.0.mod`,
		"settings": `mkdir -p "$CARGO_HOME" "$npm_config_cache/_cacache/index-v5/00/00" && echo evil >"$CARGO_HOME/config.toml" && echo evil >"$npm_config_cache/_cacache/index-v5/00/00/x"`,
		"links":    `ln -s "` + layer[0] + `/go-build" "$XDG_CACHE_HOME/l"; rm -rf "$GOCACHE"; ln -s / "$GOCACHE"`,
	} {
		if out, ok := second.inside("sh", "-c", attack); !ok {
			t.Errorf("%s: %s", name, out)
		}
	}
	n.end(second, caches.Downloads)

	third := n.context("third")
	if compiled, got := third.build(); compiled || got != want {
		t.Errorf("after a stranger's context: compiled again %v, %s, want %s", compiled, got, want)
	}
	if out, ok := third.inside("sh", "-c", `grep -rl evil "$GOCACHE/.."`); ok {
		t.Errorf("the stranger's words are here: %s", out)
	}
	n.end(third, caches.Nothing)
}

// What the real go command downloads and what it writes into go.sum agree with our checks: of a stranger's context the
// archive stays if the repository's go.sum names it, and nothing else.
func TestDownloadsOfStrangers(t *testing.T) {
	n := newNeighbourhood(t)
	first := n.context("first")
	if out, ok := first.inside("sh", "-c", "go mod tidy && cat go.sum"); !ok {
		t.Fatal(out)
	}
	text, err := os.ReadFile(first.work + "/go.sum")
	if err != nil {
		t.Fatal(err)
	}
	n.end(first, caches.Downloads) // there was no go.sum when it began
	if left, _ := filepath.Glob(n.caches.Root + "/*/layer-*"); len(left) != 0 {
		t.Errorf("kept without a checksum: %q", left)
	}
	n.put(n.dir+"/go.sum", string(text))
	second := n.context("second")
	if out, ok := second.inside("sh", "-c", `go mod download && touch "$GOCACHE/x" "$XDG_CACHE_HOME/x"`); !ok {
		t.Fatal(out)
	}
	n.end(second, caches.Downloads)
	third := n.context("third")
	out, ok := third.inside("sh", "-c", `cd "$GOMODCACHE/.." && find . -type f | sort && cd "$OLDPWD" && GOPROXY=off go mod download && ls "$GOMODCACHE/example.com/dep@v1.0.0"`)
	for _, want := range []string{"./go-mod/cache/download/example.com/dep/@v/v1.0.0.info\n./go-mod/cache/download/example.com/dep/@v/v1.0.0.mod\n./go-mod/cache/download/example.com/dep/@v/v1.0.0.zip\n", "dep.go"} {
		if !ok || !strings.Contains(out, want) || strings.Count(out, "./") != 3 {
			t.Errorf("want %q in\n%s", want, out)
		}
	}
	n.end(third, caches.Nothing)
}
