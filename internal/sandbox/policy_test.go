package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func files(t *testing.T, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		status Status
		policy Policy
		kind   string
		lack   string
	}{
		{Status{Landlock: 7, Namespaces: true}, Policy{NoNetwork: true}, "Landlock ABI 7, namespaces", ""},
		{Status{Landlock: 6, Reason: "r"}, Policy{}, "Landlock ABI 6", ""},
		{Status{Landlock: 6, Reason: "r"}, Policy{NoNetwork: true}, "Landlock ABI 6", "the network is not off: r"},
		{Status{Landlock: 5, Reason: "r"}, Policy{}, "Landlock ABI 5", "other processes can be signalled"},
		{Status{Landlock: 2, Namespaces: true}, Policy{}, "Landlock ABI 2, namespaces", "files outside can be emptied: Landlock is older than ABI 3"},
		{Status{Namespaces: true}, Policy{NoNetwork: true}, "namespaces", "files are not protected: the kernel has no Landlock"},
		{Status{Reason: "r"}, Policy{NoNetwork: true}, "", "files are not protected: the kernel has no Landlock; other processes can be signalled; the network is not off: r"},
	} {
		kind, err := c.policy.CheckOn(c.status)
		lack := ""
		if err != nil {
			lack = err.Error()
		}
		if kind != c.kind || lack != c.lack {
			t.Errorf("%+v %+v: got %q, %q", c.status, c.policy, kind, lack)
		}
	}
}

func TestStatusLines(t *testing.T) {
	got := append(Status{Landlock: 7, Namespaces: true}.Lines(), Status{Reason: "why"}.Lines()...)
	want := []string{
		"landlock: ABI 7", "namespaces: user, process, mount, network",
		"landlock: not available (the kernel lacks it or does not enable it)", "namespaces: not available: why",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPolicyText(t *testing.T) {
	want := Policy{Write: []string{"/a b"}, Read: []string{"/\"c\""}, Deny: []string{"/d"}, Unnamed: []string{"/u"}, NoNetwork: true, Required: true, Keep: []string{"X"}, Home: "/h"}
	got, err := Parse(want.Text())
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if _, err := Parse("{"); err == nil {
		t.Error("half a policy was read")
	}
}

func TestDeniedTreesAreCutOut(t *testing.T) {
	dir := files(t, "app/bin/tool", "app/state/contexts/.key", "app/state/other/x", "app/config.yaml")
	p := Policy{Deny: []string{dir + "/app/state/contexts", dir + "/app/config.yaml"}}
	if diff := cmp.Diff([]string{dir + "/app/bin", dir + "/app/state/other"}, without(dir+"/app", p.Deny)); diff != "" {
		t.Error(diff)
	}
	for _, path := range []string{"/app/state/contexts", "/app/state/contexts/.key", "/app/config.yaml"} {
		if got := without(dir+path, p.Deny); got != nil {
			t.Errorf("%s gives %q", path, got)
		}
	}
	if err := os.Symlink(dir+"/app/state/contexts", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	if got := without(dir+"/link", p.Deny); got != nil {
		t.Errorf("a link gives %q", got)
	}
}

func TestForCommand(t *testing.T) {
	dir := files(t, "p/node_modules/x/dist/index.js", "venv/bin/python", "venv/pyvenv.cfg", "conf.json", "home/a")
	got := ForCommand([]string{
		dir + "/venv/bin/python", dir + "/p/node_modules/x/dist/index.js", "--config=" + dir + "/conf.json", "relative", "/", "/absent",
		dir + "/home", dir, dir + "/home/a",
	}, dir+"/home")
	if diff := cmp.Diff([]string{dir + "/venv", dir + "/p/node_modules", dir + "/conf.json", dir + "/home/a"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestHomesAreNotReadable(t *testing.T) {
	dir := files(t, ".ssh/id", ".cargo/credentials.toml", ".cargo/bin/cargo", ".config/x", ".npmrc", "bin/tool", "go/pkg/mod/x")
	path := strings.Join([]string{dir, dir + "/bin", "/", "bin", filepath.Dir(dir)}, ":")
	var got []string
	for _, name := range (Policy{Home: dir}).readable(path) {
		if within(name, dir) || within(dir, name) {
			got = append(got, strings.TrimPrefix(name, dir))
		}
	}
	if diff := cmp.Diff([]string{"/.cargo/bin", "/bin"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestEnviron(t *testing.T) {
	dir := files(t, "go/pkg/mod/cache/download/x", ".rustup/x")
	common := []string{"A=b", "GIT_CONFIG_NOSYSTEM=1", "HOME=/p/home", "RUSTUP_HOME=" + dir + "/.rustup", "TMPDIR=/p/tmp"}
	for _, tt := range []struct {
		read, keep, env, want []string
	}{
		{want: []string{"GOFLAGS=-modcacherw"}}, // GOPROXY keeps its default
		{env: []string{"GOFLAGS=-x", "GOPROXY=off"}, want: []string{"GOFLAGS=-x -modcacherw", "GOPROXY=off"}},
		{keep: []string{"GOFLAGS"}, env: []string{"GOFLAGS=-x"}, want: []string{"GOFLAGS=-x"}},
		{read: []string{dir + "/go/pkg/mod"}, env: []string{"GOPROXY=off"},
			want: []string{"GOFLAGS=-modcacherw", "GOPROXY=file://" + dir + "/go/pkg/mod/cache/download,off"}},
		{read: []string{dir + "/go"}, want: []string{"GOFLAGS=-modcacherw", "GOPROXY=file://" + dir + "/go/pkg/mod/cache/download,https://proxy.golang.org,direct"}},
		{read: []string{dir + "/go/pkg/mod/other"}, want: []string{"GOFLAGS=-modcacherw"}},
	} {
		p := Policy{Home: dir, Private: "/p", Keep: tt.keep, Read: tt.read}
		got := p.Environ(append([]string{"HOME=" + dir, "A=b", "TMPDIR=/tmp", Variable + "=old"}, tt.env...))
		if diff := cmp.Diff(slices.Sorted(slices.Values(append(tt.want, common...))), got); diff != "" {
			t.Errorf("%+v: %s", tt, diff)
		}
	}
}

func TestPrivateDirectories(t *testing.T) {
	base := files(t)
	t.Setenv("TMPDIR", base)
	mine, err := NewPrivate()
	if err != nil {
		t.Fatal(err)
	}
	old, err := NewPrivate()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(old.Dir+"/home/ro/x", 0o700); err != nil {
		t.Fatal(err)
	}
	_ = os.Chmod(old.Dir+"/home/ro", 0o500)
	long := time.Now().Add(-time.Hour)
	for _, dir := range []string{mine.Dir, old.Dir} {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%v %v", info, err)
		}
		if err := os.Chtimes(dir, long, long); err != nil {
			t.Fatal(err)
		}
	}
	_ = old.lock.Close() // as if its owner had been killed
	sweep(base)
	left, _ := filepath.Glob(base + "/*")
	if diff := cmp.Diff([]string{mine.Dir}, left); diff != "" {
		t.Error(diff)
	}
	mine.Remove(time.Minute)
	if left, _ = filepath.Glob(base + "/*"); left != nil {
		t.Errorf("left: %q", left)
	}
}

func TestUnnamedDirectories(t *testing.T) {
	dir := files(t, "app/bin/tool", "app/config/config.yaml", "app/config/.env", "app/config/server.js")
	p := Policy{Unnamed: []string{dir + "/app/config"}, Deny: []string{dir + "/app/config/config.yaml"},
		Read: []string{dir + "/app/config/server.js", dir + "/app/config/config.yaml"}}
	var got []string
	for _, name := range p.readable(dir + "/app/bin:" + dir + "/app/config") {
		if within(name, dir) {
			got = append(got, strings.TrimPrefix(name, dir))
		}
	}
	if diff := cmp.Diff([]string{"/app/bin", "/app/config/server.js"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestInstallations: what is beside the programs of a PATH may be secret.
func TestInstallations(t *testing.T) {
	dir := files(t, "tool/bin/x", "tool/lib/x", "tool/share/x", "tool/etc/env", "tool/key.pem", "go/bin/go", "go/pkg/tool/x", "go/src/x")
	var got []string
	for _, name := range (Policy{}).readable(dir + "/tool/bin:" + dir + "/go/bin") {
		if within(name, dir) {
			got = append(got, strings.TrimPrefix(name, dir))
		}
	}
	if diff := cmp.Diff([]string{"/go", "/go/bin", "/tool/bin", "/tool/lib", "/tool/share"}, got); diff != "" {
		t.Error(diff)
	}
	for _, tree := range []string{"/opt", "/srv", "/usr/local/etc", "/usr", "/usr/local"} {
		if slices.Contains((Policy{}).readable("/usr/bin:/usr/local/bin"), tree) && (tree != "/usr" && tree != "/usr/local" || exists("/usr/local/etc")) {
			t.Errorf("%s is readable as a whole", tree)
		}
	}
}

func TestGrantingHidesWhatIsDenied(t *testing.T) {
	dir := files(t, "tool/bin/x", "secret/x")
	p := Policy{Deny: []string{dir + "/secret"}, Home: dir + "/home", Write: []string{"/w"}}
	told := p.Granting(dir + "/tool/bin")
	if strings.Contains(told.Text(), "secret") || strings.Contains(told.Text(), "/home\"") {
		t.Error(told.Text())
	}
	if diff := cmp.Diff(p.readable(dir+"/tool/bin"), told.readable("/elsewhere")); diff != "" {
		t.Error(diff)
	}
}
