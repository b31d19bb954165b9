package contexts

import (
	"fmt"
	"hash/crc32"

	"agent/internal/fsx"
)

// stamp says for which state of the directories the index is complete.
type stamp struct {
	id    id16
	end   int64
	crc   uint32
	times [3]int64 // of Places, ns
}

const (
	stampMagic = "agentstm"
	stampSize  = 72
)

func (t *stamp) bytes() []byte {
	b := make([]byte, stampSize)
	copy(b, stampMagic)
	copy(b[8:], t.id[:])
	le.PutUint64(b[24:], uint64(t.end))
	le.PutUint32(b[32:], t.crc)
	for i, n := range t.times {
		le.PutUint64(b[40+8*i:], uint64(n))
	}
	le.PutUint32(b[stampSize-4:], crc32.Checksum(b[:stampSize-4], castagnoli))
	return b
}

// readStamp reports false for one that is not there or damaged: then the index
// counts as incomplete.
func (s *Store) readStamp() (t stamp, ok bool) {
	b, err := fsx.ReadFile(s.fs, stampFile, stampSize)
	if err != nil || len(b) != stampSize || string(b[:8]) != stampMagic ||
		le.Uint32(b[stampSize-4:]) != crc32.Checksum(b[:stampSize-4], castagnoli) {
		return t, false
	}
	t.id, t.end, t.crc = id16(b[8:24]), int64(le.Uint64(b[24:])), le.Uint32(b[32:])
	for i := range t.times {
		t.times[i] = int64(le.Uint64(b[40+8*i:]))
	}
	return t, true
}

// placeTimes are the modification times of the places. A place that is missing
// (of a store that was never written) has 0.
func (s *Store) placeTimes() (times [3]int64, err error) {
	for i, p := range Places {
		info, err := s.fs.Lstat(string(p))
		if err != nil && !isMissing(err) {
			return times, fmt.Errorf("look at %s: %w", p, err)
		}
		if err == nil {
			times[i] = info.ModTime().UnixNano()
		}
	}
	return times, nil
}
