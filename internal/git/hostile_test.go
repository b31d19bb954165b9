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
