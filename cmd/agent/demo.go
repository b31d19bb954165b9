package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agent/internal/i18n"
	"agent/llm/llmtest"
)

func (a *cli) demoCommand() *cobra.Command {
	dir, lang, kind := "", "en", "github"
	cmd := &cobra.Command{
		Use: "demo", Short: "See the whole thing work, on this machine alone", Args: cobra.NoArgs,
		Long: `demo makes a git repository with a failing test, and starts a forge and a scripted model
on this machine. Then it runs the real agent on a labelled issue, kills it in the middle
with SIGKILL, runs it again, pauses it for a question, and shows what came of it. It
needs git and go, no network.`,
		Example: `  agent demo
  agent demo --forge gitlab
  agent demo --lang ja --dir /tmp/demo`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if lang != "en" && lang != "ja" {
				return usageError{errors.New("--lang is en or ja")}
			}
			if kind != "github" && kind != "gitlab" {
				return usageError{errors.New("--forge is github or gitlab")}
			}
			return a.demo(cmd.Context(), dir, i18n.Lang(lang), kind)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "keep everything in this directory, which must be empty or new")
	cmd.Flags().StringVar(&lang, "lang", "en", "language of the demo: en or ja")
	cmd.Flags().StringVar(&kind, "forge", "github", "where the issue is: github or gitlab")
	completeFlag(cmd, "lang", []string{"en", "ja"})
	completeFlag(cmd, "forge", []string{"github", "gitlab"})
	return cmd
}

// demo is the state of one demonstration.
type demo struct {
	*cli
	dir    string
	lang   i18n.Lang
	forge  demoForge
	model  *llmtest.Server
	script *demoModel
	self   string
	first  string // uuid of the first go
}

func (a *cli) demo(ctx context.Context, dir string, lang i18n.Lang, kind string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, remove, err := demoDir(dir)
	if err != nil {
		return err
	}
	defer remove()
	d := &demo{cli: a, dir: dir, lang: lang, self: self, forge: newDemoForge(kind, filepath.Join(dir, "origin.git"))}
	defer d.forge.close()
	d.script = &demoModel{lang: lang, reach: make(chan struct{}), pause: func() { _ = d.agent(ctx, "pause", "--all").Run() }}
	d.model = llmtest.New(d.script.reply)
	defer d.model.Close()
	return d.play(ctx)
}

func demoDir(dir string) (string, func(), error) {
	if dir == "" {
		temp, err := os.MkdirTemp("", "agent-demo-")
		return temp, func() { _ = os.RemoveAll(temp) }, err
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", nil, err
	}
	if entries, err := os.ReadDir(abs); err == nil && len(entries) > 0 {
		return "", nil, usageError{fmt.Errorf("%s is not empty", abs)}
	}
	return abs, func() {}, os.MkdirAll(abs, 0o700)
}

func (d *demo) play(ctx context.Context) error {
	d.say("demo.intro")
	for _, step := range []func(context.Context) error{d.prepare, d.openIssue, d.runAndKill, d.runAndPause,
		d.resume, d.outcome, d.checkBranch, d.secondGo, d.look, d.request} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if !strings.HasPrefix(d.dir, os.TempDir()+"/agent-demo-") {
		d.say("demo.kept", d.dir)
	}
	return nil
}

func (d *demo) say(id i18n.ID, args ...any) { fmt.Fprintln(d.out, i18n.Text(d.lang, id, args...)) }

func (d *demo) head(id i18n.ID) { fmt.Fprintln(d.out); d.say(id) }

// prepare makes the repository, the forge's side of it, and the configuration.
func (d *demo) prepare(ctx context.Context) error {
	work, origin := filepath.Join(d.dir, "work"), filepath.Join(d.dir, "origin.git")
	if err := os.MkdirAll(work, 0o700); err != nil {
		return err
	}
	for name, text := range demoFiles {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "-A"},
		{"-c", "user.name=demo", "-c", "user.email=demo@example.com", "commit", "-q", "-m", "A sum with a bug"},
		{"clone", "-q", "--bare", work, origin},
	} {
		if err := d.command(ctx, work, "git", args...).Run(); err != nil {
			return fmt.Errorf("git %s: %w", args[0], err)
		}
	}
	return os.WriteFile(filepath.Join(d.dir, "config.yaml"), []byte(d.configText()), 0o600)
}

func (d *demo) configText() string {
	return fmt.Sprintf(`contexts_dir: %[1]q
workspaces_dir: %[2]q
log: {dir: %[3]q}
llm:
  openai: {base_url: %[4]s, api_key: demo-key-0123456789, model: scripted}
`, filepath.Join(d.dir, "contexts"), filepath.Join(d.dir, "workspaces"), filepath.Join(d.dir, "logs"), d.model.URL()) + d.forge.config()
}

func (d *demo) openIssue(context.Context) error {
	d.head("demo.issue")
	title, body := i18n.Text(d.lang, "demo.title"), i18n.Text(d.lang, "demo.body")
	d.forge.open(title, body)
	d.forge.say("alice", i18n.Text(d.lang, "demo.comment"))
	d.show("#1 " + title + "\n" + body)
	d.showLabels()
	return nil
}

func (d *demo) showLabels() { d.say("demo.labels", strings.Join(d.forge.labels(), ", ")) }

func (d *demo) runAndKill(ctx context.Context) error {
	d.head("demo.run")
	fmt.Fprintln(d.out, "$ agent run")
	run := d.agent(ctx, "run")
	if err := run.Start(); err != nil {
		return err
	}
	select {
	case <-d.script.reach:
	case <-time.After(time.Minute):
		_ = run.Process.Kill()
		_ = run.Wait()
		return errors.New("the agent did not get as far as the fix within a minute")
	}
	d.head("demo.kill")
	if err := run.Process.Kill(); err != nil {
		return err
	}
	_ = run.Wait() // it was killed
	d.say("demo.killed", strings.Join(d.forge.labels(), ", "))
	return nil
}

// runAndPause goes on where the killed process was, until somebody pauses it.
func (d *demo) runAndPause(ctx context.Context) error {
	d.head("demo.again")
	if err := d.run(ctx, "run"); err != nil {
		return err
	}
	d.head("demo.pause")
	d.showLabels()
	question := i18n.Text(d.lang, "demo.question")
	d.forge.say("alice", question)
	d.say("demo.by", "alice")
	d.show(question)
	return nil
}

func (d *demo) resume(ctx context.Context) error {
	d.head("demo.resume")
	if err := d.run(ctx, "resume", "--all"); err != nil {
		return err
	}
	return d.run(ctx, "run")
}

// run shows a command of the agent and what it prints.
func (d *demo) run(ctx context.Context, args ...string) error {
	fmt.Fprintln(d.out, "$ agent "+strings.Join(args, " "))
	return d.agent(ctx, args...).Run()
}

func (d *demo) outcome(context.Context) error {
	d.head("demo.outcome")
	d.showLabels()
	d.showRemarks(d.forge.remarks())
	return nil
}

func (d *demo) showRemarks(remarks []remark) {
	for _, r := range remarks {
		d.say("demo.by", r.author)
		d.show(r.body)
	}
}

// checkBranch clones what the agent pushed and runs its tests.
func (d *demo) checkBranch(ctx context.Context) error {
	d.head("demo.branch")
	check := filepath.Join(d.dir, "check")
	branch, err := d.command(ctx, d.dir, "git", "--git-dir", "origin.git", "for-each-ref", "--format=%(refname:short)", "refs/heads/agent").Output()
	if err != nil {
		return err
	}
	name := strings.TrimSpace(string(branch))
	if err := d.command(ctx, d.dir, "git", "clone", "-q", "-b", name, "origin.git", check).Run(); err != nil {
		return fmt.Errorf("clone of branch %q: %w", name, err)
	}
	return d.inCheck(ctx, "go", "test", "./...")
}

// inCheck shows a command in the clone of the branch, and what it prints.
func (d *demo) inCheck(ctx context.Context, args ...string) error {
	fmt.Fprintln(d.out, "$ "+strings.Join(args, " "))
	return d.shown(d.command(ctx, filepath.Join(d.dir, "check"), args[0], args[1:]...))
}

// request shows what the work came to: the draft, and its diff.
func (d *demo) request(ctx context.Context) error {
	d.head("demo.request")
	all := d.forge.requests()
	if len(all) != 1 {
		return fmt.Errorf("one request was expected, there are %d", len(all))
	}
	r := all[0]
	d.show(r.Title)
	d.say("demo.request.line", r.Head, r.Base, r.Draft, strings.Join(r.Reviewers, ", "))
	d.show(r.Body)
	return d.inCheck(ctx, "git", "--no-pager", "diff", "--no-color", "origin/"+r.Base, "HEAD")
}

// secondGo labels the issue again: the new context knows what the first one did.
func (d *demo) secondGo(ctx context.Context) error {
	completed, err := os.ReadDir(filepath.Join(d.dir, "contexts", "completed"))
	if err != nil || len(completed) != 1 {
		return fmt.Errorf("one completed context was expected, there are %d (%v)", len(completed), err)
	}
	d.first = completed[0].Name()[:8]
	d.head("demo.second")
	before := len(d.forge.remarks())
	d.forge.label()
	if err := d.run(ctx, "run"); err != nil {
		return err
	}
	d.showRemarks(d.forge.remarks()[before:])
	return nil
}

func (d *demo) look(ctx context.Context) error {
	d.head("demo.replay")
	if err := d.run(ctx, "replay", d.first); err != nil {
		return fmt.Errorf("agent replay: %w", err)
	}
	d.head("demo.timeline")
	return d.run(ctx, "inspect", d.first)
}

// agent is the real program as a process of its own, on the demo's configuration.
func (d *demo) agent(ctx context.Context, args ...string) *exec.Cmd {
	cmd := d.command(ctx, d.dir, d.self, append(args, "--config", filepath.Join(d.dir, "config.yaml"))...)
	cmd.Env = cleanEnv()
	cmd.Stdout = &indent{out: d.out}
	return cmd
}

// cleanEnv leaves out the variables that would override the demo's configuration.
func cleanEnv() []string {
	var env []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch {
		case strings.HasPrefix(name, "GITHUB_"), strings.HasPrefix(name, "GITLAB_"), strings.HasPrefix(name, "OPENAI_"),
			strings.HasPrefix(name, "LLM_"), strings.HasPrefix(name, "NEW_COMMENT_"), name == "TASK_SOURCE", name == "FUNCTION_CALLING",
			name == "PLANNING_ENABLED", name == "LOGS", name == "DEBUG", name == "CONFIG_FILE":
			continue
		}
		env = append(env, v)
	}
	return env
}

func (d *demo) command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Stderr = d.err
	return cmd
}

func (d *demo) shown(cmd *exec.Cmd) error {
	cmd.Stdout = &indent{out: d.out}
	return cmd.Run()
}

func (d *demo) show(text string) { fmt.Fprint(&indent{out: d.out}, strings.TrimRight(text, "\n")+"\n") }

// indent sets output off from the story around it.
type indent struct {
	out interface{ Write([]byte) (int, error) }
	mid bool
}

func (i *indent) Write(p []byte) (int, error) {
	var b bytes.Buffer
	for _, c := range p {
		if !i.mid {
			b.WriteString("    ")
		}
		b.WriteByte(c)
		i.mid = c != '\n'
	}
	_, err := i.out.Write(b.Bytes())
	return len(p), err
}
