package git

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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

	commit, changed, err := r.CommitAll(ctx, "agent/1", "Subject\n\n#1 stays\n", writer)
	if err != nil || !slices.Equal(changed, want) {
		t.Fatalf("commit: %q, %v", changed, err)
	}
	if got := plain(t, r.Dir, "log", "-1", "--format=%H %an <%ae> %cn %s|%b"); got != commit+" agent[bot] <agent@example.com> agent[bot] Subject|#1 stays" {
		t.Errorf("log %q", got)
	}
	again, changed, err := r.CommitAll(ctx, "agent/1", "Subject", writer)
	if err != nil || again != commit || len(changed) != 0 {
		t.Errorf("again: %q, %q, %v", again, changed, err)
	}
	if paths, err := r.Changed(ctx, base); err != nil || !slices.Equal(paths, want) {
		t.Errorf("changed %q, %v", paths, err)
	}
	for range 2 {
		if err := r.Push(ctx, "agent/1"); err != nil {
			t.Fatal(err)
		}
	}
	if got := plain(t, url, "rev-parse", "agent/1"); got != commit {
		t.Errorf("pushed %q, want %q", got, commit)
	}
}

func TestSwitchKeepsChanges(t *testing.T) {
	ctx := context.Background()
	r := clone(t, remote(t))
	plain(t, r.Dir, "branch", "there")
	for _, branch := range []string{"there", "new", "there"} {
		put(t, r.Dir, "file-"+branch, "x")
		commit, _, err := r.CommitAll(ctx, branch, "m", writer)
		if err != nil {
			t.Fatal(err)
		}
		if got := plain(t, r.Dir, "rev-parse", branch); got != commit {
			t.Errorf("%s is at %s, want %s", branch, got, commit)
		}
	}
}

func TestPushNeverForces(t *testing.T) {
	ctx, url := context.Background(), remote(t)
	one, two := clone(t, url), clone(t, url)
	for i, r := range []*Repo{one, two} {
		put(t, r.Dir, "f", strings.Repeat("x", i+1))
		if _, _, err := r.CommitAll(ctx, "b", "m", writer); err != nil {
			t.Fatal(err)
		}
	}
	if err := one.Push(ctx, "b"); err != nil {
		t.Fatal(err)
	}
	before := plain(t, url, "rev-parse", "b")
	if err := two.Push(ctx, "b"); err == nil || strings.ContainsAny(err.Error(), "\n\t") {
		t.Errorf("error %v", err)
	}
	if after := plain(t, url, "rev-parse", "b"); after != before {
		t.Errorf("the branch was overwritten")
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
	commit, _, err := r.CommitAll(ctx, "b", "m", writer)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Push(ctx, "b"); err != nil || plain(t, url, "rev-parse", "b") != commit {
		t.Errorf("push: %v", err)
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
	if _, _, err := r.CommitAll(ctx, "work", "m", writer); err != nil {
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
	if _, changed, err := r.CommitAll(context.Background(), "b", "m", writer); err != nil || len(changed) != 1 {
		t.Errorf("%q, %v", changed, err)
	}
}

func TestRefused(t *testing.T) {
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
		if _, _, err := r.CommitAll(ctx, branch, "m", writer); err == nil {
			t.Errorf("commit on branch %q", branch)
		}
		if err := r.Push(ctx, branch); err == nil {
			t.Errorf("push of branch %q", branch)
		}
	}
	for _, base := range []string{"", "-x", "--output=" + dir, "absent", "a..b"} {
		if _, err := r.Changed(ctx, base); err == nil {
			t.Errorf("changed since %q", base)
		}
	}
	for _, author := range []string{"", "ann", "<a@b>", "ann <a@b> x", "ann\n<a@b>", "ann <a b>"} {
		if _, _, err := r.CommitAll(ctx, "b", "m", author); err == nil {
			t.Errorf("author %q", author)
		}
	}
	if _, err := os.Lstat(dir); err == nil {
		t.Error("something was made")
	}
}

// TestNothingRuns plants everything that makes git start programs.
func TestNothingRuns(t *testing.T) {
	ctx := context.Background()
	r := clone(t, remote(t))
	ran := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "program")
	put(t, program, "p", "#!/bin/sh\necho \"$0 $*\" >> "+ran+"\ncat\n")
	program = filepath.Join(program, "p")
	for _, hook := range []string{
		"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-checkout", "pre-push", "post-index-change",
		"reference-transaction", "fsmonitor-watchman",
	} {
		put(t, r.Dir, ".git/hooks/"+hook, "#!/bin/sh\necho hook "+hook+" >> "+ran+"\n")
	}
	included := filepath.Join(t.TempDir(), "included")
	put(t, filepath.Dir(included), "included", "[filter \"deep.er\"]\n\tclean = "+program+"\n\tsmudge = "+program+"\n")
	for key, value := range map[string]string{
		"core.fsmonitor": program, "core.hooksPath": filepath.Join(r.Dir, ".git", "hooks"), "core.sshCommand": program,
		"core.pager": program, "core.editor": program, "core.askPass": program, "credential.helper": program,
		"filter.x.clean": program, "filter.x.smudge": program, "filter.x.required": "true", "filter.y.process": program,
		"diff.x.textconv": program, "diff.x.command": program, "diff.external": program, "merge.x.driver": program,
		"gpg.program": program, "commit.gpgSign": "true", "include.path": included, "pager.status": program,
		"alias.status": "!" + program, "core.gitProxy": program,
	} {
		plain(t, r.Dir, "config", key, value)
	}
	put(t, r.Dir, ".gitattributes", "a filter=x diff=x merge=x\nb filter=y\nc filter=deep.er\n")
	for _, name := range []string{"a", "b", "c"} {
		put(t, r.Dir, name, "content\n")
	}
	if _, err := r.Status(ctx); err != nil {
		t.Error(err)
	}
	base, err := r.Head(ctx)
	if err != nil {
		t.Error(err)
	}
	if _, _, err := r.CommitAll(ctx, "b1", "m", writer); err != nil {
		t.Error(err)
	}
	if _, err := r.Changed(ctx, base); err != nil {
		t.Error(err)
	}
	if err := r.Push(ctx, "b1"); err != nil {
		t.Error(err)
	}
	if _, _, err := r.CommitAll(ctx, "main", "m", writer); err != nil {
		t.Error(err)
	}
	if what, err := os.ReadFile(ran); err == nil {
		t.Errorf("programs ran: %s", what)
	}
	plain(t, r.Dir, "config", "filter.a=b.clean", program)
	if _, err := r.Status(ctx); err == nil {
		t.Error("a key that cannot be overridden was accepted")
	}
}

// TestWorktreeSetting: core.worktree and core.bare do not lead to another directory.
func TestWorktreeSetting(t *testing.T) {
	r := clone(t, remote(t))
	elsewhere := t.TempDir()
	put(t, elsewhere, "private", "x")
	plain(t, r.Dir, "config", "core.worktree", elsewhere)
	put(t, r.Dir, "f", "x")
	if _, changed, err := r.CommitAll(context.Background(), "b", "m", writer); err != nil || !slices.Equal(changed, []string{"f"}) {
		t.Errorf("%q, %v", changed, err)
	}
}

// gitServer serves bare repositories below root over HTTP and wants the token.
func gitServer(t *testing.T, root string) (server *httptest.Server, arguments func() string) {
	t.Helper()
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:"+secret))
	var mu sync.Mutex
	var seen strings.Builder
	backend := strings.TrimSpace(plain(t, root, "--exec-path")) + "/git-http-backend"
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen.WriteString(commandLines())
		mu.Unlock()
		if r.Header.Get("Authorization") != want {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "token "+r.Header.Get("Authorization"), http.StatusUnauthorized)
			return
		}
		serveBackend(w, r, backend, root)
	}))
	t.Cleanup(server.Close)
	return server, func() string {
		mu.Lock()
		defer mu.Unlock()
		return seen.String()
	}
}

func TestToken(t *testing.T) {
	ctx, bare := context.Background(), remote(t)
	plain(t, bare, "config", "http.receivepack", "true")
	server, arguments := gitServer(t, filepath.Dir(bare))
	url := server.URL + "/remote.git"
	dir := filepath.Join(t.TempDir(), "work")
	if _, err := Clone(ctx, Options{URL: url, Dir: dir}); err == nil {
		t.Fatal("cloned without a token")
	}
	wrong := "glpat-wrong-wrong-wrong"
	if _, err := Clone(ctx, Options{URL: url, Dir: dir, Token: wrong}); err == nil || strings.Contains(err.Error(), wrong) {
		t.Errorf("wrong token: %v", err)
	}
	r, err := Clone(ctx, Options{URL: url, Dir: dir, Token: secret})
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, "f", "x")
	commit, _, err := r.CommitAll(ctx, "b", "m", writer)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Push(ctx, "b"); err != nil {
		t.Fatal(err)
	}
	if got := plain(t, bare, "rev-parse", "b"); got != commit {
		t.Errorf("pushed %s, want %s", got, commit)
	}
	for _, text := range []string{secret, r.auth.basic()} {
		if strings.Contains(arguments(), text) {
			t.Error("the token was in a process's arguments")
		}
		out, err := exec.Command("grep", "-raF", "--", text, dir).CombinedOutput()
		if err == nil {
			t.Errorf("the token is in the working copy: %s", out)
		}
	}
	if !strings.Contains(arguments(), "clone") {
		t.Error("the arguments were not seen")
	}

	plain(t, dir, "config", "http.proxy", "http://127.0.0.1:1")
	if err := r.Push(ctx, "b"); err == nil || !strings.Contains(err.Error(), "http.proxy") {
		t.Errorf("changed configuration: %v", err)
	}
}

// TestTokenStaysOnHost sends git to another host by redirect and by changed remote.
func TestTokenStaysOnHost(t *testing.T) {
	var mu sync.Mutex
	var got []string
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, r.Header.Get("Authorization"))
	}))
	defer thief.Close()
	door := httptest.NewServer(http.RedirectHandler(thief.URL+"/x.git/info/refs", http.StatusFound))
	defer door.Close()
	if _, err := Clone(context.Background(), Options{URL: door.URL + "/x.git", Dir: filepath.Join(t.TempDir(), "w"), Token: secret}); err == nil {
		t.Error("the redirect was followed")
	}
	if len(got) != 0 {
		t.Error("the redirect was followed")
	}
	r := clone(t, remote(t))
	auth, err := newAuth(Options{URL: door.URL + "/x.git", Token: secret})
	if err != nil {
		t.Fatal(err)
	}
	r.auth = auth
	plain(t, r.Dir, "remote", "set-url", "origin", thief.URL+"/x.git")
	if err := r.Push(context.Background(), "main"); err == nil {
		t.Error("pushed")
	}
	for _, header := range got {
		if header != "" {
			t.Errorf("the other host got %q", header)
		}
	}
}

// TestCancelKillsGroup: git and its helper are gone when the call returns.
func TestCancelKillsGroup(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	stuck := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	defer stuck.Close()
	_, err := Clone(ctx, Options{URL: stuck.URL + "/unique-name.git", Dir: filepath.Join(t.TempDir(), "w")})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if strings.Contains(commandLines(), "unique-name") {
		t.Error("a process of git is still there")
	}
}
