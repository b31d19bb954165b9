package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"agent/internal/world"
	"agent/llm/llmtest"
)

// lab is what all points share.
type lab struct {
	dir   string
	agent string // the program
	self  string // this one
}

// scene is what outlives the agent: one issue with a comment, and what it is solved with.
type scene struct {
	*lab
	*world.World
}

// makeOrigin makes the repository that every scene gets a copy of.
func (l *lab) makeOrigin() error {
	return world.MakeOrigin(l.dir, map[string]string{"notes.txt": "the answer is wrong\n"})
}

func git(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (l *lab) newScene() (*scene, error) {
	dir, err := os.MkdirTemp(l.dir, "world-")
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(filepath.Join(dir, "ran"), 0o700); err != nil {
		return nil, err
	}
	s := &scene{lab: l}
	s.World, err = world.New(world.Options{
		Dir:    dir,
		Origin: filepath.Join(l.dir, "origin.git"),
		Model:  llmtest.New(func(_ int, r llmtest.Request) llmtest.Reply { return s.reply(r) }),
		Config: fmt.Sprintf(`mcp_servers:
  - mcp_server_name: workspace
    command: [agent, mcp, workspace, --root, "{workspace}"]
    sandbox_write: [%s/ran]
`, dir),
	})
	if err != nil {
		return nil, err
	}
	s.Forge.Open("Correct the notes", "The answer in notes.txt is wrong.")
	s.Forge.Comment("alice", "Please keep a journal, too.")
	return s, nil
}

func (s *scene) close() {
	s.Close()
	_ = os.RemoveAll(s.Dir) // the lab goes as a whole later
}

// counter is the file to which the command adds a byte whenever it runs.
func (s *scene) counter() string { return s.Path("ran", "counter") }

// command is what must not be done twice.
func (s *scene) command() []string {
	return []string{"sh", "-c", "printf x >>" + s.counter() + "; echo began >>journal.txt"}
}
