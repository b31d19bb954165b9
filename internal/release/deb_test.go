package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestDeb makes a package of a stand-in for the program, and lets dpkg-deb read it where that is installed. That it
// can be installed, upgraded and removed shows deploy/test-deb.
func TestDeb(t *testing.T) {
	work, out := t.TempDir(), t.TempDir()
	here := filepath.Join(work, "here", "agent")
	write := func(name, text string, mode os.FileMode) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), mode)); err != nil {
			t.Fatal(err)
		}
	}
	write(here, "#!/bin/sh\necho completes $2\n", 0o755)
	write(filepath.Join(work, "man", "man1", "agent.1"), ".TH AGENT 1\n", 0o644)
	write(filepath.Join(work, licencesFile), "==== x\n", 0o644)
	b := &build{dir: filepath.Join("..", ".."), work: work, out: out, time: time.Unix(1764374400, 0).UTC(), version: "1.2.3"}
	file := filepath.Join(out, "agent_1.2.3_arm64.deb")
	var first []byte
	for range 2 { // what is collected in maps has no order of its own
		if err := b.deb("arm64", here); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(file)
		if err != nil || first != nil && !slices.Equal(data, first) {
			t.Fatalf("the bytes differ: %v", err)
		}
		first = data
	}
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("needs dpkg-deb to be read")
	}
	for field, want := range map[string]string{"Package": "agent", "Version": "1.2.3", "Architecture": "arm64", "Maintainer": maintainer} {
		if got := strings.TrimSpace(run(t, out, "dpkg-deb", "--field", file, field)); got != want {
			t.Errorf("%s is %q", field, got)
		}
	}
	run(t, out, "dpkg-deb", "--control", file, "said")
	run(t, out, "dpkg-deb", "--extract", file, "root")
	if text, _ := os.ReadFile(filepath.Join(out, "said", "conffiles")); string(text) != "/etc/agent/config.yaml.example\n/etc/agent/env\n" {
		t.Errorf("conffiles: %s", text)
	}
	for _, script := range []string{"postinst", "prerm", "postrm"} {
		run(t, out, "sh", "-n", filepath.Join(out, "said", script))
	}
	run(t, filepath.Join(out, "root"), "md5sum", "--check", "--quiet", "../said/md5sums")
	for name, want := range map[string]string{
		"usr/bin/agent": "-rwxr-xr-x", "etc/agent/env": "-rw-------", "usr/lib/systemd/system/agent.service": "-rw-r--r--",
		"usr/share/man/man1/agent.1.gz": "-rw-r--r--", "usr/share/bash-completion/completions/agent": "-rw-r--r--", "usr/share/doc/agent": "drwxr-xr-x",
	} {
		info, err := os.Stat(filepath.Join(out, "root", name))
		if err != nil || fmt.Sprint(info.Mode()) != want {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
}
