package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"agent/internal/exhaustive"
)

// TestMain lets the test binary stand for an agent that is killed, and for a
// process that changes files while git reads them.
func TestMain(m *testing.M) {
	switch args := os.Args[1:]; {
	case len(args) == 3 && args[0] == "clone":
		_, err := Clone(context.Background(), Options{URL: args[1], Dir: args[2], Token: secret})
		fmt.Println("cloned", err)
	case len(args) == 3 && args[0] == "exchange":
		exchange(args[1], args[2])
	default:
		goleak.VerifyTestMain(m)
	}
}

const (
	secret = "ghp_0123456789abcdefghij"
	writer = "agent[bot] <agent@example.com>"
)

// plain runs git as a person would, with nothing of the machine's configuration.
func plain(t *testing.T, dir string, args ...string) string {
	t.Helper()
	p := exec.Command("git", args...)
	p.Dir = dir
	p.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=ann", "GIT_COMMITTER_EMAIL=ann@example.com",
	}
	out, err := p.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// remote is a bare repository with the branches main and other.
func remote(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	work, bare := filepath.Join(root, "work"), filepath.Join(root, "remote.git")
	plain(t, root, "init", "-q", "-b", "main", work)
	put(t, work, "README", "hello\n")
	put(t, work, "dir/日本 語.txt", "text\n")
	put(t, work, ".gitignore", "*.log\n")
	plain(t, work, "add", "-A")
	plain(t, work, "commit", "-qm", "first")
	plain(t, work, "branch", "other")
	plain(t, root, "clone", "-q", "--bare", work, bare)
	return bare
}

func clone(t *testing.T, url string) *Repo {
	t.Helper()
	r, err := Clone(context.Background(), Options{URL: url, Dir: filepath.Join(t.TempDir(), "ctx", "work"), Branch: "main"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// commitAll puts everything into commits of a branch, from what is checked out.
func commitAll(ctx context.Context, r *Repo, branch, message, author string) (commit string, changed []string, err error) {
	base, err := r.Head(ctx)
	if err != nil {
		return "", nil, err
	}
	tree, _, err := r.Tree(ctx, 1<<20, nil)
	if err != nil {
		return "", nil, err
	}
	changes, err := r.Compare(ctx, base, tree)
	for _, c := range changes {
		changed = append(changed, c.Path)
	}
	if err != nil {
		return "", nil, err
	}
	commit, err = r.Commit(ctx, CommitSpec{Branch: branch, Base: base, Tree: tree, Message: message, Author: author, When: time.Unix(1800000000, 0)})
	return commit, changed, err
}

// push pushes what a branch of the working copy holds.
func push(ctx context.Context, r *Repo, branch string) error {
	commit, err := r.Head(ctx)
	if err != nil {
		return err
	}
	_, err = r.Push(ctx, PushSpec{Branch: branch, Commit: commit, Base: commit, Author: writer})
	return err
}

func TestCloneCommitPush(t *testing.T) {
	ctx, url := context.Background(), remote(t)
	r := clone(t, url)
	base, err := r.Head(ctx)
	if err != nil || base != plain(t, url, "rev-parse", "main") {
		t.Fatalf("head %q, %v", base, err)
	}
	if paths, err := r.Status(ctx); err != nil || len(paths) != 0 {
		t.Errorf("fresh clone: %q, %v", paths, err)
	}
	put(t, r.Dir, "README", "changed\n")
	put(t, r.Dir, "new/a b\n\"c\".txt", "x")
	put(t, r.Dir, "-n", "x")
	put(t, r.Dir, "trace.log", "ignored")
	if err := os.Remove(filepath.Join(r.Dir, "dir", "日本 語.txt")); err != nil {
		t.Fatal(err)
	}
	want := []string{"-n", "README", "dir/日本 語.txt", "new/a b\n\"c\".txt"}
	if paths, err := r.Status(ctx); err != nil || !slices.Equal(paths, want) {
		t.Errorf("status %q, %v, want %q", paths, err, want)
	}

	commit, changed, err := commitAll(ctx, r, "agent/1", "Subject\n\n#1 stays\n", writer)
	if err != nil || !slices.Equal(changed, want) {
		t.Fatalf("commit: %q, %v", changed, err)
	}
	if got := plain(t, r.Dir, "log", "-1", "--format=%H %an <%ae> %cn %s|%b"); got != commit+" agent[bot] <agent@example.com> agent[bot] Subject|#1 stays" {
		t.Errorf("log %q", got)
	}
	again, changed, err := commitAll(ctx, r, "agent/1", "Subject", writer)
	if err != nil || again != commit || len(changed) != 0 {
		t.Errorf("again: %q, %q, %v", again, changed, err)
	}
	for range 2 {
		if err := push(ctx, r, "agent/1"); err != nil {
			t.Fatal(err)
		}
	}
	if got := plain(t, url, "rev-parse", "agent/1"); got != commit {
		t.Errorf("pushed %q, want %q", got, commit)
	}
}

func TestOpen(t *testing.T) {
	ctx, url := context.Background(), remote(t)
	made := clone(t, url)
	r, err := Open(made.Dir)
	if err != nil {
		t.Fatal(err)
	}
	put(t, r.Dir, "f", "x")
	commit, _, err := commitAll(ctx, r, "b", "m", writer)
	if err != nil {
		t.Fatal(err)
	}
	if head, err := r.Head(ctx); err != nil || head != commit {
		t.Errorf("head %q, %v", head, err)
	}
	if err := push(ctx, r, "b"); err == nil {
		t.Error("pushed to where the working copy's configuration says")
	}
	empty, file := t.TempDir(), t.TempDir()
	put(t, file, ".git", "gitdir: "+filepath.Join(made.Dir, ".git"))
	for _, dir := range []string{empty, file, filepath.Join(empty, "none"), filepath.Join(made.Dir, "dir")} {
		if _, err := Open(dir); err == nil {
			t.Errorf("%s was opened", dir)
		}
	}
}

func TestCloneReuses(t *testing.T) {
	ctx, url := context.Background(), remote(t)
	r := clone(t, url)
	put(t, r.Dir, "f", "x")
	if _, _, err := commitAll(ctx, r, "work", "m", writer); err != nil {
		t.Fatal(err)
	}
	put(t, r.Dir, "g", "x")
	again, err := Clone(ctx, Options{URL: url, Dir: r.Dir, Branch: "main"})
	if err != nil {
		t.Fatal(err)
	}
	if paths, err := again.Status(ctx); err != nil || !slices.Equal(paths, []string{"g"}) {
		t.Errorf("status %q, %v", paths, err)
	}
	if branch := plain(t, r.Dir, "branch", "--show-current"); branch != "work" {
		t.Errorf("branch %q", branch)
	}
	if _, err := Clone(ctx, Options{URL: remote(t), Dir: r.Dir}); err == nil {
		t.Error("a clone of another URL was taken")
	}
	if _, err := Clone(ctx, Options{URL: url, Dir: t.TempDir()}); err == nil {
		t.Error("an empty directory was taken")
	}
}

func TestCloneIsWholeOrNothing(t *testing.T) {
	url, dir := remote(t), filepath.Join(t.TempDir(), "work")
	put(t, dir+".tmp", "left", "by a killed run")
	if _, err := Clone(context.Background(), Options{URL: url, Dir: dir, Branch: "absent"}); err == nil {
		t.Error("an absent branch was cloned")
	}
	if _, err := Clone(context.Background(), Options{URL: url + "x", Dir: dir}); err == nil {
		t.Error("an absent repository was cloned")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Clone(ctx, Options{URL: url, Dir: dir}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	for _, path := range []string{dir, dir + ".tmp"} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is there", path)
		}
	}
	r, err := Clone(context.Background(), Options{URL: "file://" + url, Dir: dir, Branch: "other"})
	if err != nil {
		t.Fatal(err)
	}
	if branch := plain(t, r.Dir, "branch", "--show-current"); branch != "other" {
		t.Errorf("branch %q", branch)
	}
}

func TestStaleLocks(t *testing.T) {
	r := clone(t, remote(t))
	for _, name := range []string{"index.lock", "HEAD.lock", "refs/heads/b.lock"} {
		put(t, r.Dir, ".git/"+name, "")
	}
	put(t, r.Dir, "f", "x")
	if _, changed, err := commitAll(context.Background(), r, "b", "m", writer); err != nil || len(changed) != 1 {
		t.Errorf("%q, %v", changed, err)
	}
}

func TestRefused(t *testing.T) {
	exhaustive.Slow(t)
	ctx := context.Background()
	r := clone(t, remote(t))
	dir := filepath.Join(t.TempDir(), "x")
	for _, url := range []string{
		"", "-u", "--upload-pack=touch x", "ext::sh -c touch% x", "ssh://h/x", "git@h:x", "relative/path", "git://h/x",
		"https://user:" + secret + "@h/x", "https:///x", "file://h/x", "http://h.example/x", "https://h/\nx", "fd::3", "ftp://h/x",
	} {
		_, err := Clone(ctx, Options{URL: url, Dir: dir, Token: secret})
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("URL %q: %v", url, err)
		}
	}
	for _, branch := range []string{
		"", "-x", "--all", "a b", "a..b", "a~1", "a:b", "HEAD", "@", "a//b", "/a", "a/", ".a", "a/.b", "a.lock", "a.", "a\nb", "a@{1}", "*",
	} {
		if branch != "" {
			if _, err := Clone(ctx, Options{URL: r.Dir, Dir: dir, Branch: branch}); err == nil {
				t.Errorf("clone of branch %q", branch)
			}
		}
		if _, _, err := commitAll(ctx, r, branch, "m", writer); err == nil {
			t.Errorf("commit on branch %q", branch)
		}
		if err := push(ctx, r, branch); err == nil {
			t.Errorf("push of branch %q", branch)
		}
	}
	for _, base := range []string{"", "-x", "--output=" + dir, "absent", "a..b"} {
		if _, err := r.Compare(ctx, base, base); err == nil {
			t.Errorf("compared with %q", base)
		}
		if _, err := r.Commit(ctx, CommitSpec{Branch: "b", Base: base, Tree: base, Author: writer}); err == nil {
			t.Errorf("commit on %q", base)
		}
		if _, err := r.Patch(ctx, base, base); err == nil {
			t.Errorf("patch since %q", base)
		}
	}
	for _, author := range []string{"", "ann", "<a@b>", "ann <a@b> x", "ann\n<a@b>", "ann <a b>"} {
		if _, _, err := commitAll(ctx, r, "b", "m", author); err == nil {
			t.Errorf("author %q", author)
		}
	}
	if _, err := os.Lstat(dir); err == nil {
		t.Error("something was made")
	}
}
