package main

import (
	"os"
	"path/filepath"
	"time"

	"agent/contexts"
	"agent/eventlog"
	"agent/eventlog/event"
)

const (
	ended    = 100_000 // contexts in the index of the health check
	endedNow = 1_000   // that ended last, and are looked at
	pausedIn = 300     // that wait for people
)

// statuses measures the health check that a supervisor asks for every minute, and a list that
// the index answers.
func (b *bench) statuses() error {
	agent, err := b.build(agentPackage, "agent")
	if err != nil {
		return err
	}
	dir := b.fabricate("status", ended)
	store, done := openStore(dir)
	now := time.Now()
	for i := ended + added; i < ended+added+endedNow+pausedIn; i++ {
		c, err := store.Create(&event.ContextCreated{Format: event.Format, UUID: uuid(i), TaskKey: taskKey(i / 2), Forge: "github.com", Kind: "github_issue"}, time.Now())
		must(err)
		last := event.Body(&event.ContextCompleted{Reason: "done"})
		if i >= ended+added+endedNow {
			last = &event.ContextPaused{Reason: "requested", Until: event.Until{Kind: "person"}}
		}
		_, err = c.Append(event.Event{Time: now, Body: last})
		must(err)
		must(c.Relocate())
		must(c.Close())
	}
	must(store.Note(contexts.Scan{Hosts: map[string]contexts.HostScan{"github.com": {Time: now, Success: now}}}))
	_, err = os.Stat(filepath.Join(dir, "paused", uuid(ended+added+endedNow), eventlog.FileName))
	must(err)
	must(done())
	o := compare(max(b.rounds/5, 5), wall, process("version", agent, "version"),
		process("status --check", agent, "status", "--check", "--max-age", "24h", "--contexts", dir, "--config", b.offline()),
		process("list --state failed", agent, "list", "--state", "failed", "--contexts", dir, "--config", b.offline()))
	b.title("processes, %d contexts that ended, %d that wait: ms", ended, pausedIn)
	b.figure("version, at the same time", o.seconds("version")*1000, "ms")
	b.most("status --check", o.seconds("status --check")*1000, "ms", 200)
	b.most("list --state failed", o.seconds("list --state failed")*1000, "ms", 300)
	return nil
}
