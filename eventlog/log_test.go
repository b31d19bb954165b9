package eventlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"agent/internal/fsx"
)

func keepAll(Record) error { return nil }

func newOS(t testing.TB) (*fsx.OS, string) {
	t.Helper()
	dir := t.TempDir()
	fsys, err := fsx.OpenOS(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys, dir
}

func write(t testing.TB, fsys fsx.FS, name, content string) {
	t.Helper()
	if err := fsx.WriteFile(fsys, name, []byte(content)); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, fsys fsx.FS, name string) string {
	t.Helper()
	data, err := fsx.ReadFile(fsys, name, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestLifeOfALog: create, append, reopen with a torn tail, append again.
func TestLifeOfALog(t *testing.T) {
	fsys, dir := newOS(t)
	if err := fsys.Mkdir("c", 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := Create(fsys, "c")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Create(fsys, "c"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("created twice: %v", err)
	}
	for n := uint64(1); n <= 3; n++ {
		r, err := l.Append(draft("a.b", fmt.Sprintf(`{"n":%d}`, n)))
		if err != nil || r.Seq != n || string(r.Data) != fmt.Sprintf(`{"n":%d}`, n) || l.Head().Seq != n {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	if _, err := l.Append(draft("BAD", `{}`)); !errors.Is(err, ErrDraft) {
		t.Errorf("bad draft: %v", err)
	}
	if _, err := l.Append(draft("long", `{"a":"`+strings.Repeat("x", MaxLine)+`"}`)); !errors.Is(err, ErrTooLong) {
		t.Errorf("long draft: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "c", FileName)
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(f, `{"seq":4`)
	f.Close()

	visited := 0
	again, torn, err := Open(fsys, "c", ".quarantine/u", func(Record) error { visited++; return nil })
	if err != nil || visited != 3 {
		t.Fatalf("%d records, %v", visited, err)
	}
	defer again.Close()
	if torn == nil || torn.Seq != 4 || torn.Offset != l.Size() || torn.Bytes != 8 || read(t, fsys, torn.Copy) != `{"seq":4` {
		t.Errorf("torn %+v", torn)
	}
	if again.Head() != l.Head() || again.Size() != l.Size() {
		t.Errorf("head %+v, size %d", again.Head(), again.Size())
	}
	if r, err := again.Append(draft("c", `{}`)); err != nil || r.Seq != 4 {
		t.Errorf("%+v, %v", r, err)
	}
	if info, err := os.Stat(name); err != nil || info.Size() != again.Size() || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	n := 0
	for r, err := range ReadFile(fsys, "c") {
		if n++; err != nil || r.Seq != uint64(n) {
			t.Errorf("%+v, %v", r, err)
		}
	}
	for line, err := range readAllFile(fsys, "c") {
		if n--; err != nil || line.Err != nil || line.Record.Seq != uint64(4-n) {
			t.Errorf("%+v, %v", line, err)
		}
	}
	if n != 0 {
		t.Errorf("%d records more in one reading than in the other", n)
	}
}

func TestQuarantineKeepsEveryCopy(t *testing.T) {
	m := fsx.NewMem()
	whole := string(fifty(t))
	for i, tail := range []string{"one", "two", "three"} {
		write(t, m, FileName, whole+tail)
		l, torn, err := Open(m, ".", "q/u", keepAll)
		if err != nil || torn == nil {
			t.Fatal(torn, err)
		}
		l.Close()
		want := fmt.Sprintf("q/u-%d", len(whole))
		if i > 0 {
			want += fmt.Sprintf(".%d", i)
		}
		if torn.Copy != want || read(t, m, torn.Copy) != tail || read(t, m, FileName) != whole {
			t.Errorf("%+v", torn)
		}
	}
}

func TestOpenNeverChangesADamagedLog(t *testing.T) {
	for name, bend := range map[string]func(string) string{
		"bit":      func(s string) string { return s[:900] + "~" + s[901:] },
		"last":     func(s string) string { return s[:len(s)-5] + "~" + s[len(s)-4:] },
		"newline":  func(s string) string { return s[:len(s)-1] + "~" },
		"bad data": func(s string) string { return string(seal(strings.Replace(goodFirst, `{}`, `{"a":01}`, 1))) + "\n" },
		"deep data": func(s string) string {
			return string(seal(strings.Replace(goodFirst, `{}`, `{"a":`+strings.Repeat("[", 100_000)+`}`, 1))) + "\n"
		},
	} {
		m := fsx.NewMem()
		bent := bend(string(fifty(t)))
		write(t, m, FileName, bent)
		write(t, m, suspectName, "")
		before := m.Ops()
		_, _, err := Open(m, ".", "q/u", keepAll)
		var damage *DamageError
		if !errors.As(err, &damage) {
			t.Errorf("%s: %v", name, err)
		}
		if read(t, m, FileName) != bent || m.Ops() != before {
			t.Errorf("%s: something was written", name)
		}
	}
}

const goodFirst = `{"seq":1,"time":"2026-11-27T20:41:48.123456Z","type":"a","v":1,"cause":0,` +
	`"data":{},"prev":"0000000000000000","crc":"00000000"}`

func TestVisitStopsOpen(t *testing.T) {
	m := fsx.NewMem()
	write(t, m, FileName, string(fifty(t)))
	stop := errors.New("stop")
	if _, _, err := Open(m, ".", "q/u", func(Record) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
}

func TestOddFilesAreDamage(t *testing.T) {
	for name, place := range map[string]func(log string) error{
		"link":      func(log string) error { return os.Symlink("real", log) },
		"FIFO":      func(log string) error { return syscall.Mkfifo(log, 0o600) },
		"directory": func(log string) error { return os.Mkdir(log, 0o700) },
	} {
		fsys, dir := newOS(t)
		if err := os.WriteFile(filepath.Join(dir, "real"), fifty(t), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := place(filepath.Join(dir, FileName)); err != nil {
			t.Fatal(err)
		}
		var damage *DamageError
		if _, _, err := Open(fsys, ".", "q/u", keepAll); !errors.As(err, &damage) {
			t.Errorf("%s: open %v", name, err)
		}
		if _, err := Salvage(fsys, ".", "q/u"); !errors.As(err, &damage) {
			t.Errorf("%s: salvage %v", name, err)
		}
		for _, err := range ReadFile(fsys, ".") {
			if !errors.As(err, &damage) {
				t.Errorf("%s: read %v", name, err)
			}
		}
		for _, err := range readAllFile(fsys, ".") {
			if !errors.As(err, &damage) {
				t.Errorf("%s: read all %v", name, err)
			}
		}
	}
	fsys, _ := newOS(t)
	if _, _, err := Open(fsys, ".", "q/u", keepAll); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

// A hard link is how backups keep a log: that is no damage.
func TestHardLinkIsFine(t *testing.T) {
	fsys, dir := newOS(t)
	if err := os.WriteFile(filepath.Join(dir, FileName), fifty(t), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(dir, FileName), filepath.Join(dir, "backup")); err != nil {
		t.Fatal(err)
	}
	log, torn, err := Open(fsys, ".", "q/u", keepAll)
	if err != nil || torn != nil || log.Head().Seq != 50 {
		t.Fatalf("%v %v", torn, err)
	}
	if err := log.Close(); err != nil {
		t.Error(err)
	}
	for _, err := range ReadFile(fsys, ".") {
		if err != nil {
			t.Error(err)
		}
	}
}

func TestSalvage(t *testing.T) {
	whole := string(fifty(t))
	at := ends([]byte(whole))
	bent := whole[:at[30]+9] + "~" + whole[at[30]+10:] + "torn"
	m := fsx.NewMem()
	write(t, m, FileName, bent)
	write(t, m, suspectName, "")
	lost, err := Salvage(m, ".", "q/u")
	if err != nil {
		t.Fatal(err)
	}
	if lost.Head != headAt([]byte(whole), at, 30) || lost.Offset != int64(at[30]) || lost.Lines != 21 ||
		lost.Bytes != int64(len(bent)-at[30]) || lost.Reason == "" || read(t, m, lost.Copy) != bent {
		t.Errorf("%+v", lost)
	}
	if read(t, m, FileName) != whole[:at[30]] {
		t.Error("log is not its valid prefix")
	}
	before := m.Ops()
	if lost, err := Salvage(m, ".", "q/u"); err != nil || lost.Bytes != 0 || m.Ops() != before {
		t.Errorf("of a good log: %+v, %v", lost, err)
	}
	l, torn, err := Open(m.Crash(1, 0), ".", "q/u", keepAll)
	if err != nil || torn != nil || l.Head() != lost.Head {
		t.Errorf("%v, %v", torn, err)
	}
}

func TestSalvageBadData(t *testing.T) {
	line := string(seal(goodFirst))
	second := string(seal(fmt.Sprintf(strings.NewReplacer(`"seq":1`, `"seq":2`, `{}`, `{"a":01}`, `0000000000000000`, `%016x`).Replace(goodFirst), hash([]byte(line)))))
	m := fsx.NewMem()
	write(t, m, FileName, line+"\n"+second+"\n")
	lost, err := Salvage(m, ".", "q/u")
	if err != nil || lost.Head.Seq != 1 || lost.Head.Hash != hash([]byte(line)) || read(t, m, FileName) != line+"\n" {
		t.Errorf("%+v, %v", lost, err)
	}
	write(t, m, FileName, second+"\n")
	if _, err := Salvage(m, ".", "q/u"); !errors.Is(err, ErrNothingValid) || read(t, m, FileName) != second+"\n" {
		t.Error(err)
	}
}

// readAllFile is ReadAll of the log in a directory.
func readAllFile(fsys fsx.FS, dir string) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		f, err := OpenRead(fsys, dir)
		if err != nil {
			yield(Line{}, err)
			return
		}
		defer f.Close()
		ReadAll(f)(yield)
	}
}
