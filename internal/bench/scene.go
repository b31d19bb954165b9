package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"agent/internal/world"
	"agent/llm/llmtest"
)

const fileCount = 10 // files of the repository that the model reads

// scene is a forge and a model in this process, and a repository, on which the
// real program works as a process of its own.
type scene struct {
	*world.World
	agent string
	watch *stopwatch

	pid atomic.Int64 // of the agent that runs
}

// newScene has more keys of llm.openai in extra.
func (b *bench) newScene(script llmtest.Script, extra string, mode ...llmtest.Mode) *scene {
	agent, err := b.build(agentPackage, "agent")
	must(err)
	dir, err := os.MkdirTemp(b.dir, "world-")
	must(err)
	s := &scene{agent: cmp.Or(b.timed, agent), watch: newStopwatch()}
	s.World, err = world.New(world.Options{Dir: dir, Files: notes(), LocalClone: true, LLM: extra, Config: "max_llm_process_num: 1000000\n",
		Model: llmtest.Serve(s.watch, script, mode...)})
	must(err)
	s.Forge.Open("Read the notes", "Please read the notes.")
	return s
}

func (w *scene) close() {
	w.Close()
	must(os.RemoveAll(w.Dir))
}

const longFile = 40_000 // bytes

// notes are a few files of 1 KB, and a long one.
func notes() map[string]string {
	files := map[string]string{"long.txt": strings.Repeat("a line of the long file\n", longFile/24)}
	for i := range fileCount {
		files[noteName(i)] = strings.Repeat(fmt.Sprintf("line of the notes number %d\n", i), 40)
	}
	return files
}

func noteName(i int) string { return fmt.Sprintf("notes%d.txt", i%fileCount) }

// start starts `agent run`.
func (w *scene) start() *exec.Cmd {
	cmd := exec.Command(w.agent, "run", "--config", w.ConfigFile())
	cmd.Dir = w.Dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.Dir, "AGENT_SYNC_TIMES=" + w.Path(syncTimes)}
	must(os.WriteFile(w.Path(syncTimes), nil, 0o600))
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
func (w *scene) peak() float64 {
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
func (w *scene) worked() float64 {
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
func (w *scene) logFile() string {
	found, err := filepath.Glob(w.Path("contexts/*/*/events.jsonl"))
	must(err)
	if len(found) != 1 {
		panic(fmt.Sprintf("%d logs in %s", len(found), w.Dir))
	}
	return found[0]
}

// readNote asks for one of the files.
func readNote(i int) llmtest.Reply {
	return llmtest.ToolCall("workspace__read_file", map[string]any{"path": noteName(i)})
}

const syncTimes = "synctimes" // of a build that notes them

// ownSync is what a sync of the agent took, the median in milliseconds.
func (w *scene) ownSync() float64 {
	text, err := os.ReadFile(w.Path(syncTimes))
	must(err)
	var times []float64
	for _, line := range strings.Fields(string(text)) {
		ns, err := strconv.ParseFloat(line, 64)
		must(err)
		times = append(times, ns/1e6)
	}
	if times == nil {
		return 0
	}
	return median(times)
}

// syncTime is what one sync of a few bytes costs here at this moment, in milliseconds.
func (w *scene) syncTime() float64 {
	f, err := os.OpenFile(w.Path("probe"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
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
