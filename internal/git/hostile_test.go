package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPushGoesToTheURLOnly changes everything in .git that could make git send
// commits or the token elsewhere, to another repository of the same host too.
func TestPushGoesToTheURLOnly(t *testing.T) {
	ctx, bare := context.Background(), remote(t)
	evil := filepath.Join(filepath.Dir(bare), "evil.git")
	plain(t, bare, "clone", "-q", "--bare", bare, evil)
	for _, dir := range []string{bare, evil} {
		plain(t, dir, "config", "http.receivepack", "true")
	}
	before := plain(t, evil, "for-each-ref")
	server, _ := gitServer(t, filepath.Dir(bare))
	url, thief := server.URL+"/remote.git", server.URL+"/evil.git"
	included := t.TempDir()
	put(t, included, "more", "[remote \"origin\"]\n\turl = "+thief+"\n")
	r, err := Clone(ctx, Options{URL: url, Dir: filepath.Join(t.TempDir(), "w"), Token: secret, Branch: "main"})
	if err != nil {
		t.Fatal(err)
	}
	for _, setting := range [][2]string{
		{"url." + thief + ".insteadOf", url},
		{"url." + thief + ".pushInsteadOf", url},
		{"remote.origin.pushurl", thief},
		{"remote.pushDefault", thief},
		{"remote.origin.mirror", "true"},
		{"http.proxy", "http://127.0.0.1:1"},
		{"http." + url + ".extraHeader", "Authorization: none"},
		{"protocol.http.allow", "never"},
		{"include.path", filepath.Join(included, "more")},
	} {
		plain(t, r.Dir, "config", setting[0], setting[1])
	}
	put(t, r.Dir, ".git/info/grafts", strings.Repeat("0", 40)+"\n")
	put(t, r.Dir, ".git/remotes/origin", "URL: "+thief+"\n")
	put(t, r.Dir, "f", "x")
	again, err := Clone(ctx, Options{URL: url, Dir: r.Dir, Token: secret, Branch: "main"})
	if err != nil {
		t.Fatal(err)
	}
	commit, _, err := commitAll(ctx, again, "b", "m", writer)
	if err != nil {
		t.Fatal(err)
	}
	if err := push(ctx, again, "b"); err != nil {
		t.Fatal(err)
	}
	if got := plain(t, bare, "rev-parse", "b"); got != commit {
		t.Errorf("pushed %s, want %s", got, commit)
	}
	if after := plain(t, evil, "for-each-ref"); after != before {
		t.Errorf("the other repository got %s", after)
	}
}

// TestSecondURL: with and without a token, a second URL of the remote gets
// nothing, and a working copy that has one is not taken again.
func TestSecondURL(t *testing.T) {
	ctx, bare, evil := context.Background(), remote(t), remote(t)
	r := clone(t, bare)
	plain(t, r.Dir, "config", "--replace-all", "remote.origin.url", evil)
	plain(t, r.Dir, "config", "--add", "remote.origin.url", bare)
	put(t, r.Dir, "f", "x")
	commit, _, err := commitAll(ctx, r, "b", "m", writer)
	if err != nil {
		t.Fatal(err)
	}
	if err := push(ctx, r, "b"); err != nil || plain(t, bare, "rev-parse", "b") != commit {
		t.Errorf("push: %v", err)
	}
	if got := plain(t, evil, "for-each-ref", "refs/heads/b"); got != "" {
		t.Errorf("the other repository got %s", got)
	}
	if _, err := Clone(ctx, Options{URL: bare, Dir: r.Dir}); err == nil {
		t.Error("a working copy with two remotes was taken")
	}
}

// TestTokenStaysInRepository: the header is for the repository, not for its host.
func TestTokenStaysInRepository(t *testing.T) {
	bare := remote(t)
	server, _ := gitServer(t, filepath.Dir(bare))
	r := clone(t, bare)
	a, err := newAuth(Options{URL: server.URL + "/other.git", Token: secret})
	if err != nil {
		t.Fatal(err)
	}
	r.auth = a
	if _, err := r.git(context.Background(), "ls-remote", server.URL+"/remote.git"); err == nil {
		t.Error("without a token nothing may be reached")
	}
	c := command{name: "ls-remote", args: []string{server.URL + "/remote.git"}, auth: a}
	if _, err := r.run(context.Background(), c); err == nil {
		t.Error("another repository of the host got the token")
	}
	a.url = server.URL + "/remote.git"
	c.auth = a
	if _, err := r.run(context.Background(), c); err != nil {
		t.Error(err)
	}
}

// TestStrangeFiles: what git would wait for or follow out of .git is refused at once.
func TestStrangeFiles(t *testing.T) {
	ctx, url := context.Background(), remote(t)
	pipe := func(path string) error { return syscall.Mkfifo(path, 0o600) }
	link := func(path string) error { return os.Symlink(filepath.Join(url, filepath.Base(path)), path) }
	for _, c := range []struct {
		name string
		make func(string) error
	}{
		{"config", pipe}, {"HEAD", pipe}, {"index", pipe}, {"packed-refs", pipe}, {"refs/heads/b", pipe}, {"objects/info/x", pipe},
		{"config", link}, {"HEAD", link}, {"refs", link}, {"objects", link},
		{"objects/info/alternates", func(path string) error { return os.WriteFile(path, []byte(url+"/objects\n"), 0o600) }},
		{"commondir", func(path string) error { return os.WriteFile(path, []byte(url+"\n"), 0o600) }},
	} {
		r := clone(t, url)
		path := filepath.Join(r.Dir, ".git", filepath.FromSlash(c.name))
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := c.make(path); err != nil {
			t.Fatal(err)
		}
		_, reused := Clone(ctx, Options{URL: url, Dir: r.Dir})
		_, _, committed := commitAll(ctx, r, "b", "m", writer)
		for what, err := range map[string]error{"clone": reused, "commit": committed, "push": push(ctx, r, "main")} {
			if err == nil || !strings.Contains(err.Error(), ".git was changed") {
				t.Errorf("%s with %s: %v", what, c.name, err)
			}
		}
	}
}

// TestHostileRepository clones what a stranger committed: submodules whose URLs
// are programs, filters, links out of the tree, names like options. Nothing runs,
// nothing is written elsewhere, and a change of it is published all the same.
func TestHostileRepository(t *testing.T) {
	ctx, url := context.Background(), remote(t)
	ran, outside := filepath.Join(t.TempDir(), "ran"), t.TempDir()
	dir := filepath.Join(t.TempDir(), "stranger")
	plain(t, filepath.Dir(dir), "clone", "-q", url, dir)
	put(t, dir, ".gitmodules", "[submodule \"s\"]\n\tpath = s\n\turl = ext::sh -c touch% "+ran+"\n\tupdate = !touch "+ran+"\n")
	put(t, dir, ".gitattributes", "* filter=x diff=x merge=x text eol=crlf\n")
	put(t, dir, ".gitconfig", "[core]\n\tfsmonitor = touch "+ran+"\n")
	put(t, dir, "--upload-pack=touch "+filepath.Base(ran), "x\n")
	put(t, dir, "a\nb", "x\n")
	for name, to := range map[string]string{"link": outside, "up": "../..", "dotgit": ".git"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	plain(t, dir, "add", "-A")
	plain(t, dir, "update-index", "--add", "--cacheinfo", "160000,"+plain(t, dir, "rev-parse", "HEAD")+",s")
	plain(t, dir, "commit", "-qm", "Trust me")
	plain(t, dir, "push", "-q", "origin", "HEAD:main")

	r, err := Clone(ctx, Options{URL: url, Dir: filepath.Join(t.TempDir(), "w"), Branch: "main", Author: writer, Context: "3f2a"})
	if err != nil {
		t.Fatal(err)
	}
	if got := plain(t, r.Dir, "config", "--get", "agent.context") + plain(t, r.Dir, "config", "--get", "user.name"); got != "3f2aagent[bot]" {
		t.Errorf("noted %q", got)
	}
	base, err := r.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	put(t, r.Dir, "--upload-pack=touch "+filepath.Base(ran), "y\n")
	commit, changed, err := commitAll(ctx, r, "agent/1", "m", writer)
	if err != nil || len(changed) != 1 {
		t.Fatalf("%q, %v", changed, err)
	}
	if _, err := r.Push(ctx, PushSpec{Branch: "agent/1", Commit: commit, Base: base, Author: writer}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Patch(ctx, base, commit); err != nil {
		t.Error(err)
	}
	for _, name := range []string{ran, filepath.Join(r.Dir, filepath.Base(ran)), filepath.Join(r.Dir, ".git", "modules")} {
		if _, err := os.Lstat(name); err == nil {
			t.Errorf("%s is there", name)
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("outside of the tree: %v, %v", left, err)
	}
}
