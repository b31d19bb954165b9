package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strings"
	"time"

	"agent/eventlog"
)

func (b *bench) scans() error {
	const beyondCaches, inCache = 128 << 20, 256 << 10
	for _, c := range []struct {
		title     string
		size      int
		from, to  int // bytes of text in a line
		goals     bool
		passesFor int // bytes that a round goes over
	}{
		{"lines of 1 KB, from memory", beyondCaches, 50, 1650, true, beyondCaches},
		{"lines of 4 KB, from memory", beyondCaches, 2000, 6000, true, beyondCaches},
		{"lines of 4 KB, from the cache, as a reader has them", inCache, 2000, 6000, false, 32 << 20},
	} {
		log := makeLog(c.size, c.from, c.to)
		b.scan(c.title, log, max(c.passesFor/c.size, 1), c.goals)
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

func (b *bench) scan(title string, log []byte, passes int, goals bool) {
	part := log[:bytes.IndexByte(log[min(len(log)/2, 2<<20):], '\n')+min(len(log)/2, 2<<20)+1] // enough of it for the slow ones
	o := compare(max(b.rounds/5, 5), cpu,
		scanner("IndexByte", log, passes, func([]byte) {}),
		scanner("IndexByte + CRC", log, passes, checksum),
		scanner("ours", log, passes, parse),
		scanner("encoding/json", part, 1, unmarshal),
		side{"ours with the hash chain", func() float64 { return readAll(part) }},
	)
	b.title("scan, %s: MB/s of processor time", title)
	for _, s := range o.sides {
		b.figure(s.name, 1/o.seconds(s.name)/1e6, "")
	}
	if goals {
		b.least("ours / IndexByte", o.speed("ours", "IndexByte"), "times", 0.5)
		b.least("ours / encoding/json", o.speed("ours", "encoding/json"), "times", 40)
	} else {
		b.figure("ours / IndexByte", o.speed("ours", "IndexByte"), "times")
		b.figure("ours / encoding/json", o.speed("ours", "encoding/json"), "times")
	}
	b.figure("ours / IndexByte + CRC", o.speed("ours", "IndexByte + CRC"), "times")
}

// scanner cuts a log into lines and does something with each.
func scanner(name string, log []byte, passes int, each func(line []byte)) side {
	return side{name, func() float64 {
		for range passes {
			for rest := log; len(rest) > 0; {
				n := bytes.IndexByte(rest, '\n')
				each(rest[:n])
				rest = rest[n+1:]
			}
		}
		return float64(len(log) * passes)
	}}
}

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	sink       uint32
)

func checksum(line []byte) { sink += crc32.Update(0, castagnoli, line) }

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
