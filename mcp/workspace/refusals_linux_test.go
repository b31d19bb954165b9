package workspace_test

import (
	"regexp"
	"strings"
	"testing"

	"agent/mcp"
)

// TestRefusalsAreExplained: what programs say where the sandbox stopped them names the
// kernel's error; the answer names the sandbox. Words alone are no refusal.
func TestRefusalsAreExplained(t *testing.T) {
	const files, network = "the sandbox lets commands write only to", "the sandbox has no network"
	off := build(t, func(c *mcp.ServerConfig) { c.Network = "off" })
	on := build(t, nil)
	for _, c := range []struct {
		h    *house
		line string
		want string // "" for none
	}{
		{on, "echo x > /etc/agent-test", files},
		{on, "touch /usr/bin/agent-test", files},
		{on, "mkdir -p /opt/agent-test", files},
		{on, "python3 -c 'open(\"/etc/agent-test\",\"w\")'", files},
		{on, "cat /etc/shadow-", files},
		{on, "echo permission denied", ""},
		{on, "echo fine; exit 3", ""},
		{on, "echo 'Could not resolve host: example.invalid'; exit 6", ""}, // the network is on: the name is wrong
		{off, "git ls-remote https://example.invalid/x.git", network},
		{off, "echo 'curl: (6) Could not resolve host: pypi.org'; exit 6", network},
		{off, "echo 'npm error code EAI_AGAIN'; exit 1", network},
		{off, "echo 'dial tcp: lookup proxy.golang.org: no such host'; exit 1", network},
		{off, "echo 'dial tcp 127.0.0.1:5432: connect: connection refused' >/dev/null; exit 1", ""},
		{off, "echo no such host", ""},
	} {
		got, _ := c.h.inside("sh", "-c", c.line)
		note, _, _ := strings.Cut(got[strings.Index(got, "\n")+1:], "\n")
		for _, explained := range []string{files, network} {
			if strings.Contains(note, explained) != (explained == c.want) {
				t.Errorf("%s\nis answered by\n%s", c.line, got)
			}
		}
	}
	raw := `{"command":"echo x > /etc/agent-test; sleep 0.2; exit 1","background":true}`
	result, err := on.session.Call(t.Context(), "workspace", "run_command", []byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	result, err = on.session.Call(t.Context(), "workspace", "command_output", []byte(`{"id":`+regexp.MustCompile(`\d+`).FindString(result.Text)+`,"wait_seconds":20}`))
	if err != nil || !strings.Contains(result.Text, files) {
		t.Errorf("of a command in the background: %q, %v", result.Text, err)
	}
}
