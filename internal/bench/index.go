package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/fsx"
)

const (
	indexed  = 1_000_000 // contexts in the large index
	realLogs = 10_000    // logs that an index is made from
	metadata = 20_000    // metadata.json files that are read
	added    = 600       // real contexts beside those: enough that they are merged among them
)

// indexes measures the index of a million contexts, and how long it takes to
// make one from logs.
func (b *bench) indexes() error {
	large := b.fabricate("large", indexed)
	if err := b.lookups(large); err != nil {
		return err
	}
	if err := b.lists(large); err != nil {
		return err
	}
	return b.rebuild()
}

// fabricate makes an index of n contexts, two of each task, and then some real ones.
func (b *bench) fabricate(name string, n int) (dir string) {
	dir = filepath.Join(b.dir, name)
	store, done := openStore(dir)
	defer done()
	must(store.SeedIndex(func(yield func(contexts.Info) bool) {
		for i := range n {
			info := contexts.Info{UUID: uuid(i), TaskKey: taskKey(i / 2), Title: "A title as people write them, of some length",
				State: contexts.StateCompleted, Created: longAgo, Updated: longAgo, Ended: longAgo, LLMCalls: 12, ToolCalls: 30, Tokens: 99_000}
			if !yield(info) {
				return
			}
		}
	}))
	for i := n; i < n+added; i++ {
		finished(store, i)
	}
	return dir
}

var longAgo = time.Unix(1_700_000_000, 0)

func uuid(i int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", uint32(i)*2654435761, i) }

func taskKey(i int) string { return fmt.Sprintf("github.com/owner/repo%d/issues/%d", i%500, i) }

func openStore(dir string) (*contexts.Store, func() error) {
	fsys, err := fsx.OpenOS(dir)
	must(err)
	store, err := contexts.Open(fsys, contexts.Options{Now: time.Now, Dir: dir})
	must(err)
	return store, fsys.Close
}

// lookups compares processes from start to end: what they are asked for is a
// task with two contexts that are really there.
func (b *bench) lookups(dir string) error {
	db := filepath.Join(b.dir, "contexts.db")
	fillDatabase(db, indexed)
	lookup, err := b.build("./lookup", "lookup")
	if err != nil {
		return err
	}
	peer, err := b.buildC("./sqlite", "sqlite")
	if err != nil {
		return err
	}
	empty, err := b.build("./empty", "empty")
	if err != nil {
		return err
	}
	key := taskKey(indexed / 2)
	for _, argv := range [][]string{{lookup, dir, key}, {peer, db, key}} {
		if out, err := exec.Command(argv[0], argv[1:]...).Output(); err != nil || bytes.Count(out, []byte("\n")) != 2 {
			return fmt.Errorf("%v: %q, %w", argv, out, err)
		}
	}
	o := compare(5*b.rounds, wall,
		process("empty Go program", empty),
		process("store opened, nothing looked up", lookup, dir),
		process("ours", lookup, dir, key),
		process("SQLite", peer, db, key),
	)
	b.title("index of 1,000,000 contexts, processes from start to answer: ms")
	for _, s := range o.sides {
		b.figure(s.name, o.seconds(s.name)*1000, "")
	}
	b.most("ours / nothing looked up", o.speed("store opened, nothing looked up", "ours"), "times", 1.05)
	b.most("ours / SQLite", o.speed("SQLite", "ours"), "times", 0.53)
	return b.commands(dir, key)
}

// commands compares the agent itself among a million contexts and among two.
func (b *bench) commands(large, key string) error {
	agent, err := b.build(agentPackage, "agent")
	if err != nil {
		return err
	}
	small := filepath.Join(b.dir, "small")
	store, done := openStore(small)
	defer done()
	for i := indexed; i < indexed+2; i++ {
		finished(store, i)
	}
	why := func(dir string) []string {
		return []string{agent, "why", key, "--contexts", dir, "--config", b.offline()}
	}
	o := compare(b.rounds, wall, process("among 2", why(small)...), process("among 1,000,000", why(large)...))
	b.title("agent why TASK: ms")
	for _, s := range o.sides {
		b.figure(s.name, o.seconds(s.name)*1000, "")
	}
	b.most("among 1,000,000 / among 2", o.speed("among 2", "among 1,000,000"), "times", 1.05)
	return nil
}

// finished makes a context that has ended.
func finished(store *contexts.Store, i int) {
	c, err := store.Create(&event.ContextCreated{Format: event.Format, UUID: uuid(i), TaskKey: taskKey(i / 2), Forge: "github.com", Kind: "github_issue"}, longAgo)
	must(err)
	_, err = c.Append(event.Event{Time: longAgo, Body: &event.ContextCompleted{Reason: "done"}})
	must(err)
	must(c.Relocate())
	must(c.Close())
}

func fillDatabase(name string, n int) {
	db, err := sql.Open("sqlite3", "file:"+name+"?_synchronous=OFF&_journal_mode=OFF")
	must(err)
	defer db.Close()
	_, err = db.Exec("create table contexts (uuid text primary key, task_key text, title text, state text, created integer, updated integer, ended integer) without rowid")
	must(err)
	tx, err := db.Begin()
	must(err)
	insert, err := tx.Prepare("insert into contexts values (?, ?, 'A title as people write them, of some length', 'completed', 1, 2, 3)")
	must(err)
	for i := range n + added {
		_, err := insert.Exec(uuid(i), taskKey(i/2))
		must(err)
	}
	must(tx.Commit())
	_, err = db.Exec("create index by_key on contexts (task_key, created)")
	must(err)
}

// lists compares going through the index with what there would be without one:
// reading the metadata.json of every context, of which some are read here.
func (b *bench) lists(dir string) error {
	store, done := openStore(dir)
	defer done()
	files := b.makeMetadata(metadata)
	o := compare(max(b.rounds/10, 5), cpu,
		side{"ours", func() float64 { return listAll(store) }},
		side{"metadata.json", func() float64 { return readMetadata(files) }},
	)
	b.title("list of 1,000,000 contexts: processor time of one context, ns")
	b.figure("ours", o.seconds("ours")*1e9, "")
	b.figure(fmt.Sprintf("reading metadata.json (of %d contexts, in the cache)", metadata), o.seconds("metadata.json")*1e9, "")
	b.least("metadata.json / ours", o.speed("ours", "metadata.json"), "times", 300)
	return nil
}

func listAll(store *contexts.Store) float64 {
	n := 0
	for i, err := range store.Infos(contexts.Query{}) {
		must(err)
		if i.TaskKey != "" {
			n++
		}
	}
	if n != indexed+added {
		panic(fmt.Sprintf("%d contexts in the list", n))
	}
	return float64(n)
}

// makeMetadata writes files as the agent does, each in a directory of its own.
func (b *bench) makeMetadata(n int) (dir string) {
	dir = filepath.Join(b.dir, "metadata")
	for i := range n {
		name := filepath.Join(dir, uuid(i))
		must(os.MkdirAll(name, 0o700))
		text := fmt.Sprintf(`{"uuid":%q,"task_key":{"type":"github_issue","owner":"owner","repo":"repo","number":%d},"created_at":"2026-01-02T03:04:06.500678+00:00","process_id":9,"hostname":"h","config":{"llm_provider":"openai","model":"m","context_length":8000,"compression_threshold":0.7},"user":"alice"}`+"\n", uuid(i), i)
		must(os.WriteFile(filepath.Join(name, "metadata.json"), []byte(text), 0o600))
	}
	return dir
}

func readMetadata(dir string) float64 {
	names, err := os.ReadDir(dir)
	must(err)
	for _, e := range names {
		data, err := os.ReadFile(filepath.Join(dir, e.Name(), "metadata.json"))
		must(err)
		var m struct {
			UUID    string          `json:"uuid"`
			Key     json.RawMessage `json:"task_key"`
			Created time.Time       `json:"created_at"`
			User    string          `json:"user"`
		}
		must(json.Unmarshal(data, &m))
	}
	return float64(len(names))
}

// rebuild makes the index of a store anew.
func (b *bench) rebuild() error {
	dir, size, err := b.realStore()
	if err != nil {
		return err
	}
	store, done := openStore(dir)
	defer done()
	runtime.GC()
	start := time.Now()
	_, err = store.RebuildIndex(nil)
	must(err)
	took := time.Since(start).Seconds()
	counts, err := store.Counts()
	if err != nil {
		return err
	}
	b.title("index made from %d logs of %d KiB (%.0f MiB in all)", counts[contexts.StateCompleted], size/realLogs>>10, float64(size)/(1<<20))
	b.most("rebuild", took, "s", 30)
	b.figure("MB of log in a second", float64(size)/1e6/took, "")
	return nil
}
