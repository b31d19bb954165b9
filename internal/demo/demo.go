// Package demo shows the program at work on this machine alone. It starts a fake
// forge and a scripted model, opens an issue about a failing test, and runs the
// real program on it as a process of its own: killed with SIGKILL, started again,
// paused for a question, resumed, and asked for a second attempt. Every step is
// printed, with what the program and git say. It needs git and go, no network.
package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agent/internal/i18n"
	"agent/internal/sandbox"
	"agent/internal/world"
	"agent/llm/llmtest"
)

// Options of a demo.
type Options struct {
	Program  string // path of the agent
	Dir      string // where everything is kept; empty: a temporary directory, removed at the end
	Forge    string // one of Forges
	Lang     i18n.Lang
	Out, Err io.Writer
}

// ErrNotEmpty is the error for a directory that has something in it.
var ErrNotEmpty = errors.New("the directory is not empty")

// demo is the state of one demonstration.
type demo struct {
	Options
	world  *world.World
	script *model
	first  string // first digits of the uuid of the first attempt's context
}

// Result is what a demo made, as `demo --json` prints it.
type Result struct {
	Dir      string   `json:"dir,omitempty"` // if it is kept
	Contexts []string `json:"contexts"`      // the first attempt, and the second
	Branch   string   `json:"branch"`        // of the draft request
}

// Run plays the demo to its end.
func Run(ctx context.Context, o Options) (Result, error) {
	dir, remove, err := directory(o.Dir)
	if err != nil {
		return Result{}, err
	}
	defer remove()
	d := &demo{Options: o}
	d.script = &model{lang: o.Lang, reach: make(chan struct{}), pause: func() { _ = d.agent(ctx, "pause", "--all").Run() }}
	d.world, err = world.New(world.Options{Dir: dir, Forge: o.Forge, Files: files, Model: llmtest.New(d.script.reply), Config: d.server()})
	if err != nil {
		return Result{}, err
	}
	defer d.world.Close()
	if err := d.play(ctx); err != nil {
		return Result{}, err
	}
	return d.made()
}

// made is what there is at the end.
func (d *demo) made() (r Result, err error) {
	if d.Dir != "" {
		r.Dir = d.world.Dir
	}
	for _, c := range d.world.Forge.Changes() {
		r.Branch = c.Head
	}
	completed, err := os.ReadDir(d.world.Path("contexts", "completed"))
	for _, entry := range completed {
		r.Contexts = append(r.Contexts, entry.Name())
	}
	slices.SortFunc(r.Contexts, func(a, b string) int { // the first one first
		return cmp.Compare(strings.Index(b, d.first), strings.Index(a, d.first))
	})
	return r, err
}

// server is the configuration of the tool server. The commands of the demo are its own: they
// may use what Go has compiled on this machine, and run where nothing can confine them.
func (d *demo) server() string {
	more := ""
	if cache := goCache(); cache != "" {
		more = fmt.Sprintf(", env: {GOCACHE: %q}, sandbox_write: [%q]", cache, cache)
	}
	if _, lack := (sandbox.Policy{}).Check(); lack != nil {
		d.say("demo.sandbox", lack)
		more += ", sandbox: off"
	}
	return `mcp_servers: [{mcp_server_name: workspace, command: [agent, mcp, workspace, --root, "{workspace}"]` + more + "}]\n"
}

// goCache is where Go keeps what it has compiled, "" if there is no such directory.
func goCache() string {
	dir := os.Getenv("GOCACHE")
	if user, err := os.UserCacheDir(); dir == "" && err == nil {
		dir = filepath.Join(user, "go-build")
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	return dir
}

func directory(dir string) (string, func(), error) {
	if dir == "" {
		temp, err := os.MkdirTemp("", "agent-demo-")
		return temp, func() { _ = os.RemoveAll(temp) }, err
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", nil, err
	}
	if entries, err := os.ReadDir(abs); err == nil && len(entries) > 0 {
		return "", nil, fmt.Errorf("%s: %w", abs, ErrNotEmpty)
	}
	return abs, func() {}, os.MkdirAll(abs, 0o700)
}

func (d *demo) play(ctx context.Context) error {
	d.say("demo.intro")
	for _, step := range []func(context.Context) error{d.openIssue, d.runAndKill, d.runAndPause, d.resume, d.result,
		d.checkBranch, d.secondAttempt, d.replay, d.inspect, d.request} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	d.lookAround()
	return nil
}

func (d *demo) openIssue(context.Context) error {
	d.head("demo.issue")
	title, body := d.text("demo.title"), d.text("demo.body")
	d.world.Forge.Open(title, body)
	d.world.Forge.Comment("alice", d.text("demo.comment"))
	d.show("#1 " + title + "\n" + body)
	d.showLabels()
	return nil
}

func (d *demo) runAndKill(ctx context.Context) error {
	d.head("demo.run")
	fmt.Fprintln(d.Out, "$ agent run")
	run := d.agent(ctx, "run")
	if err := run.Start(); err != nil {
		return err
	}
	if err := d.awaitFix(ctx); err != nil {
		_ = run.Process.Kill()
		_ = run.Wait()
		return err
	}
	d.head("demo.kill")
	if err := run.Process.Kill(); err != nil {
		return err
	}
	_ = run.Wait() // it was killed
	d.say("demo.killed", strings.Join(d.world.Forge.Labels(), ", "))
	return nil
}

// patience is how long a slow machine may take to compile the demo's test for the first time.
const patience = 10 * time.Minute

// awaitFix waits until the agent has run the failing test and wants to mend it, and says
// what it waits for.
func (d *demo) awaitFix(ctx context.Context) error {
	end := time.After(patience)
	tell := time.NewTicker(10 * time.Second)
	defer tell.Stop()
	for begin := time.Now(); ; {
		select {
		case <-d.script.reach:
			return nil
		case <-tell.C:
			d.say("demo.compiles", int(time.Since(begin).Seconds()))
		case <-ctx.Done():
			return ctx.Err()
		case <-end:
			return fmt.Errorf("the agent did not run the failing test within %s; agent list --config %s/config.yaml shows how far it got", patience, d.world.Dir)
		}
	}
}

// runAndPause continues where the killed process was, until somebody pauses it.
func (d *demo) runAndPause(ctx context.Context) error {
	d.head("demo.again")
	if err := d.run(ctx, "run"); err != nil {
		return err
	}
	d.head("demo.pause")
	d.showLabels()
	question := d.text("demo.question")
	d.world.Forge.Comment("alice", question)
	d.showComments([]world.Comment{{Author: "alice", Body: question}})
	return nil
}

func (d *demo) resume(ctx context.Context) error {
	d.head("demo.resume")
	if err := d.run(ctx, "resume", "--all"); err != nil {
		return err
	}
	return d.run(ctx, "run")
}

func (d *demo) result(context.Context) error {
	d.head("demo.outcome")
	d.showLabels()
	d.showComments(d.world.Forge.Comments())
	return nil
}

// checkBranch clones what the agent pushed and runs its tests.
func (d *demo) checkBranch(ctx context.Context) error {
	d.head("demo.branch")
	branch, err := d.command(ctx, "git", "--git-dir", "origin.git", "for-each-ref", "--format=%(refname:short)", "refs/heads/agent").Output()
	if err != nil {
		return err
	}
	name := strings.TrimSpace(string(branch))
	if err := d.command(ctx, "git", "clone", "-q", "-b", name, "origin.git", "check").Run(); err != nil {
		return fmt.Errorf("clone of branch %q: %w", name, err)
	}
	return d.inCheck(ctx, "go", "test", "./...")
}

// secondAttempt labels the issue again: the new context knows what the first one did.
func (d *demo) secondAttempt(ctx context.Context) error {
	completed, err := os.ReadDir(d.world.Path("contexts", "completed"))
	if err != nil || len(completed) != 1 {
		return fmt.Errorf("one completed context was expected, there are %d (%v)", len(completed), err)
	}
	d.first = completed[0].Name()[:8]
	d.head("demo.second")
	before := len(d.world.Forge.Comments())
	d.world.Forge.Label()
	if err := d.run(ctx, "run"); err != nil {
		return err
	}
	d.showComments(d.world.Forge.Comments()[before:])
	return nil
}

func (d *demo) replay(ctx context.Context) error {
	d.head("demo.replay")
	if err := d.run(ctx, "replay", d.first); err != nil {
		return fmt.Errorf("agent replay: %w", err)
	}
	return nil
}

func (d *demo) inspect(ctx context.Context) error {
	d.head("demo.timeline")
	return d.run(ctx, "inspect", d.first)
}

// request shows the draft request, and its diff.
func (d *demo) request(ctx context.Context) error {
	d.head("demo.request")
	all := d.world.Forge.Changes()
	if len(all) != 1 {
		return fmt.Errorf("one request was expected, there are %d", len(all))
	}
	r := all[0]
	d.show(r.Title)
	d.say("demo.request.line", r.Head, r.Base, r.Draft, strings.Join(r.Reviewers, ", "))
	d.show(r.Body)
	return d.inCheck(ctx, "git", "--no-pager", "diff", "--no-color", "origin/"+r.Base, "HEAD")
}

// run shows a command of the agent and what it prints.
func (d *demo) run(ctx context.Context, args ...string) error {
	fmt.Fprintln(d.Out, "$ agent "+strings.Join(args, " "))
	return d.agent(ctx, args...).Run()
}

// agent is the program on the demo's configuration.
func (d *demo) agent(ctx context.Context, args ...string) *exec.Cmd {
	cmd := d.command(ctx, d.Program, append(args, "--config", d.world.ConfigFile())...)
	cmd.Env = environment(os.Environ(), d.Lang)
	cmd.Stdout = &indent{out: d.Out}
	return cmd
}

// inCheck shows a command in the clone of the branch, and what it prints.
func (d *demo) inCheck(ctx context.Context, args ...string) error {
	fmt.Fprintln(d.Out, "$ "+strings.Join(args, " "))
	cmd := d.command(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Stdout = d.world.Path("check"), &indent{out: d.Out}
	return cmd.Run()
}

func (d *demo) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stderr = d.world.Dir, d.Err
	return cmd
}

// environment keeps of the variables those that git and go need. The others
// might override the demo's configuration.
func environment(all []string, lang i18n.Lang) []string {
	env := []string{"LANG=" + map[i18n.Lang]string{i18n.En: "C.UTF-8", i18n.Ja: "ja_JP.UTF-8"}[lang]}
	for _, v := range all {
		name, _, _ := strings.Cut(v, "=")
		switch {
		case name == "PATH", name == "HOME", name == "USER", name == "TMPDIR", name == "TERM", name == "XDG_CACHE_HOME",
			strings.HasPrefix(name, "GO") && name != "GODEBUG":
			env = append(env, v)
		}
	}
	return env
}

// Forges lists what Options.Forge may be.
func Forges() []string { return world.Forges() }
