package eventlog

import (
	"bytes"
	"strings"
	"testing"
)

// Whatever is looked for is found in a log of many megabytes, also behind a damaged
// line, without reading most of it.
func TestSearch(t *testing.T) {
	t.Parallel()
	const lines = 3000
	log := makeLog(t, lines, func(n int) string { return `{"x":"` + strings.Repeat("y", 1+n%7*1000) + `"}` })
	if len(log) < 4*MaxLine {
		t.Fatalf("a log of %d bytes is read without bisection", len(log))
	}
	damaged := bytes.Clone(log)
	copy(damaged[len(log)/2:], "\x00\x00\x00\x00")
	for _, data := range [][]byte{log, damaged} {
		for _, seq := range []uint64{1, 2, 700, 1499, 1500, 1501, 2100, lines - 1, lines} {
			r := &counting{data: data}
			at, err := Search(r, int64(len(data)), func(rec Record) bool { return rec.Seq < seq })
			if err != nil {
				t.Fatal(err)
			}
			if r.n > len(data)/2 {
				t.Errorf("seq %d: %d of %d bytes were read", seq, r.n, len(data))
			}
			found := false
			for line := range ReadAllFrom(bytes.NewReader(data[at:]), at) {
				if line.Err == nil && line.Record.Seq >= seq {
					found = line.Record.Seq == seq
					break
				}
			}
			if !found && !bytes.Equal(data, damaged) {
				t.Errorf("seq %d was not found from offset %d on", seq, at)
			}
		}
	}
}

type counting struct {
	data []byte
	n    int
}

func (c *counting) ReadAt(p []byte, at int64) (int, error) {
	n, err := bytes.NewReader(c.data).ReadAt(p, at)
	c.n += n
	return n, err
}
