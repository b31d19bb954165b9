package forgetest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agent/forge/forgetest"
)

// gitRun runs git as a person would, without any configuration of the machine.
func gitRun(dir string, args ...string) (string, error) {
	p := exec.Command("git", args...)
	p.Dir = dir
	p.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=ann", "GIT_COMMITTER_EMAIL=ann@example.com"}
	out, err := p.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func mustGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := gitRun(dir, args...)
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

// bareRepository has one commit on main.
func bareRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	work, bare := filepath.Join(dir, "work"), filepath.Join(dir, "bare.git")
	mustGit(t, dir, "init", "-q", "-b", "main", work)
	if err := os.WriteFile(filepath.Join(work, "f"), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	mustGit(t, work, "add", "-A")
	mustGit(t, work, "commit", "-qm", "first")
	mustGit(t, dir, "clone", "-q", "--bare", work, bare)
	return bare
}

// gitForge is a forge of either kind with one repository that git is served for.
type gitForge struct {
	web    string // with a token for "%s"
	level  func(login string, write bool)
	fault  func(forgetest.Fault)
	status func() int // of the last request
}

func gitForges(t *testing.T) map[string]gitForge {
	t.Helper()
	hub, lab := forgetest.New(), forgetest.NewGitLab()
	t.Cleanup(hub.Close)
	t.Cleanup(lab.Close)
	hub.AddToken("hub-token-0123456789", "bot")
	lab.AddToken("lab-token-0123456789", "bot")
	hub.AddRepository("o/r", forgetest.Repository{Private: true, Git: bareRepository(t)})
	lab.AddProject("g/sub/p", forgetest.Project{Private: true, Git: bareRepository(t)})
	last := func(list []forgetest.Request) int { return list[len(list)-1].Status }
	return map[string]gitForge{
		"github": {"http://%s" + hub.Host() + "/o/r.git", func(login string, write bool) {
			hub.SetPermission("o/r", login, map[bool]string{true: "write", false: "read"}[write])
		}, hub.Fault, func() int { return last(hub.Requests()) }},
		"gitlab": {"http://%s" + lab.Host() + "/g/sub/p.git", func(login string, write bool) {
			lab.SetAccess("g/sub/p", login, map[bool]int{true: forgetest.Developer, false: forgetest.Reporter}[write])
		}, lab.Fault, func() int { return last(lab.Requests()) }},
	}
}

// TestGit clones from and pushes to both kinds of forge with git itself.
func TestGit(t *testing.T) {
	for name, f := range gitForges(t) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			anonymous := strings.Replace(f.web, "%s", "", 1)
			mine := strings.Replace(f.web, "%s", "any:"+map[string]string{"github": "hub", "gitlab": "lab"}[name]+"-token-0123456789@", 1)
			wrong := strings.Replace(f.web, "%s", "any:wrong@", 1)
			for _, url := range []string{anonymous, wrong} {
				if out, err := gitRun(dir, "clone", "-q", url, "no"); err == nil || f.status() != 401 {
					t.Errorf("cloned without a good token: %s, status %d", out, f.status())
				}
			}
			mustGit(t, dir, "clone", "-q", mine, "work")
			work := filepath.Join(dir, "work")
			big := make([]byte, 2<<20) // more than git sends in one piece
			for i := range big {
				big[i] = byte(i * i >> 7)
			}
			if err := os.WriteFile(filepath.Join(work, "big"), big, 0o600); err != nil {
				t.Fatal(err)
			}
			mustGit(t, work, "add", "-A")
			mustGit(t, work, "commit", "-qm", "second")
			f.level("bot", false)
			if out, err := gitRun(work, "push", "-q", "origin", "HEAD:refs/heads/topic"); err == nil || f.status() != 403 {
				t.Errorf("pushed without the right to: %s, status %d", out, f.status())
			}
			f.level("bot", true)
			f.fault(forgetest.Fault{Path: `.*\.git/git-receive-pack`, Kind: forgetest.StoreDrop})
			if out, err := gitRun(work, "push", "-q", "origin", "HEAD:refs/heads/topic"); err == nil {
				t.Errorf("an answer came through: %s", out)
			}
			if refs := mustGit(t, work, "ls-remote", "origin", "topic"); !strings.HasPrefix(refs, mustGit(t, work, "rev-parse", "HEAD")) {
				t.Errorf("it was not stored: %q", refs)
			}
			mustGit(t, work, "push", "-q", "origin", "HEAD:refs/heads/again")
		})
	}
}
