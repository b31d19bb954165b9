package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agent/internal/exhaustive"
)

// other commits a file to a branch of the remote, as a person who works there too.
func other(t *testing.T, url, branch, name, text string) (commit string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "person")
	plain(t, filepath.Dir(dir), "clone", "-q", "-b", branch, url, dir)
	put(t, dir, name, text)
	plain(t, dir, "add", "-A")
	plain(t, dir, "commit", "-qm", "by a person")
	plain(t, dir, "push", "-q", "origin", "HEAD:"+branch)
	return plain(t, dir, "rev-parse", "HEAD")
}

// work is a clone of a branch with a change of its own, committed and not pushed.
func work(t *testing.T, url, branch, name, text string) (*Repo, PushSpec) {
	t.Helper()
	ctx := context.Background()
	r, err := Clone(ctx, Options{URL: url, Dir: filepath.Join(t.TempDir(), "w"), Branch: branch})
	if err != nil {
		t.Fatal(err)
	}
	base, err := r.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	put(t, r.Dir, name, text)
	commit, _, err := commitAll(ctx, r, branch, "ours", writer)
	if err != nil {
		t.Fatal(err)
	}
	return r, PushSpec{Branch: branch, Commit: commit, Base: base, Author: writer, There: true}
}

func wantError(t *testing.T, err error, kind Kind) {
	t.Helper()
	var failed *Error
	if !errors.As(err, &failed) || failed.Kind != kind || strings.ContainsAny(err.Error(), "\n\t") {
		t.Errorf("error %v, want %s in one line", err, kind)
	}
}

// TestMoved: somebody pushed to the branch meanwhile. Ours go onto theirs.
func TestMoved(t *testing.T) {
	exhaustive.Slow(t)
	ctx, url := context.Background(), remote(t)
	r, spec := work(t, url, "other", "ours", "x\n")
	theirs := other(t, url, "other", "theirs", "y\n")
	put(t, r.Dir, "untracked", "stays")
	pushed, err := r.Push(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	if got := plain(t, url, "log", "--format=%H %an %cn %s", "-2", "other"); got != pushed+" agent[bot] agent[bot] ours\n"+theirs+" ann ann by a person" {
		t.Errorf("the branch is\n%s", got)
	}
	again, err := r.Push(ctx, spec) // a process that died after the push does it again
	if err != nil || again != pushed || plain(t, url, "rev-parse", "other") != pushed {
		t.Errorf("again: %s, %v, want %s", again, err, pushed)
	}
	if head, err := r.Head(ctx); err != nil || head != spec.Commit {
		t.Errorf("the working copy went to %s, %v", head, err)
	}
	put(t, r.Dir, "ours", "x\nand more\n") // another round, on top of what went out in another form
	if spec.Commit, _, err = commitAll(ctx, r, "other", "more", writer); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Push(ctx, spec); err != nil {
		t.Fatal(err)
	}
	if got := plain(t, url, "log", "--format=%s", "other"); got != "more\nours\nby a person\nfirst" {
		t.Errorf("after another round the branch is\n%s", got)
	}
}

// TestPublishedBase: a copy that was made again goes on after what it had pushed, also
// when somebody else pushed since, at every try, and again in the next round.
func TestPublishedBase(t *testing.T) {
	exhaustive.Slow(t)
	ctx := context.Background()
	for name, touch := range map[string]func(t *testing.T, url string) string{
		"as it was": func(*testing.T, string) string { return "" },
		"a person pushed since": func(t *testing.T, url string) string {
			plain(t, strings.TrimPrefix(url, "file://"), "config", "uploadpack.allowReachableSHA1InWant", "true") // as GitHub and GitLab have it
			return other(t, url, "new", "theirs", "z\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			url := remote(t)
			first, spec := work(t, url, "other", "ours", "x\n")
			spec.Branch, spec.There = "new", false
			pushed, err := first.Push(ctx, spec)
			if err != nil {
				t.Fatal(err)
			}
			theirs := touch(t, url)
			again, err := Clone(ctx, Options{URL: url, Dir: filepath.Join(t.TempDir(), "again"), Branch: "other", Commit: spec.Base})
			if err != nil {
				t.Fatal(err)
			}
			for round, text := range []string{"x\ny\n", "x\ny\nz\n"} {
				put(t, again.Dir, "ours", text)
				tree, _, err := again.Tree(ctx, 1<<20, nil)
				if err != nil {
					t.Fatal(err)
				}
				var made string
				if round == 0 {
					silent := *again
					if silent.auth, err = newAuth(Options{URL: "http://127.0.0.1:1/silent.git", AllowHTTP: true}); err != nil {
						t.Fatal(err)
					}
					if base, err := silent.PublishedBase(ctx, spec.Base, "new", pushed); !IsTemporary(err) {
						t.Errorf("a remote that does not answer gives the base %q and %v; %q was pushed", base, err, pushed)
					}
				}
				for try := range 2 {
					base, err := again.PublishedBase(ctx, spec.Base, "new", pushed)
					if err != nil {
						t.Fatal(err)
					}
					commit, err := again.Commit(ctx, CommitSpec{Branch: "new", Base: base, Tree: tree, Message: "more", Author: writer, When: time.Unix(1_800_000_000, 0)})
					if err != nil || made != "" && commit != made {
						t.Fatalf("round %d, try %d: %s %v, want %s", round, try, commit, err, made)
					}
					made = commit
				}
				if _, err := again.Push(ctx, PushSpec{Branch: "new", Commit: made, Base: spec.Base, Author: writer}); err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
				log := plain(t, strings.TrimPrefix(url, "file://"), "log", "--format=%H %s", "new")
				got := plain(t, strings.TrimPrefix(url, "file://"), "show", "new:ours")
				if got != strings.TrimSuffix(text, "\n") || !strings.Contains(log, pushed) || !strings.Contains(log, theirs) || strings.Count(log, "more") != round+1 {
					t.Errorf("round %d: the branch has %q:\n%s", round, got, log)
				}
			}
		})
	}
}

// TestRewritten: somebody replaced the branch's commits by others.
func TestRewritten(t *testing.T) {
	ctx, url := context.Background(), remote(t)
	r, spec := work(t, url, "other", "ours", "x\n")
	dir := filepath.Join(t.TempDir(), "person")
	plain(t, filepath.Dir(dir), "clone", "-q", "-b", "other", url, dir)
	plain(t, dir, "commit", "-q", "--amend", "-m", "first, said better")
	plain(t, dir, "push", "-qf", "origin", "other")
	theirs := plain(t, dir, "rev-parse", "HEAD")
	if _, err := r.Push(ctx, spec); err != nil {
		t.Fatal(err)
	}
	if got := plain(t, url, "log", "--format=%s", "other"); got != "ours\nfirst, said better" || plain(t, url, "rev-parse", "other~1") != theirs {
		t.Errorf("the branch is\n%s", got)
	}
}

func TestConflict(t *testing.T) {
	ctx, url := context.Background(), remote(t)
	r, spec := work(t, url, "other", "README", "ours\n")
	theirs := other(t, url, "other", "README", "theirs\n")
	_, err := r.Push(ctx, spec)
	wantError(t, err, Conflict)
	if got := plain(t, url, "rev-parse", "other"); got != theirs {
		t.Errorf("the branch is at %s", got)
	}
	patch, err := r.Patch(ctx, spec.Base, spec.Commit)
	if err != nil || !strings.Contains(string(patch), "+ours\n") {
		t.Errorf("patch %q, %v", patch, err)
	}
}

// TestRefusals: a protected branch, a branch and a repository that are gone, and
// one that is not there for now.
func TestRefusals(t *testing.T) {
	ctx, url := context.Background(), remote(t)
	r, spec := work(t, url, "other", "ours", "x\n")
	plain(t, url, "branch", "-D", "other")
	_, err := r.Push(ctx, spec)
	wantError(t, err, Gone)
	plain(t, url, "branch", "other", "main")

	put(t, url, "hooks/pre-receive", "#!/bin/sh\necho 'the branch is protected'\nexit 1\n")
	_, err = r.Push(ctx, spec)
	wantError(t, err, Refused)
	if err == nil || !strings.Contains(err.Error(), "the branch is protected") {
		t.Errorf("the reason is lost: %v", err)
	}
	put(t, url, "hooks/pre-receive", "#!/bin/sh\necho 'error: GH013: Repository rule violations found.'\necho\necho '- Commits must have verified signatures.'\nexit 1\n")
	_, err = r.Push(ctx, spec)
	wantError(t, err, Refused)
	if err == nil || !strings.Contains(err.Error(), "GH013") || !strings.Contains(err.Error(), "Commits must have verified signatures.") {
		t.Errorf("the reason is lost: %v", err)
	}
	if err := os.Remove(filepath.Join(url, "hooks/pre-receive")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(url, url+".away"); err != nil {
		t.Fatal(err)
	}
	_, err = r.Push(ctx, spec)
	wantError(t, err, Gone)
	if err := os.Rename(url+".away", url); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Push(ctx, spec); err != nil {
		t.Error(err)
	}
	_, err = Clone(ctx, Options{URL: "http://127.0.0.1:1/o/r.git", Dir: filepath.Join(t.TempDir(), "w")})
	wantError(t, err, Unreachable)
}

// TestCommitsOfOthers: commits that were made in the working copy are kept apart
// and get the bot's identity, the trailer and clean messages, the same every time.
func TestCommitsOfOthers(t *testing.T) {
	ctx, url := context.Background(), remote(t)
	r := clone(t, url)
	base, err := r.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two"} {
		put(t, r.Dir, name, name+"\n")
		plain(t, r.Dir, "add", "-A")
		plain(t, r.Dir, "commit", "-qm", "Add "+name+"\n\nTrailer: 1\nasked by @ann")
	}
	plain(t, r.Dir, "commit", "-q", "--allow-empty", "-m", "nothing")
	put(t, r.Dir, "three", "3\n")
	tree, _, err := r.Tree(ctx, 1<<20, nil)
	if err != nil {
		t.Fatal(err)
	}
	spec := CommitSpec{Branch: "agent/1", Base: base, Tree: tree, Message: "The rest", Author: writer, Trailer: "Trailer: 1",
		When: time.Now(), Clean: func(s string) string { return strings.ReplaceAll(s, "@", "(at)") }}
	first, err := r.Commit(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	want := "agent[bot] <agent@example.com>: The rest|Trailer: 1\n" +
		"agent[bot] <agent@example.com>: Add two|asked by (at)ann||Trailer: 1\n" +
		"agent[bot] <agent@example.com>: Add one|asked by (at)ann||Trailer: 1"
	got := plain(t, r.Dir, "log", "--format=%an <%ae>: %s|%b", base+"..agent/1")
	if got = strings.ReplaceAll(strings.ReplaceAll(got, "\n\nT", "||T"), "\n\n", "\n"); strings.TrimSpace(got) != want {
		t.Errorf("commits are\n%s\nwant\n%s", got, want)
	}
	for range 2 {
		if again, err := r.Commit(ctx, spec); err != nil || again != first {
			t.Errorf("again %s, %v, want %s", again, err, first)
		}
	}
	plain(t, r.Dir, "checkout", "-q", "--orphan", "elsewhere")
	squashed, err := r.Commit(ctx, spec)
	if err != nil || plain(t, r.Dir, "rev-list", "--count", base+".."+squashed) != "1" || plain(t, r.Dir, "rev-parse", squashed+"^{tree}") != tree {
		t.Errorf("on another history: %s, %v", squashed, err)
	}
}

// TestNothingToCommit: no branch is made.
func TestNothingToCommit(t *testing.T) {
	ctx := context.Background()
	r := clone(t, remote(t))
	base, _ := r.Head(ctx)
	if commit, changed, err := commitAll(ctx, r, "agent/1", "m", writer); err != nil || commit != base || len(changed) != 0 {
		t.Errorf("%s, %q, %v", commit, changed, err)
	}
	if got := plain(t, r.Dir, "branch", "--list", "agent/1"); got != "" {
		t.Errorf("there is a branch %s", got)
	}
}

// TestShallow: a clone holds the latest commit only, and a reference can be begun at.
func TestShallow(t *testing.T) {
	ctx, url := context.Background(), remote(t)
	second := other(t, url, "main", "second", "x")
	third := other(t, url, "other", "third", "x")
	plain(t, url, "update-ref", "refs/pull/7/head", third)
	plain(t, url, "tag", "v1", "main")
	for _, c := range []struct {
		options Options
		head    string
	}{{Options{Branch: "main"}, second}, {Options{Ref: "refs/pull/7/head"}, third}} {
		c.options.URL, c.options.Dir = url, filepath.Join(t.TempDir(), "w")
		r, err := Clone(ctx, c.options)
		if err != nil {
			t.Fatal(err)
		}
		if head, err := r.Head(ctx); err != nil || head != c.head {
			t.Errorf("head %s, %v, want %s", head, err, c.head)
		}
		if n := plain(t, r.Dir, "rev-list", "--count", "HEAD"); n != "1" {
			t.Errorf("%s commits were cloned", n)
		}
		if refs := plain(t, r.Dir, "for-each-ref", "refs/tags", "refs/remotes/origin/other"); refs != "" {
			t.Errorf("more was cloned: %s", refs)
		}
	}
	for branch, want := range map[string]bool{"other": true, "absent": false, "-x": false} {
		if got, err := HasBranch(ctx, Options{URL: url}, branch); err != nil || got != want {
			t.Errorf("branch %q: %v, %v", branch, got, err)
		}
	}
}

// TestStrangeContent: what cannot be published is left out, and what is not
// plain text is told apart, without reading a gigabyte.
func TestStrangeContent(t *testing.T) {
	ctx := context.Background()
	r := clone(t, remote(t))
	base, err := r.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	big, err := os.Create(filepath.Join(r.Dir, "big"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(big.Truncate(1<<30), big.Close()); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "secret")
	put(t, outside, "s", "secret")
	if err := os.Symlink(outside, filepath.Join(r.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	plain(t, r.Dir, "init", "-q", "nested")
	put(t, r.Dir, "nested/f", "x")
	put(t, r.Dir, "-rf\n.txt", "a\nb\n")
	put(t, r.Dir, "binary", "a\x00b")
	put(t, r.Dir, "hidden.min", "x\n")
	put(t, r.Dir, ".gitattributes", "*.min -diff\n")
	tree, leftOut, err := r.Tree(ctx, 1<<20, nil)
	if err != nil || !slices.Equal(leftOut, []string{"big", "nested/"}) {
		t.Fatalf("left out %q, %v", leftOut, err)
	}
	got, err := r.Compare(ctx, base, tree)
	if err != nil {
		t.Fatal(err)
	}
	want := []FileChange{
		{Path: "-rf\n.txt", Added: 2, Size: 4}, {Path: ".gitattributes", Added: 1, Size: 12}, {Path: "binary", Binary: true, Size: 3},
		{Path: "hidden.min", Binary: true, Size: 2}, {Path: "link", Added: 1, Link: true, Size: int64(len(outside))},
	}
	for i := range got {
		if c := &got[i]; !hexName(c.Blob) || strings.Trim(c.Before, "0") != "" {
			t.Errorf("%s: contents %q and %q", c.Path, c.Before, c.Blob)
		}
		got[i].Blob, got[i].Before = "", ""
	}
	if !slices.Equal(got, want) {
		t.Errorf("changes are\n%+v, want\n%+v", got, want)
	}
}
