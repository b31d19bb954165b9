package eventlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"agent/internal/fsx"
)

// benchLog is a valid log of lines between 250 and 1,850 bytes, about 1 KB in the mean.
func benchLog(b testing.TB, lines int) []byte {
	b.Helper()
	text := strings.Repeat("the quick brown fox jumps over it ", 50)
	return makeLog(b, lines, func(n int) string {
		return fmt.Sprintf(`{"text":%q,"n":12,"list":[1,2,3]}`, text[:n*7919%1600])
	})
}

// benchLines makes a log larger than the caches.
const benchLines = 256 << 10

func BenchmarkFrameIndexByte(b *testing.B) {
	log := benchLog(b, benchLines)
	b.SetBytes(int64(len(log)))
	for b.Loop() {
		for rest := log; len(rest) > 0; {
			rest = rest[bytes.IndexByte(rest, '\n')+1:]
		}
	}
}

func BenchmarkFrameCRC(b *testing.B) {
	log := benchLog(b, benchLines)
	b.SetBytes(int64(len(log)))
	var sum uint32
	for b.Loop() {
		for rest := log; len(rest) > 0; {
			n := bytes.IndexByte(rest, '\n')
			sum += crc32.Update(0, castagnoli, rest[:n-crcLen])
			rest = rest[n+1:]
		}
	}
}

func BenchmarkFrameParse(b *testing.B) {
	log := benchLog(b, benchLines)
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		for rest := log; len(rest) > 0; {
			n := bytes.IndexByte(rest, '\n')
			if _, err := Parse(rest[:n]); err != nil {
				b.Fatal(err)
			}
			rest = rest[n+1:]
		}
	}
}

func BenchmarkFrameRead(b *testing.B) {
	log := benchLog(b, benchLines)
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range Read(bytes.NewReader(log)) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkFrameCheckData(b *testing.B) {
	log := benchLog(b, benchLines)
	b.SetBytes(int64(len(log)))
	for b.Loop() {
		for rest := log; len(rest) > 0; {
			n := bytes.IndexByte(rest, '\n')
			r, _ := Parse(rest[:n])
			if err := CheckData(r.Data); err != nil {
				b.Fatal(err)
			}
			rest = rest[n+1:]
		}
	}
}

func BenchmarkFrameEncodingJSON(b *testing.B) {
	log := benchLog(b, benchLines)
	b.SetBytes(int64(len(log)))
	for b.Loop() {
		for rest := log; len(rest) > 0; {
			n := bytes.IndexByte(rest, '\n')
			var e envelope
			if err := json.Unmarshal(rest[:n], &e); err != nil {
				b.Fatal(err)
			}
			rest = rest[n+1:]
		}
	}
}

func BenchmarkAppendLine(b *testing.B) {
	d := draft("llm.replied", fmt.Sprintf(`{"text":%q}`, strings.Repeat("x y ", 240)))
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if buf, err = AppendLine(buf[:0], 17, 3, d); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkAppend(b *testing.B) {
	fsys, err := fsx.OpenOS(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	l, err := Create(fsys, ".")
	if err != nil {
		b.Fatal(err)
	}
	d := draft("llm.replied", fmt.Sprintf(`{"text":%q}`, strings.Repeat("x y ", 240)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Append(d); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppendRaw is what the disk takes for the same bytes.
func BenchmarkAppendRaw(b *testing.B) {
	f, err := os.OpenFile(filepath.Join(b.TempDir(), "f"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	line := bytes.Repeat([]byte("x"), 1130)
	for b.Loop() {
		if _, err := f.Write(line); err != nil {
			b.Fatal(err)
		}
		if err := syscall.Fsync(int(f.Fd())); err != nil {
			b.Fatal(err)
		}
	}
}
