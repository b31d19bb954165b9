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
	"time"
)

// TestNothingRuns plants everything that makes git start programs.
func TestNothingRuns(t *testing.T) {
	ctx := context.Background()
	r := clone(t, remote(t))
	ran := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "program")
	put(t, program, "p", "#!/bin/sh\necho \"$0 $*\" >> "+ran+"\ncat\n")
	program = filepath.Join(program, "p")
	plantInner(t, r.Dir, program)
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
	plain(t, r.Dir, "config", "filter.a=b.clean", program)
	put(t, r.Dir, ".gitattributes", "a filter=x diff=x merge=x\nb filter=y\nc filter=deep.er\nd filter=a=b\n")
	for _, name := range []string{"a", "b", "c", "d"} {
		put(t, r.Dir, name, "content\n")
	}
	if _, err := r.Status(ctx); err != nil {
		t.Error(err)
	}
	base, err := r.Head(ctx)
	if err != nil {
		t.Error(err)
	}
	if _, _, err := commitAll(ctx, r, "b1", "m", writer); err != nil {
		t.Error(err)
	}
	if err := push(ctx, r, "b1"); err != nil {
		t.Error(err)
	}
	other(t, r.auth.url, "main", "a", "content of a person\n") // both sides changed it: the merge driver is asked for
	put(t, r.Dir, "a", "changed\n")
	head, _, err := commitAll(ctx, r, "main", "m", writer)
	if err != nil {
		t.Error(err)
	}
	if _, err := r.Push(ctx, PushSpec{Branch: "main", Commit: head, Base: base, Author: writer}); err == nil {
		t.Error("two files of the same name went together")
	}
	if _, err := r.Patch(ctx, base, head); err != nil {
		t.Error(err)
	}
	if what, err := os.ReadFile(ran); err == nil {
		t.Errorf("programs ran: %s", what)
	}
}

// plantInner makes a committed repository in the repository, with a filter and
// a file that git has to filter to see whether it changed.
func plantInner(t *testing.T, dir, program string) {
	t.Helper()
	inner := filepath.Join(dir, "inner")
	plain(t, dir, "init", "-q", inner)
	put(t, inner, ".gitattributes", "f filter=z\n")
	put(t, inner, "f", "1\n")
	plain(t, inner, "add", "-A")
	plain(t, inner, "commit", "-qm", "m")
	plain(t, inner, "config", "filter.z.clean", program)
	plain(t, dir, "add", "inner")
	plain(t, dir, "commit", "-qnm", "m")
	if err := os.Chtimes(filepath.Join(inner, "f"), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
}

// TestWorktreeSetting: core.worktree and core.bare do not lead to another directory.
func TestWorktreeSetting(t *testing.T) {
	r := clone(t, remote(t))
	elsewhere := t.TempDir()
	put(t, elsewhere, "private", "x")
	plain(t, r.Dir, "config", "core.worktree", elsewhere)
	put(t, r.Dir, "f", "x")
	if _, changed, err := commitAll(context.Background(), r, "b", "m", writer); err != nil || !slices.Equal(changed, []string{"f"}) {
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
	commit, _, err := commitAll(ctx, r, "b", "m", writer)
	if err != nil {
		t.Fatal(err)
	}
	if err := push(ctx, r, "b"); err != nil {
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

}

// TestTokenStaysOnHost sends git to another host by redirect.
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
