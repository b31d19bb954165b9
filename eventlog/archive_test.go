package eventlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"agent/internal/fsx"
)

// packedLog is a log of several frames, and its bytes before it was archived.
func packedLog(t *testing.T) (*fsx.Mem, []byte) {
	t.Helper()
	m := fsx.NewMem()
	if err := errors.Join(m.Mkdir("c", 0o700), m.SyncDir(".")); err != nil {
		t.Fatal(err)
	}
	l, err := Create(m, "c")
	if err != nil {
		t.Fatal(err)
	}
	for n := range 60 {
		data := fmt.Sprintf(`{"n":%d,"text":"%s"}`, n, strings.Repeat(fmt.Sprintf("%d of many words ", n), 500))
		if _, err := l.Append(Draft{Type: "message.added", V: 1, Data: []byte(data)}); err != nil {
			t.Fatal(err)
		}
	}
	l.Close()
	whole, err := fsx.ReadFile(m, "c/"+FileName, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	return m, whole
}

func readLog(t *testing.T, m fsx.FS) ([]byte, error) {
	t.Helper()
	r, err := OpenRead(m, "c")
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func TestPack(t *testing.T) {
	m, whole := packedLog(t)
	packed, err := Pack(m, "c")
	if err != nil || packed.Head.Seq != 60 || packed.Before != int64(len(whole)) || packed.After >= packed.Before/5 {
		t.Fatalf("%+v, %v", packed, err)
	}
	if _, err := m.Lstat("c/" + FileName); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the log is still there: %v", err)
	}
	if got, err := readLog(t, m); err != nil || !bytes.Equal(got, whole) {
		t.Errorf("read back %d of %d bytes, %v", len(got), len(whole), err)
	}
	n := 0
	for r, err := range ReadFile(m, "c") {
		if n++; err != nil || r.Seq != uint64(n) {
			t.Fatalf("record %d is %d, %v", n, r.Seq, err)
		}
	}
	if n != 60 {
		t.Errorf("%d records", n)
	}
	if err := Unpack(m, "c"); err != nil {
		t.Fatal(err)
	}
	if got, err := fsx.ReadFile(m, "c/"+FileName, 1<<30); err != nil || !bytes.Equal(got, whole) {
		t.Errorf("unpacked %d of %d bytes, %v", len(got), len(whole), err)
	}
}

// Other zstd programs read it.
func TestArchiveIsZstd(t *testing.T) {
	m, whole := packedLog(t)
	if _, err := Pack(m, "c"); err != nil {
		t.Fatal(err)
	}
	data, _ := fsx.ReadFile(m, "c/"+ArchiveName, 1<<30)
	dec, err := zstd.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	if got, err := io.ReadAll(dec); err != nil || !bytes.Equal(got, whole) {
		t.Errorf("streamed %d of %d bytes, %v", len(got), len(whole), err)
	}
	if program, err := exec.LookPath("zstd"); err == nil {
		name := filepath.Join(t.TempDir(), "a.zst")
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := exec.Command(program, "-dc", name).Output(); err != nil || !bytes.Equal(got, whole) {
			t.Errorf("zstd gives %d of %d bytes, %v", len(got), len(whole), err)
		}
	}
}

// A log that is damaged or torn is not archived.
func TestPackRefuses(t *testing.T) {
	for name, harm := range map[string]func([]byte) []byte{
		"flipped": func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"torn":    func(b []byte) []byte { return b[:len(b)-5] },
		"empty":   func([]byte) []byte { return nil },
	} {
		m, whole := packedLog(t)
		bad := harm(whole)
		if err := fsx.WriteFile(m, "c/"+FileName, bad); err != nil {
			t.Fatal(err)
		}
		_, err := Pack(m, "c")
		if got, _ := fsx.ReadFile(m, "c/"+FileName, 1<<30); err == nil || !bytes.Equal(got, bad) {
			t.Errorf("%s: %v, and the log has %d bytes of %d", name, err, len(got), len(bad))
		}
		if entries, _ := m.ReadDir("c"); len(entries) != 1 {
			t.Errorf("%s: left %v", name, entries)
		}
	}
}

// Cut anywhere, or with any byte changed: damage, never other events, never much memory.
func TestDamagedArchive(t *testing.T) {
	m, whole := packedLog(t)
	if _, err := Pack(m, "c"); err != nil {
		t.Fatal(err)
	}
	data, _ := fsx.ReadFile(m, "c/"+ArchiveName, 1<<30)
	check := func(name string, bad []byte, harmless bool) {
		t.Helper()
		if err := fsx.WriteFile(m, "c/"+ArchiveName, bad); err != nil {
			t.Fatal(err)
		}
		var failure error
		at := 0
		for r, err := range ReadFile(m, "c") {
			if failure = err; err != nil {
				break
			}
			if !bytes.HasPrefix(whole[at:], r.Line) {
				t.Fatalf("%s: record %d is another one", name, r.Seq)
			}
			at += len(r.Line) + 1
		}
		var damage *DamageError
		if harmless && failure == nil && at == len(whole) {
			return
		}
		if !errors.As(failure, &damage) {
			t.Errorf("%s: read %d bytes, %v", name, at, failure)
		}
	}
	for n := 0; n < len(data); n += 7 {
		check(fmt.Sprintf("cut at %d", n), data[:n], false)
		flipped := bytes.Clone(data)
		flipped[n] ^= 1 << (n % 8)
		check(fmt.Sprintf("flipped at %d", n), flipped, true) // the note is for people only
	}
}

// A frame in the middle that cannot be read hides only itself from those who look around damage.
func TestAroundADamagedFrame(t *testing.T) {
	m, _ := packedLog(t)
	if _, err := Pack(m, "c"); err != nil {
		t.Fatal(err)
	}
	data, _ := fsx.ReadFile(m, "c/"+ArchiveName, 1<<30)
	table := data[len(data)-footSize-8*int(binary.LittleEndian.Uint32(data[len(data)-footSize:])):]
	data[int(binary.LittleEndian.Uint32(table))+20] ^= 0x10 // in the second frame
	if err := fsx.WriteFile(m, "c/"+ArchiveName, data); err != nil {
		t.Fatal(err)
	}
	first, last, bad := uint64(0), uint64(0), 0
	for line, err := range readAllFile(m, "c") {
		if err != nil {
			t.Fatal(err)
		}
		if line.Err != nil {
			bad++
		}
		if line.Record.Line != nil {
			if first == 0 {
				first = line.Record.Seq
			}
			last = line.Record.Seq
		}
	}
	if first != 1 || last != 60 || bad == 0 {
		t.Errorf("shows %d to %d with %d bad lines", first, last, bad)
	}
}

// Frames that say they are small and are not, tables that do not fit.
func TestArchiveBombs(t *testing.T) {
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	bomb := enc.EncodeAll(make([]byte, 256<<20), nil)
	build := func(frame []byte, packed, lines uint32, frames uint32) []byte {
		le := binary.LittleEndian
		b := append(bytes.Clone(frame), skippable(noteMagic, []byte("{}"))...)
		table := le.AppendUint32(le.AppendUint32(nil, packed), lines)
		foot := le.AppendUint32(append(le.AppendUint32(nil, frames), 0), footMagic)
		return append(b, skippable(tableMagic, append(table, foot...))...)
	}
	size := uint32(len(bomb))
	for name, data := range map[string][]byte{
		"large frame":      build(bomb, size, 1000, 1),
		"large and honest": build(bomb, size, 256<<20, 1),
		"many frames":      build(bomb, size, 1000, 1<<31),
		"wrong size":       build(bomb, size-1, 1000, 1),
	} {
		m := fsx.NewMem()
		if err := errors.Join(m.Mkdir("c", 0o700), fsx.WriteFile(m, "c/"+ArchiveName, data)); err != nil {
			t.Fatal(err)
		}
		got := 0
		var failure error
		for r, err := range ReadFile(m, "c") {
			got += len(r.Line)
			failure = err
		}
		var damage *DamageError
		if !errors.As(failure, &damage) || got != 0 {
			t.Errorf("%s: %d bytes, %v", name, got, failure)
		}
	}
}

// Killed at every operation of packing and unpacking: the log is there, in one
// form or the other or both, with every byte.
func TestPackKilledAnywhere(t *testing.T) {
	for n := 1; ; n++ {
		m, whole := packedLog(t)
		m.KillAt(m.Ops()+n, n%2 == 0)
		_, err := Pack(m, "c")
		if err == nil {
			err = Unpack(m, "c")
		}
		if err == nil {
			if n < 10 {
				t.Fatalf("only %d operations", n)
			}
			return
		}
		for _, next := range []*fsx.Mem{m.Crash(int64(n), 0), m.Crash(int64(n), 1), m.Crash(int64(n), 0.5), m.Kill()} {
			if got, err := readLog(t, next); err != nil || !bytes.Equal(got, whole) {
				t.Fatalf("operation %d: %d of %d bytes, %v", n, len(got), len(whole), err)
			}
			if _, err := next.Lstat("c/" + FileName); err == nil {
				if _, err := Pack(next, "c"); err != nil {
					t.Fatalf("operation %d: packed again: %v", n, err)
				}
			}
			if got, err := readLog(t, next); err != nil || !bytes.Equal(got, whole) {
				t.Fatalf("operation %d, packed again: %d of %d bytes, %v", n, len(got), len(whole), err)
			}
		}
	}
}
