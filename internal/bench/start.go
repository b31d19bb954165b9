package main

import (
	"crypto/rand"
	"fmt"
	"os/exec"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/fsx"
)

// manyContexts is how many contexts the longer list has.
const manyContexts = 1000

// starts measures processes from start to end.
func (b *bench) starts() error {
	agent, err := b.build(agentPackage, "agent")
	if err != nil {
		return err
	}
	empty, err := b.build("./empty", "empty")
	if err != nil {
		return err
	}
	few, many := b.makeContexts("few", 1), b.makeContexts("many", manyContexts)
	config := b.offline()
	list := func(dir string) []string {
		return []string{agent, "list", "--contexts", dir, "--config", config}
	}
	o := compare(max(b.rounds/3, 5), wall,
		process("empty Go program", empty),
		process("agent version", agent, "version"),
		process("agent list, 1 context", list(few)...),
		process("agent list, 1,000 contexts", list(many)...),
	)
	b.title("processes from start to end: ms")
	for _, s := range o.sides {
		b.figure(s.name, o.seconds(s.name)*1000, "")
	}
	b.figure("agent version / empty Go program", 1/o.speed("agent version", "empty Go program"), "times")
	return nil
}

func process(name string, argv ...string) side {
	return side{name, func() float64 {
		out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
		if err != nil {
			panic(fmt.Sprintf("%v: %v\n%s", argv, err, out))
		}
		return 1
	}}
}

// makeContexts makes a store with contexts of one event.
func (b *bench) makeContexts(name string, n int) (dir string) {
	dir = b.dir + "/" + name
	fsys, err := fsx.OpenOS(dir)
	must(err)
	defer fsys.Close()
	store, err := contexts.Open(fsys, contexts.Options{Now: time.Now, Warn: func(error) {}, Dir: dir})
	must(err)
	for i := range n {
		var id [16]byte
		rand.Read(id[:])
		id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
		c, err := store.Create(&event.ContextCreated{
			Format: 1, Forge: "github.com", Kind: "github_issue", User: "alice", Title: "Read the notes", Trigger: "label",
			UUID:    fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:]),
			TaskKey: fmt.Sprintf("github.com/owner/notes/issues/%d", i+1),
		}, time.Now())
		must(err)
		must(c.Close())
	}
	return dir
}
