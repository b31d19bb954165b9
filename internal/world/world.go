// Package world builds everything that the agent talks to, on this machine
// alone: a fake forge with one project and one labelled issue, a scripted model,
// the project's bare git repository, and a configuration file that names them.
// The real program then runs on it as a process of its own. The demo, the crash
// sweep and the benchmarks share it; it is test machinery.
package world

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"agent/llm/llmtest"
)

const (
	// Bot is the login of the agent's account.
	Bot = "demo-bot"
	// Label starts the work on an issue.
	Label = "coding agent"

	// Token is that of Bot.
	Token = "demo-token-0123456789"
	key   = "demo-key-0123456789"
)

// Options say what a world is like. The zero value of each but Dir has a default.
type Options struct {
	Dir        string            // an existing directory for all files of the world
	Forge      string            // a name that Forges lists; default github
	Beside     string            // another such name: a second forge, with a copy of the project
	Files      map[string]string // of the project's only commit, by name
	Origin     string            // a bare repository to copy instead of making one of Files
	LocalClone bool              // clone from the directory, not over HTTP
	Model      *llmtest.Server   // closed with the world
	LLM        string            // more keys of llm.openai, such as ", context_length: 4096"
	Config     string            // more lines of the configuration
}

// World is a running one. Close ends its servers; its files stay.
type World struct {
	Dir    string
	Forge  Forge
	Beside Forge // nil if there is one forge
	Model  *llmtest.Server
}

// New starts a world and writes its config.yaml. The issue is opened by the
// caller. After an error the model is closed.
func New(o Options) (*World, error) {
	w := &World{Dir: o.Dir, Model: o.Model}
	o.Forge = cmp.Or(o.Forge, "github")
	err := w.begin(o)
	if err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

func (w *World) begin(o Options) (err error) {
	origin := w.Path("origin.git")
	if err := makeOrigin(o, origin); err != nil {
		return err
	}
	if w.Forge, err = newForge(o.Forge, origin, o.LocalClone); err != nil {
		return err
	}
	if o.Beside != "" {
		if err := os.CopyFS(w.Path("beside.git"), os.DirFS(origin)); err != nil {
			return err
		}
		if w.Beside, err = newForge(o.Beside, w.Path("beside.git"), o.LocalClone); err != nil {
			return err
		}
	}
	return os.WriteFile(w.ConfigFile(), []byte(w.config(o)), 0o600)
}

// Close ends the forges and the model.
func (w *World) Close() {
	for _, f := range []Forge{w.Forge, w.Beside} {
		if f != nil {
			f.Close()
		}
	}
	w.Model.Close()
}

// ConfigFile is the path of the configuration.
func (w *World) ConfigFile() string { return w.Path("config.yaml") }

// Path is a path in the world's directory.
func (w *World) Path(elem ...string) string {
	return filepath.Join(append([]string{w.Dir}, elem...)...)
}

func (w *World) config(o Options) string {
	sources, sections := o.Forge, w.Forge.config()
	if o.LocalClone {
		sections += fmt.Sprintf("  clone_from: [%q]\n", w.Dir)
	}
	if w.Beside != nil {
		sources, sections = sources+", "+o.Beside, w.Beside.config()+sections
	}
	return fmt.Sprintf(`contexts_dir: %[1]q
workspaces_dir: %[2]q
log: {dir: %[3]q}
llm:
  openai: {base_url: %[4]s, api_key: %[5]s, model: scripted%[6]s}
task_source: [%[7]s]
`, w.Path("contexts"), w.Path("workspaces"), w.Path("logs"), w.Model.URL(), key, o.LLM, sources) + sections + o.Config
}

func makeOrigin(o Options, origin string) error {
	if o.Origin != "" {
		return os.CopyFS(origin, os.DirFS(o.Origin))
	}
	return MakeOrigin(o.Dir, o.Files)
}

// MakeOrigin makes the bare repository dir/origin.git, with one commit of files
// on its branch main, and the working copy dir/work that it comes from.
func MakeOrigin(dir string, files map[string]string) error {
	work := filepath.Join(dir, "work")
	if err := os.MkdirAll(work, 0o700); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "-A"},
		{"-c", "user.name=someone", "-c", "user.email=someone@example.com", "commit", "-q", "-m", "First commit"},
		{"clone", "-q", "--bare", "--no-local", work, filepath.Join(dir, "origin.git")}, // packed, as a forge has it
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = work
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w\n%s", args[0], err, out)
		}
	}
	return nil
}
