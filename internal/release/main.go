// Release makes what is published of a commit: for each system an archive with
// the program, its manual, the licences and the README, and for Linux a Debian package;
// a list of what is linked (sbom.cdx.json, CycloneDX); and SHA256SUMS of all of them.
//
//	go run ./internal/release [-out bin/release] [-only linux/amd64]
//
// The same commit and version of Go give the same bytes on any machine: paths are
// trimmed, and the time of the commit stands for the time in archives and manual.
// Changes that are not committed are refused, since no commit would name them.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

var targets = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64"}

func main() {
	out := flag.String("out", filepath.Join("bin", "release"), "directory of the results; it is emptied first")
	only := flag.String("only", strings.Join(targets, ","), "systems to build for")
	flag.Parse()
	if err := release(".", *out, strings.Split(*only, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release makes the release of the source tree dir in out.
func release(dir, out string, targets []string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	if changed, err := output(dir, nil, "git", "status", "--porcelain"); err != nil || changed != "" {
		return fmt.Errorf("commit or remove these changes first: %s %w", changed, err)
	}
	stamp, err := output(dir, nil, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "agent-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	// Of a linked worktree, Go would not find the commit: it builds a clone.
	source := filepath.Join(work, "source")
	if _, err := output(dir, nil, "git", "clone", "-q", ".", source); err != nil {
		return err
	}
	b := &build{dir: source, work: work, out: out, epoch: stamp, time: time.Unix(seconds, 0).UTC()}
	return b.all(targets)
}

// build is one release under way.
type build struct {
	dir, work, out string
	epoch          string // seconds, the time of the commit
	time           time.Time
	version        string
}

func (b *build) all(targets []string) error {
	if err := b.manual(); err != nil {
		return err
	}
	var binaries []string
	for _, target := range targets {
		binary := filepath.Join(b.work, strings.ReplaceAll(target, "/", "-"), "agent")
		if err := b.compile(target, binary); err != nil {
			return err
		}
		binaries = append(binaries, binary)
		if err := b.writeLicences(binary); err != nil {
			return err
		}
		if err := b.pack(target, binary); err != nil {
			return err
		}
		if arch, ok := strings.CutPrefix(target, "linux/"); ok { // Debian calls these as Go does
			if err := b.deb(arch, binary); err != nil {
				return err
			}
		}
	}
	if err := b.writeSBOM(binaries); err != nil {
		return err
	}
	return b.writeSums()
}

// manual builds for this machine, to ask the program for its version and its manual.
func (b *build) manual() error {
	here := filepath.Join(b.work, "here", "agent")
	if err := b.compile("", here); err != nil {
		return err
	}
	text, err := output(b.dir, nil, here, "version", "--json")
	if err != nil {
		return err
	}
	var info struct{ Version, Commit string }
	if err := json.Unmarshal([]byte(text), &info); err != nil {
		return fmt.Errorf("agent version: %w", err)
	}
	if info.Commit == "" {
		return fmt.Errorf("the program does not know its commit: %s", text)
	}
	b.version, _, _ = strings.Cut(info.Version, "+")
	_, err = output(b.dir, []string{"SOURCE_DATE_EPOCH=" + b.epoch}, here, "docs", "man", filepath.Join(b.work, "man", "man1"))
	return err
}

// compile builds for a target like linux/amd64, or for this machine. Without what only debuggers
// read it is a third smaller.
func (b *build) compile(target, binary string) error {
	env := []string{"CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off"}
	if system, arch, ok := strings.Cut(target, "/"); ok {
		env = append(env, "GOOS="+system, "GOARCH="+arch)
	}
	_, err := output(b.dir, env, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s", "-o", binary, "./cmd/agent")
	return err
}

// output runs a program and gives what it prints, trimmed.
func output(dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, append(os.Environ(), env...), os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(text)), nil
}
