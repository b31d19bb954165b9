package workspace_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"agent/internal/container"
	"agent/internal/container/imagetest"
	"agent/internal/sandbox"
	"agent/mcp"
)

// imageOf unpacks an image made of this machine's files.
func imageOf(t *testing.T) mcp.Image {
	t.Helper()
	if s := sandbox.Available(); !s.Namespaces {
		t.Skipf("there are no containers without namespaces: %s", s.Reason)
	}
	dir := filepath.Join(t.TempDir(), "root")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := container.Unpack(bytes.NewReader(imagetest.Tar(t)), dir); err != nil {
		t.Fatal(err)
	}
	return mcp.Image{Name: "localhost/frob", ID: "sha256:0", Dir: dir, Env: imagetest.Env}
}

// contain makes the commands of a house run in an image.
func (h *house) contain(image mcp.Image) {
	h.session = h.pool.SessionWith(h.work, func(context.Context) (mcp.Local, error) { return mcp.Local{Image: image}, nil })
}

// TestContainer: the commands see the image's files and not the machine's, and of what they
// change only the working copy is kept.
func TestContainer(t *testing.T) {
	image := imageOf(t)
	h := build(t, func(c *mcp.ServerConfig) { c.Network = "off" })
	h.contain(image)
	h.works(`cat /etc/image; echo hello > a.frob; frob; cat a.out | { read x; test "$x" = HELLO; }`)
	if out, err := os.ReadFile(h.work + "/a.out"); err != nil || string(out) != "HELLO\n" {
		t.Errorf("%q %v", out, err)
	}
	h.works(`echo x > /etc/image; echo y > /usr/bin/new; rm -r /opt/frob; touch "$HOME/h" "$TMPDIR/t" /tmp/u /dev/shm/v`)
	if _, err := os.Stat(image.Dir + "/opt/frob/bin/frob"); err != nil {
		t.Errorf("the image was changed: %v", err)
	}
	h.works(`test "$(id -un)" = agent -o "$(id -u)" = 0`)
	h.works(`cat /proc/sys/kernel/core_pattern > /tmp/pattern; cat /proc/meminfo > /dev/null`)
	for _, script := range []string{"cat /tmp/pattern > /proc/sys/kernel/core_pattern", "echo 0 > /proc/self/oom_score_adj", "echo x > /dev/mem"} {
		if out, ok := h.inside("sh", "-c", script); ok && !strings.Contains(script, "/dev/mem") {
			t.Errorf("%q works: %s", script, out) // root needs no capability for the kernel's settings
		}
	}
	h.works(`test ! -e /opt/frob`) // the same server: its changes last as long as it does
	for _, name := range secrets {
		if out, ok := h.inside("cat", filepath.Join(h.dir, name)); ok {
			t.Errorf("%s is read: %s", name, out)
		}
	}
	for _, path := range []string{"/etc/hostname", "/etc/shadow", "/usr/bin/git", "/root/.ssh", image.Dir} {
		if out, ok := h.inside("ls", path); ok {
			t.Errorf("%s is there: %s", path, out)
		}
	}
	out, _ := h.inside("env")
	if strings.Contains(out, "AGENT_") || !strings.Contains(out, "FROB_HOME=/opt/frob") {
		t.Errorf("environment:\n%s", out)
	}
	if info, err := os.Stat(h.work + "/a.out"); err != nil || !sandboxOwn(info) {
		t.Errorf("a file belongs to somebody else: %v", err)
	}
}

func sandboxOwn(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}

// TestContainerKeepsTheRules: what holds for a command without an image holds in one.
func TestContainerKeepsTheRules(t *testing.T) {
	image := imageOf(t)
	t.Setenv("TMPDIR", t.TempDir())
	h := build(t, func(c *mcp.ServerConfig) { c.Network = "off" })
	h.contain(image)
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	h.forbidden(os.Args[0], "intrude", "tcp", server.Addr().String())
	h.forbidden(os.Args[0], "intrude", "open-memory", victim(t))
	for word, script := range map[string]string{"987601": "sleep 987601 & : > up", "987602": "setsid sleep 987602 & : > up"} {
		if left := leave(t, h.session, script, word); left != nil {
			t.Errorf("%q left %v running", script, left)
		}
	}
	raw := json.RawMessage(`{"argv":["sh","-c","sleep 987603 & echo begun; wait"],"timeout_seconds":1}`)
	result, err := h.session.Call(t.Context(), "workspace", "run_command", raw)
	if err != nil || !strings.Contains(result.Text, "did not end within 1 s") || !strings.HasSuffix(result.Text, "\nbegun\n") {
		t.Errorf("%v %q", err, result.Text)
	}
	if left := running(t, "987603"); left != nil {
		t.Errorf("%v outlives its time", left)
	}
	raw = json.RawMessage(`{"argv":["sleep","987604"],"background":true}`)
	if result, err := h.session.Call(t.Context(), "workspace", "run_command", raw); err != nil || running(t, "987604") == nil {
		t.Errorf("%v %q", err, result.Text)
	}
	_ = h.session.Close()
	if left := running(t, "987604"); left != nil {
		t.Errorf("%v outlives its server", left)
	}
	if left, _ := filepath.Glob(os.Getenv("TMPDIR") + "/*"); left != nil {
		t.Errorf("%q is left of the container", left)
	}
}
