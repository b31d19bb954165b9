package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"agent/eventlog"
)

func (b *bench) scans() error {
	for _, c := range []struct {
		title    string
		from, to int // bytes of text in a line
	}{
		{"lines of 1 KB", 50, 1650},
		{"lines of 4 KB", 2000, 6000},
	} {
		b.scan(c.title, makeLog(16<<20, c.from, c.to))
	}
	return nil
}

// makeLog gives a valid log of about size bytes.
func makeLog(size, from, to int) []byte {
	text := strings.Repeat("the quick brown fox jumps over it ", to/34+1)
	var log, line []byte
	var prev uint64
	for seq := uint64(1); len(log) < size; seq++ {
		n := from + int(seq)*7919%(to-from)
		data := fmt.Sprintf(`{"text":%q,"n":12,"list":[1,2,3]}`, text[:n])
		var err error
		line, err = eventlog.AppendLine(line[:0], seq, prev, eventlog.Draft{Time: time.Unix(1e9, 0), Type: "llm.replied", V: 1, Data: []byte(data)})
		must(err)
		log = append(append(log, line...), '\n')
		prev = hash(line)
	}
	return log
}

func (b *bench) scan(title string, log []byte) {
	o := compare(max(b.rounds/5, 5), cpu,
		scanner("ours", log, parse),
		scanner("encoding/json", log[:2<<20+1+bytes.IndexByte(log[2<<20:], '\n')], unmarshal), // enough for the slow one
		scanner("SHA-256", log, func(line []byte) { sink += hash(line) }),
		side{"ours with the hash chain", func() float64 { return readAll(log) }},
	)
	b.title("scan, %s: MB/s of processor time", title)
	for _, s := range o.sides {
		b.figure(s.name, 1/o.seconds(s.name)/1e6, "")
	}
	b.least("ours / encoding/json", o.speed("ours", "encoding/json"), "times", 25)
	b.least("ours with the hash chain / SHA-256", o.speed("ours with the hash chain", "SHA-256"), "times", 0.8)
}

// scanner cuts a log into lines and does something with each.
func scanner(name string, log []byte, each func(line []byte)) side {
	return side{name, func() float64 {
		for rest := log; len(rest) > 0; {
			n := bytes.IndexByte(rest, '\n')
			each(rest[:n])
			rest = rest[n+1:]
		}
		return float64(len(log))
	}}
}

var sink uint64

func parse(line []byte) {
	_, err := eventlog.Parse(line)
	must(err)
}

// envelope is a line as encoding/json sees it.
type envelope struct {
	Seq   uint64          `json:"seq"`
	Time  string          `json:"time"`
	Type  string          `json:"type"`
	V     int             `json:"v"`
	Cause uint64          `json:"cause"`
	Data  json.RawMessage `json:"data"`
	Prev  string          `json:"prev"`
	CRC   string          `json:"crc"`
}

func unmarshal(line []byte) {
	var e envelope
	must(json.Unmarshal(line, &e))
}

func readAll(log []byte) float64 {
	for _, err := range eventlog.Read(bytes.NewReader(log)) {
		must(err)
	}
	return float64(len(log))
}

// hash is the prev of the line after line.
func hash(line []byte) uint64 {
	sum := sha256.Sum256(line)
	return binary.BigEndian.Uint64(sum[:])
}
