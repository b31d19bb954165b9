package container

import (
	"archive/tar"
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agent/internal/container/imagetest"
)

func TestChoose(t *testing.T) {
	rules := Rules{Projects: map[string]string{"o/fixed": "localhost/fixed:1", "o/none": ""}, Allow: []string{"mcr.microsoft.com/devcontainers/*", "rust:*"}, Default: "debian:12"}
	const dev, own = ".devcontainer/devcontainer.json", ".agent/container"
	for name, c := range map[string]struct {
		project    string
		files      map[string]string
		want, note string
	}{
		"nothing named":          {"o/r", nil, "debian:12", ""},
		"the operator's":         {"o/fixed", map[string]string{own: "rust:1"}, "localhost/fixed:1", ""},
		"the operator's none":    {"o/none", map[string]string{own: "rust:1"}, "", ""},
		"the repository's":       {"o/r", map[string]string{own: "# built weekly\n\nrust:1.82\n"}, "rust:1.82", ""},
		"devcontainer":           {"o/r", map[string]string{dev: `{"image": "mcr.microsoft.com/devcontainers/go:1", // with comments` + "\n}"}, "mcr.microsoft.com/devcontainers/go:1", ""},
		"own file first":         {"o/r", map[string]string{own: "rust:1", dev: `{"image":"x"}`}, "rust:1", ""},
		"not allowed":            {"o/r", map[string]string{own: "evil.example/rust:1"}, "debian:12", "sandbox.container.allow does not name"},
		"pattern ends at /":      {"o/r", map[string]string{own: "mcr.microsoft.com/devcontainers/x/y:1"}, "debian:12", "does not name"},
		"to be built":            {"o/r", map[string]string{dev: `{"build": {"dockerfile": "Dockerfile"}}`}, "debian:12", "names no image"},
		"not JSON":               {"o/r", map[string]string{dev: `{{`}, "debian:12", "is not JSON"},
		"image is no text":       {"o/r", map[string]string{dev: `{"image": 7}`}, "debian:12", "is not JSON"},
		"empty":                  {"o/r", map[string]string{own: "\n# nothing\n"}, "debian:12", "is empty"},
		"an option":              {"o/r", map[string]string{own: "--privileged"}, "debian:12", "does not name an image"},
		"a transport":            {"o/r", map[string]string{own: "docker-archive:/etc/passwd"}, "debian:12", "does not name an image"},
		"a transport like a tag": {"o/r", map[string]string{own: "oci:dir"}, "debian:12", "does not name an image"},
	} {
		if got := rules.Choose(c.project, c.files); got.Name != c.want || !strings.Contains(got.Note, c.note) || (got.Note == "") != (c.note == "") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestIsName(t *testing.T) {
	for _, name := range []string{"debian", "debian:12", "docker.io/library/rust:1.82", "localhost:5000/a/b", "ghcr.io/o/r@sha256:" + strings.Repeat("a", 64), "a__b/c--d"} {
		if !IsName(name) {
			t.Errorf("%s is a name", name)
		}
	}
	for _, text := range []string{"", "-v", "A/B", "a b", "a;b", "a:", "../x", "/x", "a//b", "dir:x", "docker-daemon:x:1", "a@sha256:12", strings.Repeat("a", 600)} {
		if IsName(text) {
			t.Errorf("%q is none", text)
		}
	}
}

// TestUnpackStaysInside: whoever makes an image chooses its names and links.
func TestUnpackStaysInside(t *testing.T) {
	outside := t.TempDir()
	for name, headers := range map[string][]tar.Header{
		"name above":     {{Name: "../../escaped", Typeflag: tar.TypeReg}},
		"absolute name":  {{Name: outside + "/escaped", Typeflag: tar.TypeReg}},
		"link to a file": {{Name: "l", Typeflag: tar.TypeSymlink, Linkname: outside + "/escaped"}, {Name: "l", Typeflag: tar.TypeReg}},
		"link to above":  {{Name: "d", Typeflag: tar.TypeSymlink, Linkname: outside}, {Name: "d/escaped", Typeflag: tar.TypeReg}},
		"relative link":  {{Name: "d", Typeflag: tar.TypeSymlink, Linkname: "../../../../../../.." + outside}, {Name: "d/escaped", Typeflag: tar.TypeReg}},
		"hard link":      {{Name: "h", Typeflag: tar.TypeLink, Linkname: "../../../../../../../etc/passwd"}},
		"link, then dir": {{Name: "d", Typeflag: tar.TypeSymlink, Linkname: outside}, {Name: "d", Typeflag: tar.TypeDir, Mode: 0o777}, {Name: "d/escaped", Typeflag: tar.TypeReg}},
	} {
		dir := t.TempDir()
		err := Unpack(stream(t, headers...), dir)
		if left, _ := os.ReadDir(outside); len(left) > 0 {
			t.Fatalf("%s: %v, %v", name, left, err)
		}
		if info, statErr := os.Stat(filepath.Join(dir, "h")); statErr == nil && info.Size() > 0 {
			t.Errorf("%s: a file of the machine is in the image", name)
		}
	}
}

func stream(t *testing.T, headers ...tar.Header) *bytes.Buffer {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, h := range headers {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &out
}

func TestUnpack(t *testing.T) {
	dir := t.TempDir()
	err := Unpack(stream(t,
		tar.Header{Name: "./", Typeflag: tar.TypeDir, Mode: 0o755},
		tar.Header{Name: "./ro/", Typeflag: tar.TypeDir, Mode: 0o555},
		tar.Header{Name: "./ro/su", Typeflag: tar.TypeReg, Mode: 0o4511},
		tar.Header{Name: "deep/er/file", Typeflag: tar.TypeReg, Mode: 0o644},
		tar.Header{Name: "deep/hard", Typeflag: tar.TypeLink, Linkname: "ro/su"},
		tar.Header{Name: "sym", Typeflag: tar.TypeSymlink, Linkname: "/deep/er"},
		tar.Header{Name: "dev/null", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3},
	), dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{"ro": fs.ModeDir | 0o755, "ro/su": 0o511, "deep/er/file": 0o644, "deep/hard": 0o511, "sym": fs.ModeSymlink | 0o777} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "dev/null")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a device was made: %v", err)
	}
}

// TestPodman opens an image that was made from local files.
func TestPodman(t *testing.T) {
	images := &Images{Dir: t.TempDir(), Tool: imagetest.Podman(t) + "/podman", Log: slog.New(slog.DiscardHandler)}
	image, err := images.Open(t.Context(), "localhost/frob:1")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(image.Root + "/etc/image"); err != nil || string(text) != "frob\n" || !slices.Contains(image.Env, "FROB_HOME=/opt/frob") {
		t.Errorf("%q %v %+v", text, err, image)
	}
	before, _ := os.Stat(image.Root)
	again, err := images.Open(t.Context(), "localhost/frob:1")
	if after, _ := os.Stat(again.Root); err != nil || !os.SameFile(before, after) {
		t.Errorf("it was unpacked again: %v", err)
	}
	if out, _ := exec.Command(images.Tool, "ps", "-aq").Output(); len(out) > 0 {
		t.Errorf("containers are left: %s", out)
	}
	if _, err := images.Open(t.Context(), "localhost/missing:1"); err == nil || !strings.Contains(err.Error(), "localhost/missing:1") {
		t.Errorf("an image that is not there: %v", err)
	}
	collected := 0
	for _, c := range []struct {
		old, dry bool
		left     int
	}{{false, false, 1}, {true, true, 1}, {true, false, 0}} {
		err := images.Collect(time.Now(), func(time.Time) bool { return c.old }, c.dry, func(id string, size int64) {
			if collected++; id != image.ID || size == 0 {
				t.Errorf("%s %d", id, size)
			}
		})
		if n, _, _ := images.Usage(); err != nil || n != c.left {
			t.Errorf("%+v: %d %v", c, n, err)
		}
	}
	if collected != 2 {
		t.Errorf("%d were named", collected)
	}
}

// TestNoImage: what is missing is said, and nothing is left behind.
func TestNoImage(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	images := &Images{Dir: t.TempDir() + "/images", Log: slog.New(slog.DiscardHandler)}
	if _, err := images.Open(t.Context(), "debian:12"); !errors.Is(err, ErrNoTool) {
		t.Error(err)
	}
	images.Tool = "docker"
	if _, err := images.Open(t.Context(), "debian:12"); err == nil || err.Error() != "container: docker is not installed" {
		t.Error(err)
	}
	if _, err := os.Stat(images.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
