package main

import (
	"database/sql"
	"path/filepath"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"
	"github.com/tidwall/wal"
)

// tidwall syncs every entry, which is its default.
func (b *bench) tidwall() func() {
	log, err := wal.Open(filepath.Join(b.dir, "tidwall"), nil)
	must(err)
	var n uint64
	return func() {
		n++
		must(log.Write(n, payload))
	}
}

// sqlite opens a connection of its own. Each insert is a transaction that is
// durable when it returns; writers wait for each other.
func (b *bench) sqlite(name string) func() {
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(b.dir, name)+"?_journal_mode=WAL&_synchronous=FULL&_busy_timeout=60000&_txlock=immediate")
	must(err)
	db.SetMaxOpenConns(1)
	_, err = db.Exec("create table if not exists events (seq integer primary key, type text, data blob)")
	must(err)
	insert, err := db.Prepare("insert into events (type, data) values ('llm.replied', ?)")
	must(err)
	return func() {
		_, err := insert.Exec(payload)
		must(err)
	}
}
