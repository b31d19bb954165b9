package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"agent/forge/forgetest"
	"agent/llm/llmtest"
)

const (
	project = "owner/notes"
	token   = "token-of-the-bot-0123456789"
	bot     = "helper"

	fileCount = 10 // files of the repository that the model reads
)

// world is a forge and a model in this process, and a repository, on which the
// real program works as a process of its own.
type world struct {
	dir   string
	agent string
	forge *forgetest.Server
	model *llmtest.Server
	watch *stopwatch
	extra string // more lines of the section llm of the configuration

	pid atomic.Int64 // of the agent that runs
}

func (b *bench) newWorld(script llmtest.Script, extra string) *world {
	agent, err := b.build(agentPackage, "agent")
	must(err)
	dir, err := os.MkdirTemp(b.dir, "world-")
	must(err)
	w := &world{dir: dir, agent: agent, forge: forgetest.New(), watch: newStopwatch(), extra: extra}
	w.model = llmtest.Serve(w.watch, script)
	w.makeOrigin()
	w.forge.AddToken(token, bot)
	w.forge.AddRepository(project, forgetest.Repository{CloneURL: w.path("origin.git"), Private: true})
	w.forge.AddIssue(project, "Read the notes", "Please read the notes.", "alice", "coding agent")
	must(os.WriteFile(w.path("config.yaml"), []byte(w.config()), 0o600))
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) close() {
	w.model.Close()
	w.forge.Close()
	must(os.RemoveAll(w.dir))
}

func (w *world) config() string {
	return fmt.Sprintf(`contexts_dir: %[1]s/contexts
workspaces_dir: %[1]s/workspaces
log: {dir: %[1]s/logs}
max_llm_process_num: 1000000
llm:
  openai: {base_url: %[2]s, api_key: key-of-the-model-0123456789, model: scripted%[7]s}
github:
  api_url: %[3]s
  personal_access_token: %[4]s
  repositories: [%[5]s]
  bot_name: %[6]s
  clone_from: [%[1]s]
`, w.dir, w.model.URL(), w.forge.URL(), token, project, bot, w.extra)
}

// makeOrigin makes a repository of a few files of 1 KB.
func (w *world) makeOrigin() {
	work := w.path("work")
	must(os.Mkdir(work, 0o700))
	for i := range fileCount {
		text := strings.Repeat(fmt.Sprintf("line of the notes number %d\n", i), 40)
		must(os.WriteFile(filepath.Join(work, noteName(i)), []byte(text), 0o600))
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "-A"},
		{"-c", "user.name=someone", "-c", "user.email=someone@example.com", "commit", "-q", "-m", "Take notes"},
		{"clone", "-q", "--bare", work, w.path("origin.git")},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = work
		out, err := cmd.CombinedOutput()
		if err != nil {
			panic(fmt.Sprintf("git %s: %v\n%s", args[0], err, out))
		}
	}
}

func noteName(i int) string { return fmt.Sprintf("notes%d.txt", i%fileCount) }

// start starts `agent run`.
func (w *world) start() *exec.Cmd {
	cmd := exec.Command(w.agent, "run", "--config", w.path("config.yaml"))
	cmd.Dir = w.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir}
	cmd.Stdout, cmd.Stderr = new(bytes.Buffer), new(bytes.Buffer)
	must(cmd.Start())
	w.pid.Store(int64(cmd.Process.Pid))
	return cmd
}

// finish waits for an agent that should succeed.
func finish(cmd *exec.Cmd) error {
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("agent run: %w\n%s%s", err, cmd.Stdout, cmd.Stderr)
	}
	return nil
}

// peak is the largest resident size of the agent so far in MiB, 0 where /proc
// does not tell. Its tool servers are processes of their own.
func (w *world) peak() float64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.pid.Load()))
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kib, err := strconv.ParseFloat(fields[0], 64)
	must(err)
	return kib / 1024
}

// worked is the processor time of the agent so far in ms, to 10 ms; 0 where /proc does not tell.
func (w *world) worked() float64 {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.pid.Load()))
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, err := strconv.ParseFloat(fields[11], 64)
	must(err)
	system, err := strconv.ParseFloat(fields[12], 64)
	must(err)
	const tick = 10 // ms
	return (user + system) * tick
}

// logFile is the log of the only context.
func (w *world) logFile() string {
	found, err := filepath.Glob(w.path("contexts/*/*/events.jsonl"))
	must(err)
	if len(found) != 1 {
		panic(fmt.Sprintf("%d logs in %s", len(found), w.dir))
	}
	return found[0]
}

// readNote asks for one of the files.
func readNote(i int) llmtest.Reply {
	return llmtest.ToolCall("workspace__read_file", map[string]any{"path": noteName(i)})
}

// syncTime is what one sync of a few bytes costs here at this moment, in milliseconds.
func (w *world) syncTime() float64 {
	f, err := os.OpenFile(w.path("probe"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	must(err)
	defer f.Close()
	var times []float64
	for range 50 {
		start := time.Now()
		_, err := f.Write(payload)
		must(err)
		must(fdatasync(f))
		times = append(times, time.Since(start).Seconds()*1000)
	}
	return median(times)
}
