package workspace_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// committed is a workspace with three commits, and a function that runs git in it.
func committed(t *testing.T) (bench, func(args ...string) string) {
	b := open(t)
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=ann", "-c", "user.email=e@example.com", "-c", "commit.gpgSign=false"}, args...)...)
		cmd.Dir = b.dir
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z", "GIT_CONFIG_GLOBAL=/dev/null")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "-b", "main")
	b.write("a.txt", "one\ntwo\n")
	b.write("日本語.md", "x\n")
	b.write("-rf", "dash\n")
	git("add", "-A")
	git("commit", "-qm", "First: words")
	b.write("a.txt", "one\nTWO\n")
	git("commit", "-qam", "Second\n\nWhy it was done.")
	git("rm", "-q", "--", "-rf")
	b.write("a.txt", "one\nTWO\nthree\n")
	git("commit", "-qam", "Third")
	return b, git
}

func TestGitHistory(t *testing.T) {
	b, git := committed(t)
	first, second := git("rev-parse", "--short", "HEAD~2"), git("rev-parse", "--short", "HEAD~1")
	b.wantMatch("git_log", args{}, `^\w+ 2026-01-02 ann: Third\n\w+ 2026-01-02 ann: Second\n\w+ 2026-01-02 ann: First: words\n$`)
	b.wantMatch("git_log", args{"limit": 1}, `^\w+ 2026-01-02 ann: Third\n$`)
	b.want("git_log", args{"path": "日本語.md"}, first+" 2026-01-02 ann: First: words\n")
	b.wantMatch("git_log", args{"path": "-rf"}, `Third\n\w+ .*First: words\n$`)
	b.want("git_log", args{"pattern": "why it"}, second+" 2026-01-02 ann: Second\n")
	b.want("git_log", args{"pattern": "absent"}, "no commits\n")
	b.want("git_log", args{"rev": "HEAD~2"}, first+" 2026-01-02 ann: First: words\n")
	b.wantMatch("git_show", args{"rev": "HEAD~1"}, `Author: ann\nDate: 2026-01-02\n\nSecond\n\nWhy it was done\.(.|\n)*-two\n\+TWO\n`)
	b.wantMatch("git_show", args{"commit": "HEAD", "path": "a.txt"}, `\+three\n$`)
	b.want("git_show", args{"rev": "HEAD~2:a.txt"}, "one\ntwo\n")
	b.want("git_show", args{"rev": "HEAD~2:-rf"}, "dash\n")
	b.wantMatch("git_show", args{"rev": "HEAD~2"}, `日本語\.md`)
	b.wantMatch("git_blame", args{"path": "a.txt"}, `^\^?`+first+`.* 1\) one\n`+second+`\w* .* 2\) TWO\n.* 3\) three\n$`)
	b.wantMatch("git_blame", args{"path": "a.txt", "start_line": 2, "end_line": 2}, `^`+second+`\w* .* 2\) TWO\n$`)
	b.wantMatch("git_blame", args{"path": "a.txt", "rev": "HEAD~2"}, `1\) one\n.* 2\) two\n$`)
	for _, c := range []struct {
		tool string
		args args
		want string
	}{
		{"git_show", args{"rev": "none"}, `there is no revision "none"`},
		{"git_show", args{"rev": "--output=x"}, "there is no revision"},
		{"git_log", args{"rev": "--output=x"}, ""},
		{"git_log", args{"path": "../secret"}, "outside of the workspace"},
		{"git_blame", args{"path": "../secret"}, "outside of the workspace"},
		{"git_blame", args{"path": "none"}, ""},
		{"git_blame", args{}, "argument path is missing"},
		{"git_blame", args{"path": "a.txt", "start_line": 9}, ""},
		{"git_restore", args{"path": "none"}, `has no file "none"`},
		{"git_restore", args{"path": "../secret"}, "outside of the workspace"},
		{"git_restore", args{"path": ".git/config"}, ".git"},
		{"git_restore", args{"path": "a.txt", "rev": "none"}, "has no file"},
		{"git_restore", args{"path": "."}, "a directory"},
	} {
		if got, failed := b.call(c.tool, c.args); !failed || !strings.Contains(got, c.want) {
			t.Errorf("%s %v: %q (error %v), want an error with %q", c.tool, c.args, got, failed, c.want)
		}
	}
	if _, err := os.Stat(filepath.Join(b.dir, "x")); err == nil {
		t.Error("an option reached git")
	}
}

func TestGitRestore(t *testing.T) {
	b, git := committed(t)
	content := func(name string) string {
		data, err := os.ReadFile(filepath.Join(b.dir, name))
		if err != nil {
			return err.Error()
		}
		return string(data)
	}
	b.write("a.txt", "mine\n")
	b.write("日本語.md", "mine\n")
	b.want("git_restore", args{"path": "a.txt"}, "restored a.txt as it is in HEAD")
	if got := content("a.txt"); got != "one\nTWO\nthree\n" {
		t.Errorf("restored to %q", got)
	}
	if got := content("日本語.md"); got != "mine\n" {
		t.Errorf("another file is %q", got)
	}
	b.want("git_restore", args{"path": "-rf", "rev": "HEAD~1"}, "restored -rf as it is in HEAD~1")
	b.want("git_restore", args{"path": "a.txt", "rev": "HEAD~2"}, "restored a.txt as it is in HEAD~2")
	if content("-rf") != "dash\n" || content("a.txt") != "one\ntwo\n" {
		t.Errorf("restored to %q, %q", content("-rf"), content("a.txt"))
	}
	if err := os.Remove(filepath.Join(b.dir, "日本語.md")); err != nil {
		t.Fatal(err)
	}
	b.want("git_restore", args{"path": "日本語.md"}, "restored 日本語.md as it is in HEAD")
	// A link in the file's place is replaced, not followed; a hook of the repository does not run.
	outside := filepath.Join(filepath.Dir(b.dir), "secret")
	if err := os.Remove(filepath.Join(b.dir, "a.txt")); err != nil {
		t.Fatal(err)
	}
	b.link("../secret", "a.txt")
	git("config", "core.hooksPath", b.dir)
	b.write("post-index-change", "#!/bin/sh\ntouch "+filepath.Join(b.dir, "ran")+"\n")
	if err := os.Chmod(filepath.Join(b.dir, "post-index-change"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, failed := b.call("git_restore", args{"path": "a.txt"}); failed {
		t.Error(got)
	}
	if data, err := os.ReadFile(outside); string(data) != "outside" || err != nil {
		t.Errorf("outside is %q, %v", data, err)
	}
	if info, err := os.Lstat(filepath.Join(b.dir, "a.txt")); err != nil || !info.Mode().IsRegular() || content("a.txt") != "one\nTWO\nthree\n" {
		t.Errorf("the link became %v, %q", info, content("a.txt"))
	}
	if _, err := os.Stat(filepath.Join(b.dir, "ran")); err == nil {
		t.Error("a hook ran")
	}
}

// TestShallowHistoryIsSaid: where history was cut, answers say so.
func TestShallowHistoryIsSaid(t *testing.T) {
	b, _ := committed(t)
	dir := filepath.Join(t.TempDir(), "shallow")
	if out, err := exec.Command("git", "clone", "-q", "--depth=1", "file://"+b.dir, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	s := openAt(t, dir)
	s.wantMatch("git_log", args{}, `Third\n\[the clone is shallow, older commits are not here\]\n$`)
	s.wantMatch("git_blame", args{"path": "a.txt"}, `\[the clone is shallow, older commits are not here\]\n$`)
	s.refused("git_show", args{"rev": "HEAD~1"}, "the clone is shallow")
	s.refused("git_restore", args{"path": "a.txt", "rev": "HEAD~1"}, "the clone is shallow")
}
