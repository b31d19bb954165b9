package contexts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strconv"
)

// The index answers questions about all contexts without reading their logs.
// It is two files of JSON lines in index/, and a summary of the first, see summary.go:
//
//	contexts.jsonl  one line per context, sorted by task key without case, and uuid; the last
//	                line, the trailer, names the generation of the file and its size
//	tail.jsonl      lines that came since, in order of arrival, at most maxTail;
//	                the first line, the header, names the generation it belongs to
//
// A line of a context begins with uuid, task and state, in this order; the other
// fields may come in any order. Values are strings, numbers and booleans; unknown
// fields are skipped, so that a field can be added. Every line ends
// with a CRC-32C; in the tail it covers all bytes of the file before it.
// A full tail is merged into a new contexts.jsonl, which replaces the old one.
//
// Why no answer is ever wrong:
//
//   - The line of a context that has ended is final. One that has not is folded
//     from its log whenever it is part of an answer, however old its line is.
//   - A line is written after the event and before the directory moves (also
//     into running/, when a context is created). Each move is followed by a stamp
//     in the tail: the modification times of running/, paused/ and completed/.
//     While the latest stamp has their times, nothing came or went that the index
//     does not know: it is complete.
//   - If it is not (a process was killed, somebody copied a directory, an older
//     index was restored, the tail was cut), the directories are listed and
//     compared, see heal.go. That is slower and not wrong. So it stays while a
//     context is lost, see lost.go.
//   - Checksums, the order of lines and the trailer reveal flipped bits and
//     missing or shortened files; then everything comes from the logs again.
//
// All changes happen under index.lock, moves included: otherwise the stamp of
// one process could cover a move of another.
const (
	indexDir    = "index"
	indexFile   = indexDir + "/contexts.jsonl"
	tailFile    = indexDir + "/tail.jsonl"
	indexLock   = "index.lock"
	indexFormat = 4
	maxTail     = 512
	maxTailSize = 4 << 20 // bytes
	maxLine     = 2 << 20 // bytes; an event, and so a task key, has at most 1 MiB
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// indexMark is what the index says of itself: the trailer, the header of the
// tail, and the stamps.
type indexMark struct {
	Format     int       `json:"format,omitempty"`
	Generation string    `json:"generation,omitempty"`
	Contexts   int       `json:"contexts,omitempty"`
	Bytes      int64     `json:"bytes,omitempty"` // before the trailer
	Stamp      *[3]int64 `json:"stamp,omitempty"` // modification times of Dirs, ns
}

const (
	crcStart = `,"crc":"`
	crcSize  = len(crcStart) + 8 + len(`"}`)
)

// seal appends a line, an object without its closing brace, with its checksum,
// and returns the checksum for the next line of a chain. before is 0 for a line
// on its own.
func seal(lines []byte, before uint32, body []byte) ([]byte, uint32) {
	crc := crc32.Update(before, castagnoli, body)
	return fmt.Appendf(append(lines, body...), "%s%08x\"}\n", crcStart, crc), crc
}

// unseal checks a line without its newline and returns what stands before the
// checksum.
func unseal(line []byte, before uint32) (body []byte, crc uint32, ok bool) {
	at := len(line) - crcSize
	if at < 2 || string(line[at:at+len(crcStart)]) != crcStart || string(line[len(line)-2:]) != `"}` {
		return nil, 0, false
	}
	said, err := strconv.ParseUint(string(line[at+len(crcStart):len(line)-2]), 16, 32)
	body = line[:at]
	crc = crc32.Update(before, castagnoli, body)
	return body, crc, err == nil && uint32(said) == crc
}

func (m indexMark) body() []byte {
	b, _ := json.Marshal(m) // numbers and plain strings
	return b[:len(b)-1]
}

// parseMark reads a checked line without its checksum.
func parseMark(body []byte) (m indexMark, ok bool) {
	return m, json.Unmarshal(append(bytes.Clone(body), '}'), &m) == nil
}
