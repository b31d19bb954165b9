package contexts

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"math"
	"time"

	"github.com/google/uuid"

	"agent/eventlog"
)

// The index, index/contexts, answers questions about all contexts without
// reading their logs:
//
//	header   192 bytes: magic, version, id, count, length of the strings, contexts by state, crc
//	records  128 bytes each, sorted by uuid
//	keys     32 bytes each, hash of TaskKey and uuid, sorted
//	strings  TaskKey and title of each record
//	tail     records with their strings in the order in which they came, at most maxTail
//
// Every record and key has a CRC-32C of its own, the entries of the tail a
// chained one that begins with the header's. A full tail is merged into a new
// file, which takes the place of the old one by a rename.
//
// Why no answer is ever wrong:
//
//   - What a record says of a context that has ended is final. One that lives
//     is folded from its log whenever it is part of an answer, so it does not
//     matter how old its record is.
//   - A record is written after the event and before the directory moves
//     (also into running/, when a context is made), and each move is followed by
//     a stamp, index/stamp: the id of the file, the length and CRC of its tail,
//     and the modification times of running/, paused/ and completed/. As long as
//     the three times are those of the stamp, and the file is the stamped one or
//     has more, nothing came or went that the index does not know.
//   - If they are not (a process was killed, somebody copied a directory, an
//     older index was put back, the tail was cut), the directories are listed
//     and compared, see heal.go. That is slower and not wrong.
//   - A bit that flipped, a cut file and a missing one are seen by the CRCs and
//     lengths; then everything comes from the logs again.
//
// All changes happen under index.lock, moves included: otherwise the stamp of
// one process could cover a move of another.
const (
	indexDir    = "index"
	indexFile   = indexDir + "/contexts"
	stampFile   = indexDir + "/stamp"
	indexLock   = "index.lock"
	indexMagic  = "agentidx"
	indexForm   = 1
	headerSize  = 192
	recordSize  = 128
	keySizeIdx  = 32
	maxTail     = 512
	maxTailSize = 4 << 20 // bytes
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// states in records; the number of a state is permanent.
var states = []string{"", StateRunning, StatePaused, StateAwaiting, StateCompleted, StateStopped, StateFailed, StateDamaged}

const (
	flagArchived = 1 << iota
	flagGone     // of an entry in the tail: the context was removed
)

type (
	id16   [16]byte
	record [recordSize]byte
)

// entry is a record with its strings.
type entry struct {
	rec        record
	key, title string
}

func hashKey(taskKey string) (h id16) {
	sum := sha256.Sum256([]byte(taskKey))
	copy(h[:], sum[:])
	return h
}

func idOf(u string) id16 {
	id, _ := uuid.Parse(u) // checked by all callers
	return id16(id)
}

func (i id16) String() string { return uuid.UUID(i).String() }

var le = binary.LittleEndian

// entryOf gives the form that the index keeps.
func entryOf(i *Info) entry {
	e := entry{key: i.TaskKey, title: i.Title}
	e.key, e.title = e.key[:min(len(e.key), math.MaxUint16)], e.title[:min(len(e.title), math.MaxUint16)]
	b := e.rec[:]
	u, k := idOf(i.UUID), hashKey(i.TaskKey)
	copy(b, u[:])
	copy(b[16:], k[:])
	le.PutUint64(b[32:], i.Head.Seq)
	le.PutUint64(b[40:], i.Head.Hash)
	putTime(b[48:], i.Created)
	putTime(b[56:], i.Updated)
	putTime(b[64:], i.Ended)
	le.PutUint64(b[72:], uint64(i.Tokens))
	le.PutUint32(b[80:], uint32(i.LLMCalls))
	le.PutUint32(b[84:], uint32(i.ToolCalls))
	le.PutUint64(b[88:], uint64(i.Size))
	le.PutUint64(b[96:], uint64(i.modified))
	le.PutUint16(b[112:], uint16(len(e.key)))
	le.PutUint16(b[114:], uint16(len(e.title)))
	for n, s := range states {
		if s == i.State {
			b[116] = byte(n)
		}
	}
	if i.Archived {
		b[117] |= flagArchived
	}
	le.PutUint32(b[120:], crc32.Update(crc32.Checksum([]byte(e.key), castagnoli), castagnoli, []byte(e.title)))
	e.rec.seal()
	return e
}

// goneEntry says that a context was removed.
func goneEntry(u string) entry {
	e := entryOf(&Info{UUID: u})
	e.rec[117] |= flagGone
	e.rec.seal()
	return e
}

func (r *record) seal() { le.PutUint32(r[124:], crc32.Checksum(r[:124], castagnoli)) }

func (r *record) valid() bool {
	return le.Uint32(r[124:]) == crc32.Checksum(r[:124], castagnoli) && int(r[116]) < len(states)
}

func (r *record) uuid() id16     { return id16(r[:16]) }
func (r *record) key() id16      { return id16(r[16:32]) }
func (r *record) offset() int64  { return int64(le.Uint64(r[104:])) }
func (r *record) keyLen() int    { return int(le.Uint16(r[112:])) }
func (r *record) strings() int64 { return int64(le.Uint16(r[112:])) + int64(le.Uint16(r[114:])) }
func (r *record) gone() bool     { return r[117]&flagGone != 0 }
func (r *record) over() bool     { return r[116] >= 4 && r[116] <= 6 }

func (r *record) head() eventlog.Head {
	return eventlog.Head{Seq: le.Uint64(r[32:]), Hash: le.Uint64(r[40:])}
}

func (r *record) place(offset int64) {
	le.PutUint64(r[104:], uint64(offset))
	r.seal()
}

// text splits the strings of a record, or reports that they are not its own.
func (e *entry) text(b []byte) bool {
	if crc32.Checksum(b, castagnoli) != le.Uint32(e.rec[120:]) {
		return false
	}
	n, both := e.rec.keyLen(), string(b)
	e.key, e.title = both[:n], both[n:]
	return true
}

func (e *entry) info() Info {
	r := &e.rec
	return Info{UUID: r.uuid().String(), TaskKey: e.key, Title: e.title, State: states[r[116]],
		Created: getTime(r[48:]), Updated: getTime(r[56:]), Ended: getTime(r[64:]),
		Tokens: int(le.Uint64(r[72:])), LLMCalls: int(le.Uint32(r[80:])), ToolCalls: int(le.Uint32(r[84:])),
		Size: int64(le.Uint64(r[88:])), modified: int64(le.Uint64(r[96:])), Head: r.head(), Archived: r[117]&flagArchived != 0}
}

func putTime(b []byte, t time.Time) {
	if !t.IsZero() {
		le.PutUint64(b, uint64(t.UnixMicro()))
	}
}

func getTime(b []byte) time.Time {
	n := int64(le.Uint64(b))
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}

// keyEntry is one of the sorted keys: which contexts a TaskKey has.
type keyEntry [keySizeIdx]byte

func keyEntryOf(r *record) (k keyEntry) {
	copy(k[:], r[16:28]) // 12 bytes of the hash are enough to be told apart; the record has all
	copy(k[12:], r[:16])
	le.PutUint32(k[28:], crc32.Checksum(k[:28], castagnoli))
	return k
}

func (k *keyEntry) valid() bool { return le.Uint32(k[28:]) == crc32.Checksum(k[:28], castagnoli) }
func (k *keyEntry) uuid() id16  { return id16(k[12:28]) }

func compareKeys(a, b keyEntry) int { return bytes.Compare(a[:28], b[:28]) }

// header describes the sorted part of the file.
type header struct {
	id      id16
	n       int64
	strings int64 // bytes
	counts  [8]int64
}

func (h *header) bytes() []byte {
	b := make([]byte, headerSize)
	copy(b, indexMagic)
	le.PutUint32(b[8:], indexForm)
	copy(b[16:], h.id[:])
	le.PutUint64(b[32:], uint64(h.n))
	le.PutUint64(b[40:], uint64(h.strings))
	for i, c := range h.counts {
		le.PutUint64(b[48+8*i:], uint64(c))
	}
	le.PutUint32(b[headerSize-4:], crc32.Checksum(b[:headerSize-4], castagnoli))
	return b
}

func parseHeader(b []byte) (h header, crc uint32, ok bool) {
	crc = le.Uint32(b[headerSize-4:])
	if string(b[:8]) != indexMagic || le.Uint32(b[8:]) != indexForm || crc != crc32.Checksum(b[:headerSize-4], castagnoli) {
		return h, 0, false
	}
	h.id, h.n, h.strings = id16(b[16:32]), int64(le.Uint64(b[32:])), int64(le.Uint64(b[40:]))
	for i := range h.counts {
		h.counts[i] = int64(le.Uint64(b[48+8*i:]))
	}
	return h, crc, true
}

func (h *header) keysAt() int64    { return headerSize + h.n*recordSize }
func (h *header) stringsAt() int64 { return h.keysAt() + h.n*keySizeIdx }
func (h *header) tailAt() int64    { return h.stringsAt() + h.strings }
