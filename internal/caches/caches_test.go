package caches_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent/internal/caches"
)

var repo = caches.Repository{Host: "github.com", Project: "o/r", ID: "7"}

func open(t *testing.T, c caches.Caches, uuid string, sums caches.Sums) string {
	t.Helper()
	dir, err := c.Open(t.Context(), repo, uuid, sums)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func end(t *testing.T, c caches.Caches, uuid string, keep caches.Keep) caches.Kept {
	t.Helper()
	kept, err := c.Close(t.Context(), repo, uuid, keep)
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// found lists the files of a tree with their contents.
func found(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, dir+"/")] = string(text)
		if !d.Type().IsRegular() {
			t.Errorf("%s is %v", path, d.Type())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// What the next context of a repository finds depends on how its predecessor ended.
func TestWhatIsKept(t *testing.T) {
	good := "content of a package"
	digest := sha512.Sum512([]byte(good))
	name := hex.EncodeToString(digest[:])
	npm := "npm/_cacache/content-v2/sha512/" + name[:2] + "/" + name[2:4] + "/" + name[4:]
	module, version := "go-mod/cache/download/example.com/!m/@v/", "v1.0.0"
	archive, sum := goZip(t, "package m\n")
	mod := "module example.com/M\n"
	modSum := goSum(map[string]string{"go.mod": mod})
	files := map[string]string{
		"go-build/ab/ab-d": "object", "npm/_cacache/index-v5/aa/bb/cc": "index", npm: good,
		"npm/_cacache/content-v2/sha512/00/00/00": "forged", "pip/http-v2/a": "wheel", "cargo/registry/cache/x/a-1.0.crate": "crate",
		"xdg/tool/a": "a", "ccache/0/1/x": "object", "gradle/caches/8/x": "jar", "gradle/wrapper/dists/x": "gradle",
		module + version + ".zip": archive, module + version + ".ziphash": sum, module + version + ".mod": mod, module + version + ".info": `{"Version":"v1.0.0"}`,
		module + "list": "v9.9.9\n", module + "v1.0.1.info": `{"Version":"v9.0.0"}`, "go-mod/cache/download/example.com/other/@v/v1.0.0.zip": archive, "go-mod/cache/download/example.com/other/@v/v1.0.0.ziphash": "h1:other",
		// settings and programs
		"cargo/config.toml": "[build]\nrustc-wrapper = 'evil'\n", "cargo/bin/x": "evil", "gradle/init.d/x.gradle": "evil", "gradle/gradle.properties": "evil",
		"ccache/ccache.conf": "compiler_check = none\n", "npm/_npx/x/y": "evil", "go-mod/example.com/m@v1.0.0/m.go": "package evil\n", "other/x": "evil",
	}
	downloads := []string{npm}
	checkedModule := []string{module + version + ".zip", module + version + ".mod", module + version + ".info"}
	all := append([]string{"go-build/ab/ab-d", "npm/_cacache/index-v5/aa/bb/cc", "pip/http-v2/a", "cargo/registry/cache/x/a-1.0.crate", "xdg/tool/a", "ccache/0/1/x",
		"gradle/caches/8/x", "gradle/wrapper/dists/x"}, append(checkedModule, downloads...)...)
	right := caches.Sums{"example.com/M v1.0.0": sum, "example.com/M v1.0.0/go.mod": modSum}
	wrong := caches.Sums{"example.com/M v1.0.0": "h1:another", "example.com/M v1.0.0/go.mod": "h1:another"}
	for _, tt := range []struct {
		name string
		keep caches.Keep
		sums caches.Sums
		want []string
	}{
		{"trusted", caches.All, nil, all},
		{"a stranger's", caches.Downloads, right, append(checkedModule, downloads...)},
		{"a stranger's, with other modules than go.sum says", caches.Downloads, wrong, append([]string{module + version + ".info"}, downloads...)},
		{"a stranger's, with modules that go.sum does not name", caches.Downloads, caches.Sums{"example.com/m v1.0.0": sum}, downloads},
		{"a stranger's, on somebody's branch", caches.Downloads, nil, downloads},
		{"not completed", caches.Nothing, right, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, later := range []bool{false, true} { // the working copy was there, or came only after that
				c := caches.Caches{Root: t.TempDir(), Most: 1 << 20}
				first := tt.sums
				if later {
					first = caches.Sums{}
				}
				dir := open(t, c, "one", first)
				if err := c.NoteSums(t.Context(), repo, "one", tt.sums); err != nil {
					t.Error(err)
				}
				for name, text := range files {
					put(t, dir+"/"+name, text)
				}
				end(t, c, "one", tt.keep)
				want := map[string]string{}
				for _, name := range tt.want {
					want[name] = files[name]
				}
				if diff := cmp.Diff(want, found(t, open(t, c, "two", nil))); diff != "" {
					t.Errorf("later %v: %s", later, diff)
				}
			}
		})
	}
}

// TestSumsComeLater: the working copy was not there when the caches were opened. What is noted first counts.
func TestSumsComeLater(t *testing.T) {
	ofRepository, later := caches.Sums{"m v1": "h1:a"}, caches.Sums{"m v1": "h1:b"}
	for name, note := range map[string]func(c caches.Caches, sums caches.Sums) error{
		"noted": func(c caches.Caches, sums caches.Sums) error { return c.NoteSums(t.Context(), repo, "one", sums) },
		"opened again": func(c caches.Caches, sums caches.Sums) error {
			_, err := c.Open(t.Context(), repo, "one", sums)
			return err
		},
	} {
		c := caches.Caches{Root: t.TempDir(), Most: 1 << 20}
		if err := c.NoteSums(t.Context(), repo, "one", later); err != nil { // there are none yet
			t.Error(err)
		}
		dir := open(t, c, "one", caches.Sums{})
		for _, sums := range []caches.Sums{nil, {}, ofRepository, nil, later} {
			if err := note(c, sums); err != nil {
				t.Error(err)
			}
		}
		if text, err := os.ReadFile(dir + ".context"); err != nil || !strings.Contains(string(text), `"h1:a"`) {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
}

// TestForget: of a context that never began nothing stays, and all of the others.
func TestForget(t *testing.T) {
	c := caches.Caches{Root: t.TempDir(), Most: 1 << 20}
	never, other := open(t, c, "never", nil), open(t, c, "other", nil)
	if err := c.Forget(t.Context(), "never"); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{never: false, never + ".context": false, other: true, other + ".context": true} {
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// goZip makes an archive as the go command downloads it. TestRealTools has real ones.
func goZip(t *testing.T, source string) (archive, sum string) {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	files := make(map[string]string)
	for _, name := range []string{"m.go", "a b.go", "a.go"} {
		name = "example.com/M@v1.0.0/" + name
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(w, source)
		files[name] = source
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String(), goSum(files)
}

// goSum is the checksum of https://go.dev/ref/mod#go-sum-files.
func goSum(files map[string]string) string {
	text := ""
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text += fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(files[name])), name)
	}
	sum := sha256.Sum256([]byte(text))
	return "h1:" + base64.StdEncoding.EncodeToString(sum[:])
}
