package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"agent/contexts"
	"agent/forge/forgetest"
	"agent/internal/app/rounds"
	"agent/internal/report"
	"agent/internal/viewer"
	"agent/llm"
	"agent/llm/llmtest"
)

// jsonOf runs a command that prints JSON.
func jsonOf[T any](w *world, code int, args ...string) (v T) {
	w.t.Helper()
	out, _ := w.agent(code, append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		w.t.Fatalf("%v in\n%s", err, out)
	}
	return v
}

// linesOf gives what a command prints with --json: one object a line.
func linesOf[T any](w *world, code int, args ...string) (all []T) {
	w.t.Helper()
	out, _ := w.agent(code, append(args, "--json")...)
	for line := range strings.Lines(out) {
		var v T
		if err := json.Unmarshal([]byte(line), &v); err != nil || line[0] != '{' {
			w.t.Fatalf("%v in\n%s", err, out)
		}
		all = append(all, v)
	}
	return all
}

// priced is a world whose model says what it counted, and has a price.
func priced(t *testing.T) *world {
	usage := &llm.Usage{Prompt: 1000, Cached: 600, Completion: 100}
	done := llmtest.Done("I wrote hello.txt.")
	call := write("hello.txt", "hello\n")
	done.Usage, call.Usage = usage, usage
	w := newWorld(t, llmtest.Turns(call, done))
	w.llm = "\n  prices: {scripted: {input: 10, cached: 10, output: 100}}"
	return w
}

func TestReportsOnADoneTask(t *testing.T) {
	t.Parallel()
	w := priced(t)
	w.forge.AddComment(testRepo, 1, "alice", "Please be brief.")
	w.forge.AddBot("linter")
	w.forge.AddComment(testRepo, 1, "linter", "0 problems")
	run, _ := w.agent(0, "run")
	l := w.only()

	used := w.fold(l.UUID).Usage
	inspected, _ := w.agent(0, "inspect", l.UUID)
	wantAll(t, strings.ToLower(w.wantComment(1, "✅ **Done**")), fmt.Sprintf("model calls: %d ·", l.LLMCalls)) // written before the summary
	wantAll(t, run, fmt.Sprintf("model calls: %d (summaries: 1), ", l.LLMCalls+1))
	wantAll(t, inspected, fmt.Sprintf("model calls: %d (summaries: 1)", l.LLMCalls+1), " USD", "tokens, 0.0")
	if used.Tokens() < 2200 || used.CostUSD < 0.0399 {
		t.Fatalf("used %+v", used)
	}
	s := jsonOf[report.Status](w, 0, "status", "--check")
	if !s.Healthy || s.Counts["completed"] != 1 || s.Today.Tokens != used.Tokens() || len(s.Forges) != 1 || s.Forges[0].Found != 1 || s.Round.IsZero() {
		t.Errorf("status %+v", s)
	}
	if math.Abs(s.Today.CostUSD-used.CostUSD) > 1e-9 {
		t.Errorf("%v USD today, want %v", s.Today.CostUSD, used.CostUSD)
	}
	if out, _ := w.agent(0, "status"); !strings.Contains(out, "1 completed") || !strings.Contains(out, fmt.Sprintf("%d tokens", used.Tokens())) {
		t.Errorf("status prints\n%s", out)
	}

	why := jsonOf[report.Why](w, 0, "why", "https://"+l.TaskKey)
	if why.Seen == nil || why.Seen.Outcome != contexts.Taken || why.Seen.UUID != l.UUID || len(why.Contexts) != 1 {
		t.Fatalf("why %+v", why)
	}
	c := why.Contexts[0]
	if c.State != "completed" || c.Trigger != "label" || c.Reason != "done" || len(c.Ignored) != 1 || c.Ignored[0].Verdict != "bot" || c.Ignored[0].Author != "linter" {
		t.Errorf("why %+v", c)
	}
	out, _ := w.agent(0, "why", l.UUID[:8])
	for _, words := range []string{"the item had the label", "completed at", "@linter", "exclude_bot_comments"} {
		if !strings.Contains(out, words) {
			t.Errorf("why does not say %q:\n%s", words, out)
		}
	}
	w.wantStats(l)
}

func (w *world) wantStats(l report.Listed) {
	w.t.Helper()
	used := w.fold(l.UUID).Usage
	for by, key := range map[string]string{"repo": w.forge.Host() + "/" + testRepo, "model": "scripted", "day": contexts.Day(l.CreatedAt), "task": l.TaskKey, "context": l.UUID} {
		s := jsonOf[report.Stats](w, 0, "stats", "--by", by)
		want := report.StatsRow{Key: key, Runs: 1, Completed: 1, Calls: used.LLMCalls, Begun: used.LLMBegun, Tools: used.ToolCalls, Prompt: used.Prompt, Cached: 1200, Completion: used.Completion}
		if by == "task" || by == "context" {
			want.Title = l.Title
		}
		if len(s.Rows) != 1 {
			w.t.Fatalf("stats by %s: %+v", by, s)
		}
		got := s.Rows[0]
		if math.Abs(got.Active-used.Active.Seconds()) > 1e-6 || math.Abs(got.CostUSD-used.CostUSD) > 1e-9 {
			w.t.Errorf("stats by %s: %+v, want %+v", by, got, used)
		}
		got.Active, got.CostUSD = 0, 0
		if got != want {
			w.t.Errorf("stats by %s: %+v, want %+v", by, got, want)
		}
	}
	tomorrow := time.Now().Add(48 * time.Hour).UTC().Format(time.DateOnly)
	if s := jsonOf[report.Stats](w, 0, "stats", "--since", tomorrow); len(s.Rows) != 0 || s.Total.Calls != 0 {
		w.t.Errorf("stats of the future: %+v", s)
	}
	out, _ := w.agent(0, "stats")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); len(lines) != 3 || !strings.Contains(lines[1], "████") || !strings.HasPrefix(lines[2], "total") || !strings.Contains(lines[2], fmt.Sprintf(" %d %% ", 1200*100/used.Prompt)) {
		w.t.Errorf("stats prints\n%s", out)
	}
	out, _ = w.agent(0, "stats", "--by", "context")
	wantAll(w.t, out, l.UUID[:8]+"  "+l.Title, "0.04")
	w.wantCosts(l)
	w.agent(2, "stats", "--since", "yesterday")
	w.agent(2, "stats", "--by", "mood")
}

// wantCosts wants a line for each model call, sums that agree with the fold of the whole
// log, and a total that is the one of the header.
func (w *world) wantCosts(l report.Listed) {
	w.t.Helper()
	used, sum, total := w.fold(l.UUID).Usage, viewer.Spent{}, viewer.Sum{}
	for _, line := range linesOf[json.RawMessage](w, 0, "inspect", l.UUID, "--costs") {
		var call viewer.Call
		must(w.t, json.Unmarshal(line, &call))
		if call.Kind == "call" {
			sum.Calls, sum.Prompt, sum.Completion, sum.CostUSD = sum.Calls+1, sum.Prompt+call.Prompt, sum.Completion+call.Completion, sum.CostUSD+call.CostUSD
		}
		must(w.t, json.Unmarshal(line, &total))
	}
	got := []any{sum.Calls, sum.Prompt, sum.Completion, total.Kind, total.Calls, total.Prompt, total.Completion}
	want := []any{used.LLMBegun, used.Prompt, used.Completion, "total", used.LLMBegun, used.Prompt, used.Completion}
	if !reflect.DeepEqual(got, want) || math.Abs(total.CostUSD-used.CostUSD) > 1e-9 || math.Abs(sum.CostUSD-used.CostUSD) > 1e-9 {
		w.t.Errorf("costs %v, want %v", got, want)
	}
	out, _ := w.agent(0, "inspect", l.UUID, "--costs")
	wantAll(w.t, out, fmt.Sprintf("model calls: %d", used.LLMBegun), " write_file\n", "work ", "summary ", "total ", "0.04", fmt.Sprintf(" %d\n", used.Tokens()))
	w.agent(2, "inspect", l.UUID, "--costs", "--conversation")
}

// wantAll wants all words in a text.
func wantAll(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("%q is missing in\n%s", word, text)
		}
	}
}

func TestWhyOfWhatWasLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	w.agent(1, "why", w.forge.Host()+"/"+testRepo+"/issues/1") // no round yet
	w.forge.CloseIssue(testRepo, 1)
	url := "http://" + w.forge.Host() + "/" + testRepo + "/issues/1"
	w.agent(0, "run", url)
	why := jsonOf[report.Why](w, 0, "why", url)
	if why.Seen == nil || why.Seen.Outcome != contexts.Skipped || why.Seen.Reason != "it is closed" || len(why.Contexts) != 0 {
		t.Errorf("why %+v", why)
	}
	w.agent(2, "why", "ffff0000")
}

func TestReportsOnAPausedTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t, llmtest.Always(llmtest.Error(401, "invalid_api_key", "Incorrect API key provided")))
	if out, _ := w.agent(78, "run"); !strings.Contains(out, "refused the API key") || !strings.Contains(out, "Incorrect API key provided") {
		t.Errorf("run does not say why it paused:\n%s", out)
	}
	if out, _ := w.agent(0, "run"); !strings.Contains(out, "nothing to do; 1 paused") { // looks, and leaves it
		t.Errorf("run says\n%s", out)
	}
	l := w.only()
	for _, command := range [][]string{{"status"}, {"why", l.UUID}, {"run", "--dry-run"}} {
		if out, _ := w.agent(0, command...); !strings.Contains(out, "Incorrect API key provided") || strings.Contains(out, "model_auth") {
			t.Errorf("%v says\n%s", command, out)
		}
	}
	if out, _ := w.agent(1, "status", "--check"); !strings.Contains(out, "the model server refuses (key, account or model): 1") {
		t.Errorf("status --check says\n%s", out)
	}
	why := jsonOf[report.Why](w, 0, "why", l.UUID)
	c := why.Contexts[0]
	if c.State != "paused" || c.Reason != "model_auth" || c.Until != "person" || c.Failure == nil || c.Failure.Type != "llm.failed" || why.Polls != 1 {
		t.Errorf("why %+v %+v", why, c)
	}
	if why.Seen == nil || why.Seen.Outcome != contexts.Waiting || !strings.Contains(why.Seen.Reason, "refused the API key") {
		t.Errorf("seen %+v", why.Seen)
	}
	s := jsonOf[report.Status](w, 0, "status")
	if len(s.Waiting) != 1 || s.Waiting[0].Until != "person" || s.Waiting[0].Reason != "model_auth" || s.Counts["paused"] != 1 {
		t.Errorf("status %+v", s)
	}
	w.wantDry(0, "wait", "refused the API key")
	w.agent(0, "resume", l.UUID)
	w.wantDry(0, "resume", "command")
	if out, _ := w.agent(0, "status"); !strings.Contains(out, "resume requested") {
		t.Errorf("status says\n%s", out)
	}
	w.agent(0, "status", "--check") // nobody has to do anything
	w.agent(0, "stop", l.UUID)
	w.wantDry(0, "stop", "a stop was requested")
	w.agent(0, "run") // a stop is no matter of configuration
	if s := w.only().State; s != "stopped" {
		t.Errorf("%s, want stopped", s)
	}
}

// wantDry wants one line of a dry run, which changes nothing anywhere.
func (w *world) wantDry(code int, action, reason string, args ...string) rounds.DryLine {
	w.t.Helper()
	before, asked := w.snapshot(), len(w.forge.Requests())
	lines := linesOf[rounds.DryLine](w, code, append([]string{"run", "--dry-run"}, args...)...)
	if len(lines) != 1 || lines[0].Action != action || !strings.Contains(lines[0].Reason, reason) {
		w.t.Errorf("a dry run says %+v, want one %s because of %q", lines, action, reason)
	}
	if after := w.snapshot(); after != before {
		w.t.Errorf("a dry run changed files:\n%s\nwas\n%s", after, before)
	}
	for _, r := range w.forge.Requests()[asked:] {
		if r.Method != "GET" {
			w.t.Errorf("a dry run wrote: %s %s", r.Method, r.Path)
		}
	}
	if len(lines) == 0 {
		return rounds.DryLine{}
	}
	return lines[0]
}

// snapshot lists all files with their sizes and times.
func (w *world) snapshot() string {
	var b strings.Builder
	must(w.t, filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == "config.yaml" { // written by every start of a test
			return err
		}
		info, err := d.Info()
		if err == nil && !d.IsDir() {
			b.WriteString(path + " " + info.ModTime().String() + "\n")
		} else if err == nil {
			b.WriteString(path + "\n")
		}
		return err
	}))
	return b.String()
}

func TestDryRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	line := w.wantDry(0, "begin", "label")
	if line.TaskKey != w.forge.Host()+"/"+testRepo+"/issues/1" || line.Title != "Greet the world" {
		t.Errorf("got %+v", line)
	}
	if out, _ := w.agent(0, "run", "--dry-run"); !strings.Contains(out, "would start") {
		t.Errorf("printed\n%s", out)
	}
	if n := len(w.model.Requests()); n != 0 {
		t.Errorf("the model was asked %d times", n)
	}
	must(t, os.Mkdir(w.path("contexts"), 0o700))
	must(t, os.WriteFile(w.path("contexts", "pause_signal"), nil, 0o600))
	w.wantDry(0, "wait", "pause signal")
	must(t, os.Remove(w.path("contexts", "pause_signal")))
	w.forge.RemoveLabels(testRepo, 1, botLabel)
	url := w.forge.Host() + "/" + testRepo + "/issues/1"
	w.wantDry(0, "begin", "command", url)
	w.forge.CloseIssue(testRepo, 1)
	w.wantDry(0, "skip", "closed", url)
	if out, _ := w.agent(0, "run", "--dry-run"); !strings.Contains(out, "nothing to do") {
		t.Errorf("printed\n%s", out)
	}
	w.forge.Fault(forgetest.Fault{Path: "/repos/.*", Times: -1, Kind: forgetest.Store502HTML})
	w.wantDry(75, "fail", "502")
}

func TestStatusCheck(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	if out, _ := w.agent(1, "status", "--check"); strings.Count(out, "\n") != 1 || !strings.Contains(out, "never scanned") {
		t.Errorf("before the first round:\n%s", out)
	}
	w.forge.Fault(forgetest.Fault{Path: "/repos/.*/issues", Times: 1, Kind: forgetest.Unauthorized})
	w.agent(78, "run")
	s := jsonOf[report.Status](w, 1, "status", "--check")
	if s.Healthy || !strings.Contains(s.Forges[0].Error, "401") || !s.Forges[0].Success.IsZero() {
		t.Errorf("after a scan that failed: %+v", s)
	}
	w.agent(0, "run")
	if out, _ := w.agent(0, "status", "--check"); !strings.HasPrefix(out, "ok: ") {
		t.Errorf("after a good scan:\n%s", out)
	}
	w.ageScan(6*time.Minute, 30)
	if out, _ := w.agent(1, "status", "--check"); !strings.Contains(out, "successfully for 6m") {
		t.Errorf("after six minutes of a loop:\n%s", out)
	}
	w.agent(0, "status", "--check", "--max-age", "10m")
	w.ageScan(0, 300, 300, 40_000, 300) // cron, and a night without power
	w.agent(0, "status", "--check")
	w.ageScan(10*time.Minute, 300)
	w.agent(1, "status", "--check")
	w.extra = "loop: {interval_seconds: 400}"
	w.agent(0, "status", "--check")
	w.damage(w.only().UUID)
	if out, _ := w.agent(65, "status", "--check"); !strings.Contains(out, "damaged contexts: 1") {
		t.Errorf("with a damaged context:\n%s", out)
	}
}

// TestStatusOfAForgeThatLeft names tasks that no run works on.
func TestStatusOfAForgeThatLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t, llmtest.Always(llmtest.Error(401, "invalid_api_key", "Incorrect API key provided")))
	w.agent(78, "run")
	host, _, _ := strings.Cut(w.only().TaskKey, "/")
	w.site = "task_source: gitlab\ngitlab:\n  api_url: http://127.0.0.1:9/api/v4\n  personal_access_token: another-0123456789\n  projects: [a/b]"
	if out, _ := w.agent(1, "status", "--check"); !strings.Contains(out, "tasks on "+host+" that no run works on") {
		t.Errorf("status --check says\n%s", out)
	}
}

// ageScan lets time pass since the latest scan, after scans at some distances in seconds.
func (w *world) ageScan(d time.Duration, gaps ...int64) {
	w.t.Helper()
	scan, err := w.store().Scan()
	must(w.t, err)
	for host, h := range scan.Hosts {
		h.Time, h.Success, h.Gaps = h.Time.Add(-d), h.Success.Add(-d), gaps
		scan.Hosts[host] = h
	}
	data, err := json.Marshal(scan)
	must(w.t, err)
	must(w.t, os.WriteFile(w.path("contexts", "scan.json"), data, 0o600))
}

// damage flips a bit in the middle of a log.
func (w *world) damage(uuid string) {
	w.t.Helper()
	file := w.path("contexts", "completed", uuid, "events.jsonl")
	data, err := os.ReadFile(file)
	must(w.t, err)
	data[len(data)/2] ^= 1
	must(w.t, os.WriteFile(file, data, 0o600))
}
