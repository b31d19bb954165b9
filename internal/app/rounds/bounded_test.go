package rounds_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agent/contexts"
	"agent/eventlog"
	"agent/eventlog/event"
	"agent/forge/forgetest"
	"agent/internal/app"
	"agent/internal/app/rounds"
	"agent/internal/exhaustive"
	"agent/internal/registry"
	"agent/internal/report"
	"agent/llm"
)

// steps is a context that is done after some looks at it, as a bound of time is after some
// pieces of work. Nothing sleeps.
type steps struct {
	context.Context
	mu   sync.Mutex
	left int
}

func (s *steps) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left--; s.left < 0 {
		return context.DeadlineExceeded
	}
	return s.Context.Err()
}

// within bounds everything beside the tasks by n pieces, and tells of each bound before it begins.
func within(t *testing.T, n int, begins func()) func(context.Context, time.Duration) (context.Context, context.CancelFunc) {
	return func(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
		if d > 10*time.Second {
			t.Errorf("a look may spend %v beside its tasks", d)
		}
		begins()
		return &steps{Context: ctx, left: n}, func() {}
	}
}

// ends writes the log of a context that has ended, at a time, with a text of a size.
func ends(t *testing.T, dir, host string, number, size int, at time.Time) {
	t.Helper()
	uuid := filepath.Base(dir)
	bodies := []event.Body{&event.ContextCreated{Format: event.Format, UUID: uuid, TaskKey: fmt.Sprintf("%s/acme/widgets/issues/%d", host, number),
		Forge: host, Kind: "github_issue", User: "ann", Title: "Over", Trigger: "label"}}
	for ; size > 0; size -= 4000 {
		bodies = append(bodies, &event.MessageAdded{Role: "user", Purpose: "comments", Content: event.T(strings.Repeat("word ", 800))})
	}
	bodies = append(bodies, &event.ContextStopped{})
	var log []byte
	var head eventlog.Head
	for _, body := range bodies {
		draft, err := event.Draft(event.Event{Time: at, Body: body})
		must(t, err)
		line, err := eventlog.AppendLine(nil, head.Seq+1, head.Hash, draft)
		must(t, err)
		record, err := eventlog.Parse(line)
		must(t, err)
		head, log = eventlog.HeadOf(record), append(append(log, line...), '\n')
	}
	must(t, os.MkdirAll(dir, 0o700))
	must(t, os.WriteFile(filepath.Join(dir, eventlog.FileName), log, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "metadata.json"), []byte("{}"), 0o600)) // or else gc makes it
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// aStore is a store with contexts that are paused and others that ended, which no index knows.
// A new task ends with the first answer of the model.
type aStore struct {
	*app.App
	forge *forgetest.Server
	model *toyModel
	dir   string
}

func storeWith(t *testing.T, paused, ended, size int, days int, config string) aStore {
	t.Helper()
	s := aStore{forge: forgetest.New(), model: &toyModel{}, dir: t.TempDir()}
	t.Cleanup(s.forge.Close)
	providers := registry.Providers
	t.Cleanup(func() { registry.Providers = providers })
	registry.Providers = append(slices.Clone(providers), llm.Driver{Name: "toymodel", Title: "Toy model", URLKey: "address", URL: "http://127.0.0.1:1",
		Model: "toy", ContextLength: 16_384, New: func(llm.Options) (llm.Provider, error) { return s.model, nil }})
	s.forge.AddToken("tok-0123456789", "agent-bot")
	s.forge.AddRepository("acme/widgets", forgetest.Repository{Private: true})
	uuid := func(kind, n int) string { return fmt.Sprintf("00000000-0000-400%d-8000-%012d", kind, n) }
	for n := range paused {
		dir := filepath.Join(s.dir, "contexts", "paused", uuid(0, n))
		must(t, os.MkdirAll(dir, 0o700))
		s.forge.AddIssue("acme/widgets", "Wait", "", "ann", pausedLabel)
		must(t, os.WriteFile(filepath.Join(dir, eventlog.FileName), pausedLog(t, uuid(0, n), s.forge.Host(), n+1, size), 0o600))
		must(t, os.WriteFile(filepath.Join(dir, "metadata.json"), []byte("{}"), 0o600)) // or else gc makes it
	}
	for n := range ended {
		ends(t, filepath.Join(s.dir, "contexts", "completed", uuid(1, n)), s.forge.Host(), 100_000+n, size, time.Now().AddDate(0, 0, -days))
	}
	must(t, os.WriteFile(s.config(), fmt.Appendf(nil, "contexts_dir: %[1]s/contexts\nworkspaces_dir: %[1]s/workspaces\ncaches_dir: %[1]s/caches\nlog: {dir: %[1]s/logs}\nmcp_servers: []\n"+
		"task_source: github\ngithub: {api_url: '%[2]s', personal_access_token: tok-0123456789, bot_name: agent-bot, repositories: [acme/widgets]}\n"+
		"llm: {provider: toymodel, toymodel: {model: toy}}\n%[3]s\n", s.dir, s.forge.URL(), config), 0o600))
	return s
}

func (s aStore) config() string { return filepath.Join(s.dir, "config.yaml") }

// opened is the store as a release opens it, with a new issue on the forge.
func (s aStore) opened(t *testing.T, release string) aStore {
	t.Helper()
	s.App = openAs(t, s.config(), release)
	t.Cleanup(s.Close)
	s.forge.AddIssue("acme/widgets", "New", "", "ann", "coding agent")
	return s
}

// round does one, bounded by n pieces of each kind of work beside the tasks.
func (s aStore) round(t *testing.T, n int, begins func()) {
	t.Helper()
	print := func(line string) { t.Log(line) }
	r := rounds.New(s.App, rounds.Voice{Say: print, Note: print, Trouble: func(what string, err error) { t.Errorf("%s: %v", what, err) }})
	r.Within(within(t, n, begins))
	r.All(t.Context())
}

// noted counts the paused contexts about which there is a note that this release can use.
func (s aStore) noted() (n int) {
	entries, _ := os.ReadDir(filepath.Join(s.dir, "contexts", "paused"))
	for _, e := range entries {
		if report.Sleeping(s.Store, e.Name(), s.ProgramVersion(), s.Language()) != nil {
			n++
		}
	}
	return n
}

// indexed counts the contexts that the index knows.
func (s aStore) indexed() int {
	known := map[string]bool{}
	for _, name := range []string{"contexts.jsonl", "tail.jsonl"} {
		data, _ := os.ReadFile(filepath.Join(s.dir, "contexts", "index", name))
		for line := range strings.Lines(string(data)) {
			if uuid, found := strings.CutPrefix(line, `{"uuid":"`); found {
				known[uuid[:36]] = true
			}
		}
	}
	return len(known)
}

// bytesRead is what this process has read until now.
func bytesRead(t *testing.T) (n int64) {
	t.Helper()
	data, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Skip("nobody counts here what a process reads")
	}
	_, err = fmt.Sscanf(string(data), "rchar: %d", &n)
	must(t, err)
	return n
}

// After an update the index or the notes about paused contexts may have another format. Then
// the first round read all logs before it looked for new issues: minutes, and hours in a large store.
func TestFirstRoundAfterUpdate(t *testing.T) {
	n, size, pieces := exhaustive.Of(30, 1500), exhaustive.Of(200_000, 100_000), 5
	s := storeWith(t, n, n, size, 1, "").opened(t, "old")
	s.round(t, 2*n, func() {}) // keeps notes, and completes the index
	must(t, os.RemoveAll(filepath.Join(s.dir, "contexts", "index")))
	s.Close()
	s = s.opened(t, "new")
	s.model.calls = 0
	before, first := bytesRead(t), 0
	s.round(t, pieces, func() {
		if first++; first == 2 && s.noted() > 0 { // the first bound is for tasks that the model refuses; the list of issues is read now
			t.Errorf("logs of %d paused contexts were read before a list of issues", s.noted())
		}
	})
	read, all := bytesRead(t)-before, int64(2*n*size)
	t.Logf("the first round read %d KB of %d, %d notes and %d lines of the index", read>>10, all>>10, s.noted(), s.indexed())
	if s.model.calls == 0 || s.noted() > pieces || read > all/2 {
		t.Errorf("the first round: %d calls of the model, %d paused logs and %d KB of %d were read", s.model.calls, s.noted(), read>>10, all>>10)
	}
	noted, indexed := s.noted(), s.indexed()
	s.round(t, pieces, func() {})
	if s.noted() <= noted || s.indexed() <= indexed {
		t.Errorf("the next round did not go on: %d notes after %d, %d lines of the index after %d", s.noted(), noted, s.indexed(), indexed)
	}
	for rounds := 0; s.noted() < n || !s.Store.Indexed(); rounds++ {
		if rounds > 3 {
			t.Fatalf("%d of %d notes, index complete: %v", s.noted(), n, s.Store.Indexed())
		}
		s.round(t, n+10, func() {})
	}
	infos := map[string]int{}
	for i, err := range s.Store.Infos(contexts.Query{}) {
		must(t, err)
		infos[i.State]++
	}
	if infos[contexts.StatePaused] != n || infos[contexts.StateStopped] != n || infos[contexts.StateCompleted] != 2 {
		t.Errorf("in the end the index knows %v", infos)
	}
}

// A backlog of what gc does must not keep a round from its tasks: it stops in time, and later rounds go on.
func TestBacklogOfGC(t *testing.T) {
	const n, pieces = 24, 6
	s := storeWith(t, 0, n, 1000, 40, "context_storage: {archive_after_days: 7}").opened(t, "test")
	_, err := s.Store.Heal(t.Context(), nil)
	must(t, err)
	for i := range n / 3 { // clones of contexts that ended long ago
		must(t, os.MkdirAll(filepath.Join(s.dir, "workspaces", fmt.Sprintf("00000000-0000-4001-8000-%012d", i), "src"), 0o700))
	}
	tmp := t.TempDir() // of a process that was killed in a command of git, long ago
	t.Setenv("TMPDIR", tmp)
	killed := filepath.Join(tmp, "agent-git-1")
	must(t, os.Mkdir(killed, 0o700))
	must(t, os.Chtimes(killed, time.Time{}, time.Now().AddDate(0, 0, -2)))
	left := func() (logs, clones int) {
		plain, _ := filepath.Glob(filepath.Join(s.dir, "contexts", "completed", "00000000-0000-4001-*", eventlog.FileName))
		copies, _ := filepath.Glob(filepath.Join(s.dir, "workspaces", "00000000-0000-4001-*"))
		return len(plain), len(copies)
	}
	logs, clones := left()
	took := 0
	for ; logs+clones > 0 && took < 3*n; took++ {
		s.round(t, pieces, func() {})
		nowLogs, nowClones := left()
		if done := logs + clones - nowLogs - nowClones; done == 0 && took > 0 || done > pieces {
			t.Errorf("round %d did %d pieces of at most %d", took+1, done, pieces)
		}
		if finished := !s.Store.LastCollected().Time.IsZero(); finished != (nowLogs+nowClones == 0) && finished {
			t.Errorf("round %d says that it is done, and %d logs and %d clones are left", took+1, nowLogs, nowClones)
		}
		logs, clones = nowLogs, nowClones
	}
	if _, err := os.Lstat(killed); err == nil {
		t.Error("what was left in TMPDIR is there still")
	}
	if s.round(t, 3*n, func() {}); logs+clones > 0 || took < (n+n/3)/pieces || s.Store.LastCollected().Time.IsZero() || s.model.calls == 0 {
		t.Errorf("after %d rounds %d logs and %d clones are left, %d calls of the model, gc ended at %v", took, logs, clones, s.model.calls, s.Store.LastCollected().Time)
	}
}
