package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"agent/eventlog"
	"agent/internal/fsx"
)

// batch is how many events a side appends in a round.
const batch = 4

const writers = 8

// payload makes lines of about 1 KB.
var payload = []byte(`{"text":"` + strings.Repeat("x y ", 225) + `"}`)

func (b *bench) appends() error {
	b.one()
	b.many()
	return nil
}

func (b *bench) one() {
	o := compare(b.rounds, wall,
		b.appender("raw fdatasync", b.raw("fdatasync", fdatasync)),
		b.appender("raw fsync", b.raw("fsync", (*os.File).Sync)),
		b.appender("ours", b.ours("one")),
		b.appender("tidwall/wal", b.tidwall()),
		b.appender("SQLite FULL", b.sqlite("one.db")),
	)
	b.title("durable append, 1 KB, one writer: events/s")
	for _, s := range o.sides {
		b.figure(s.name, 1/o.seconds(s.name), "")
	}
	b.least("ours / raw fdatasync", o.speed("ours", "raw fdatasync"), "times", 0.95)
	b.figure("ours / raw fsync", o.speed("ours", "raw fsync"), "times")
	b.figure("ours / tidwall/wal", o.speed("ours", "tidwall/wal"), "times")
	b.figure("ours / SQLite FULL", o.speed("ours", "SQLite FULL"), "times")
}

func (b *bench) appender(name string, one func()) side {
	return side{name, func() float64 {
		for range batch {
			one()
		}
		return batch
	}}
}

// many compares eight contexts that work at once with what one would use instead: one database.
func (b *bench) many() {
	o := compare(b.rounds, wall,
		together("raw fdatasync", func(i int) func() { return b.raw(fmt.Sprintf("raw%d", i), fdatasync) }),
		together("ours", func(i int) func() { return b.ours(fmt.Sprintf("log%d", i)) }),
		together("SQLite FULL", func(int) func() { return b.sqlite("many.db") }),
	)
	b.title("durable append, 1 KB, %d writers at once: events/s", writers)
	for _, s := range o.sides {
		b.figure(s.name, 1/o.seconds(s.name), "")
	}
	b.figure("ours / raw fdatasync", o.speed("ours", "raw fdatasync"), "times")
	b.least("ours / SQLite FULL", o.speed("ours", "SQLite FULL"), "times", 5)
}

func together(name string, open func(i int) func()) side {
	var all []func()
	for i := range writers {
		all = append(all, open(i))
	}
	return side{name, func() float64 {
		var wg sync.WaitGroup
		for _, one := range all {
			wg.Go(func() {
				for range batch {
					one()
				}
			})
		}
		wg.Wait()
		return batch * writers
	}}
}

// ours appends to a log as contexts have it.
func (b *bench) ours(name string) func() {
	fsys, err := fsx.OpenOS(filepath.Join(b.dir, name))
	must(err)
	log, err := eventlog.Create(fsys, ".")
	must(err)
	return func() {
		_, err := log.Append(eventlog.Draft{Time: time.Now(), Type: "llm.replied", V: 1, Data: payload})
		must(err)
	}
}

// raw appends as many bytes and knows nothing of them.
func (b *bench) raw(name string, sync func(*os.File) error) func() {
	f, err := os.OpenFile(filepath.Join(b.dir, name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	must(err)
	line, err := eventlog.AppendLine(nil, 1000, 1, eventlog.Draft{Time: time.Now(), Type: "llm.replied", V: 1, Data: payload})
	must(err)
	line = append(bytes.Clone(line), '\n')
	return func() {
		_, err := f.Write(line)
		must(err)
		must(sync(f))
	}
}
