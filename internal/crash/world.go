package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"agent/forge/forgetest"
	"agent/llm/llmtest"
)

// lab is what all points share.
type lab struct {
	dir   string
	agent string // the program
	self  string // this one
}

// world is what outlives the agent.
type world struct {
	*lab
	dir   string
	forge *forgetest.Server
	model *llmtest.Server
}

const (
	project = "owner/notes"
	token   = "token-of-the-bot-0123456789"
	bot     = "helper"
)

// makeOrigin makes the repository that every world gets a copy of.
func (l *lab) makeOrigin() error {
	work := filepath.Join(l.dir, "work")
	if err := os.MkdirAll(work, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(work, "notes.txt"), []byte("the answer is wrong\n"), 0o600); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "-A"},
		{"-c", "user.name=someone", "-c", "user.email=someone@example.com", "commit", "-q", "-m", "Take notes"},
		{"clone", "-q", "--bare", work, filepath.Join(l.dir, "origin.git")},
	} {
		if out, err := git(work, args...); err != nil {
			return fmt.Errorf("git %s: %w\n%s", args[0], err, out)
		}
	}
	return nil
}

func git(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (l *lab) newWorld() (*world, error) {
	dir, err := os.MkdirTemp(l.dir, "world-")
	if err != nil {
		return nil, err
	}
	w := &world{lab: l, dir: dir, forge: forgetest.New()}
	w.model = llmtest.New(func(_ int, r llmtest.Request) llmtest.Reply { return w.reply(r) })
	if err := os.CopyFS(filepath.Join(dir, "origin.git"), os.DirFS(filepath.Join(l.dir, "origin.git"))); err != nil {
		w.close()
		return nil, err
	}
	w.forge.AddToken(token, bot)
	w.forge.AddRepository(project, forgetest.Repository{Git: filepath.Join(dir, "origin.git"), Private: true})
	w.forge.AddIssue(project, "Correct the notes", "The answer in notes.txt is wrong.", "alice", "coding agent")
	w.forge.AddComment(project, 1, "alice", "Please keep a journal, too.")
	if err := os.Mkdir(filepath.Join(dir, "ran"), 0o700); err != nil {
		return w, err
	}
	return w, os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(w.config()), 0o600)
}

func (w *world) close() {
	w.forge.Close()
	w.model.Close()
	_ = os.RemoveAll(w.dir) // the lab goes as a whole later
}

func (w *world) config() string {
	return fmt.Sprintf(`contexts_dir: %[1]s/contexts
workspaces_dir: %[1]s/workspaces
log: {dir: %[1]s/logs}
mcp_servers:
  - mcp_server_name: workspace
    command: [agent, mcp, workspace, --root, "{workspace}"]
    sandbox_write: [%[1]s/ran]
llm:
  openai: {base_url: %[2]s, api_key: key-of-the-model-0123456789, model: scripted}
github:
  api_url: %[3]s
  personal_access_token: %[4]s
  repositories: [%[5]s]
  bot_name: %[6]s
`, w.dir, w.model.URL(), w.forge.URL(), token, project, bot)
}

// counter is the file to which the command adds a byte whenever it runs.
func (w *world) counter() string { return filepath.Join(w.dir, "ran", "counter") }

// command is what must not be done twice.
func (w *world) command() []string {
	return []string{"sh", "-c", "printf x >>" + w.counter() + "; echo began >>journal.txt"}
}
