package contexts

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/fsx"
)

// Bad inputs of reliability E 1–29 at the level of one context: each is
// refused with its exit code, changes nothing, and leaves its neighbour alone.
func TestDamagedContexts(t *testing.T) {
	for _, c := range []struct {
		name string
		harm func(t *testing.T, dir string) // dir of the context
		code int
	}{
		{"empty log", edit(func([]byte) []byte { return nil }), ExitDamage},
		{"bad line in the middle", edit(func(b []byte) []byte { b[bytes.IndexByte(b, '\n')+30] ^= 1; return b }), ExitDamage},
		{"bad last line", edit(func(b []byte) []byte { b[len(b)-20] ^= 1; return b }), ExitDamage},
		{"line removed", edit(func(b []byte) []byte { return b[bytes.IndexByte(b, '\n')+1:] }), ExitDamage},
		{"line doubled", edit(func(b []byte) []byte { return append(b, b[bytes.LastIndexByte(b[:len(b)-1], '\n')+1:]...) }), ExitDamage},
		{"CRLF", edit(func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")) }), ExitDamage},
		{"BOM", edit(func(b []byte) []byte { return append([]byte("\ufeff"), b...) }), ExitDamage},
		{"endless line", edit(func(b []byte) []byte { return append(b, bytes.Repeat([]byte("x"), 3<<20)...) }), ExitDamage},
		{"deep nesting", line("message.added", 1, `{"x":`+strings.Repeat("[", 1000)+strings.Repeat("]", 1000)+`}`), ExitDamage},
		{"overflow", line("llm.requested", 1, `{"messages":99007199254740993000}`), ExitDamage},
		{"wrong type of a field", line("message.added", 1, `{"role":7}`), ExitDamage},
		{"newer version", line("message.added", 99, `{"role":"user"}`), ExitUnsupported},
		{"created twice", line("context.created", 1, `{"uuid":"`+idA+`"}`), ExitDamage},
		{"log of another context", replaceLog(line("context.created", 1, `{"uuid":"`+idB+`"}`)), ExitDamage},
		{"log without its creation", replaceLog(line("message.added", 1, `{"role":"user"}`)), ExitDamage},
		{"no log", remove, ExitDamage},
		{"log is a FIFO", replaceLog(func(t *testing.T, dir string) { must(t, syscall.Mkfifo(logOf(dir), 0o600)) }), ExitDamage},
		{"log is a device", replaceLog(func(t *testing.T, dir string) { must(t, os.Symlink("/dev/zero", logOf(dir))) }), ExitDamage},
		{"log is a directory", replaceLog(func(t *testing.T, dir string) { must(t, os.Mkdir(logOf(dir), 0o700)) }), ExitDamage},
		{"log is a link to a log", func(t *testing.T, dir string) {
			must(t, os.Rename(logOf(dir), dir+"/moved"), os.Symlink("moved", logOf(dir)))
		}, ExitDamage},
		{"context is a link", func(t *testing.T, dir string) {
			to := filepath.Join(filepath.Dir(filepath.Dir(dir)), "elsewhere")
			must(t, os.Rename(dir, to), os.Symlink(to, dir))
		}, ExitDamage},
		{"context is a file", func(t *testing.T, dir string) { must(t, os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)) }, ExitDamage},
		{"ahead of its log", func(t *testing.T, dir string) {
			must(t, os.Rename(dir, filepath.Join(filepath.Dir(filepath.Dir(dir)), "completed", idA)))
		}, ExitDamage},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, dir := realStore(t, Options{})
			made(t, s, idA, &event.MessageAdded{Role: "user", Content: event.T("hello")})
			made(t, s, idB)
			c.harm(t, filepath.Join(dir, "running", idA))
			before := tree(t, dir)
			_, err := s.Acquire(idA, nil)
			wantExit(t, err, c.code)
			if after := tree(t, dir); after != before {
				t.Errorf("changed from\n%s\nto\n%s", before, after)
			}
			l, err := s.lockContext(idA)
			must(t, err) // the lock was given back
			l.Close()
			if c, _ := acquire(t, s, idB); c.Dir() != Running {
				t.Errorf("the neighbour is in %s", c.Dir())
			}
		})
	}
}

func logOf(dir string) string { return filepath.Join(dir, eventlog.FileName) }

func edit(f func([]byte) []byte) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		data, err := os.ReadFile(logOf(dir))
		must(t, err, os.WriteFile(logOf(dir), f(data), 0o600))
	}
}

func remove(t *testing.T, dir string) { must(t, os.Remove(logOf(dir))) }

func replaceLog(f func(*testing.T, string)) func(*testing.T, string) {
	return func(t *testing.T, dir string) { remove(t, dir); f(t, dir) }
}

// line appends a line that is valid for the log whatever its data means.
func line(kind string, v int, data string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		var head eventlog.Head
		old, err := os.ReadFile(logOf(dir))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		sum := "0000000000000000"
		if len(old) > 0 {
			for rec, err := range eventlog.Read(bytes.NewReader(old)) {
				must(t, err)
				head.Seq = rec.Seq
			}
			lines := bytes.Split(bytes.TrimSuffix(old, []byte("\n")), []byte("\n"))
			sum = lineHash(lines[len(lines)-1])
		}
		must(t, os.WriteFile(logOf(dir), append(old, rawLine(head.Seq+1, kind, v, data, sum)...), 0o600))
	}
}

// tree lists names, modes and sizes of everything but locks.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	must(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && filepath.Base(path) != locksDir && filepath.Ext(path) != ".lock" {
			fmt.Fprintln(&b, path, info.Mode(), info.Size())
		}
		return err
	}))
	return b.String()
}

func TestTornTailIsCutAndKept(t *testing.T) {
	for name, tail := range map[string]string{
		"no newline": `{"seq":3,"time":"2026`,
		"NULs":       strings.Repeat("\x00", 100),
		"garbage":    "\x01\x02\xff",
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := realStore(t, Options{})
			made(t, s, idA, &event.MessageAdded{Role: "user", Content: event.T("hello")})
			edit(func(b []byte) []byte { return append(b, tail...) })(t, filepath.Join(dir, "running", idA))
			c, events := acquire(t, s, idA)
			if len(events) != 2 || c.Torn() == nil || c.Torn().Bytes != int64(len(tail)) {
				t.Fatalf("%d events, torn %v", len(events), c.Torn())
			}
			if kept, err := os.ReadFile(filepath.Join(dir, c.Torn().Copy)); err != nil || string(kept) != tail {
				t.Errorf("quarantine holds %q, %v", kept, err)
			}
			if e := add(t, c, &event.ProcessRecovered{TornBytes: c.Torn().Bytes, Quarantine: c.Torn().Copy}); e.Seq != 3 {
				t.Errorf("next seq is %d", e.Seq)
			}
		})
	}
}

// A directory behind its log is moved, whichever one it is in.
func TestWrongDirectoryIsCorrected(t *testing.T) {
	for _, c := range []struct {
		last     event.Body
		from, to Dir
	}{
		{&event.ContextPaused{}, Running, Paused},
		{&event.ContextAwaiting{}, Running, Paused},
		{&event.ContextResumed{}, Paused, Running},
		{&event.MessageAdded{}, Paused, Running},
		{&event.ContextCompleted{}, Running, Completed},
		{&event.ContextStopped{}, Paused, Completed},
		{&event.ContextFailed{}, Running, Completed},
		{&event.ContextFailed{}, Completed, Completed},
	} {
		t.Run(fmt.Sprintf("%s in %s", c.last.Type(), c.from), func(t *testing.T) {
			s, dir := realStore(t, Options{})
			made(t, s, idA, c.last)
			if c.from != c.to {
				must(t, os.Rename(filepath.Join(dir, string(c.to), idA), filepath.Join(dir, string(c.from), idA)))
			}
			got, _ := acquire(t, s, idA)
			if got.Dir() != c.to || !exists(t, logOf(filepath.Join(dir, string(c.to), idA))) {
				t.Errorf("in %s", got.Dir())
			}
			if found, err := s.dirsWith(idA); err != nil || len(found) != 1 {
				t.Errorf("found in %v, %v", found, err)
			}
		})
	}
}

func TestTwoCopies(t *testing.T) {
	var warned []error
	s, dir := realStore(t, Options{Warn: func(err error) { warned = append(warned, err) }})
	made(t, s, idA)
	short := filepath.Join(dir, "paused", idA)
	must(t, os.CopyFS(short, os.DirFS(filepath.Join(dir, "running", idA))))
	c, _ := acquire(t, s, idA)
	must(t, c.Close()) // equal copies: one is left
	must(t, os.CopyFS(short, os.DirFS(filepath.Join(dir, "running", idA))))
	c, _ = acquire(t, s, idA)
	add(t, c, &event.MessageAdded{Role: "user"})
	must(t, c.Close(), os.Remove(logOf(filepath.Join(dir, ".quarantine", idA+".paused.1"))))
	must(t, os.CopyFS(short, os.DirFS(filepath.Join(dir, ".quarantine", idA+".paused.2"))))
	if n := len(drain(t, s, idA)); n != 2 {
		t.Errorf("readers see %d events of the longer log", n)
	}
	c, events := acquire(t, s, idA)
	if len(events) != 2 || c.Dir() != Running || exists(t, short) {
		t.Errorf("%d events in %s", len(events), c.Dir())
	}
	if !exists(t, logOf(filepath.Join(dir, ".quarantine", idA+".paused.3"))) || len(warned) != 3 {
		t.Errorf("the other copy is not in quarantine: %v", warned)
	}
}

func drain(t *testing.T, s *Store, id string) (events []event.Event) {
	t.Helper()
	for e, err := range s.Events(id) {
		must(t, err)
		events = append(events, e)
	}
	return events
}

// A store removed under a running process is an I/O error, not a success.
func TestStoreRemoved(t *testing.T) {
	s, dir := realStore(t, Options{})
	c, err := s.Create(created(idA), at)
	must(t, err)
	defer c.Close()
	must(t, os.RemoveAll(dir))
	_, err = c.Append(event.Event{Time: at, Body: &event.MessageAdded{}})
	wantExit(t, err, ExitIO)
	wantExit(t, second(c.Append(event.Event{Time: at, Body: &event.MessageAdded{}})), ExitIO)
	wantExit(t, second(s.Create(created(idB), at)), ExitIO)
	wantExit(t, second(s.LockKey(key)), ExitIO)
	for _, err := range s.List() {
		wantExit(t, err, ExitIO)
	}
	_, _, err = s.Active(key)
	wantExit(t, err, ExitIO)
	wantExit(t, s.Clear(idA, Pause), ExitIO)
}

// The disk fills up during the work: 75, and all is well when there is room.
func TestDiskFull(t *testing.T) {
	m := fsx.NewMem()
	s, err := Open(m, Options{})
	must(t, err)
	c, err := s.Create(created(idA), at)
	must(t, err)
	for _, full := range []event.Body{
		&event.ToolReplied{Content: event.T(strings.Repeat("x", event.MaxResult+1))}, // fails in the blob
		&event.MessageAdded{Role: "user"},                                            // fails in the log
	} {
		m.FailAt(m.Ops()+1, syscall.ENOSPC)
		wantExit(t, second(c.Append(event.Event{Time: at, Body: full})), ExitTemporary)
	}
	must(t, c.Close())
	c, events := acquire(t, s, idA)
	if e := add(t, c, &event.MessageAdded{Role: "user"}); e.Seq != 2 || len(events) != 1 {
		t.Errorf("seq %d after %d events", e.Seq, len(events))
	}
}

func TestBlobDamage(t *testing.T) {
	s, dir := realStore(t, Options{})
	big := strings.Repeat("x", event.MaxResult+1)
	made(t, s, idA, &event.ToolReplied{Content: event.T(big)})
	reply := drain(t, s, idA)[1].Body.(*event.ToolReplied)
	if whole, err := s.Blob(idA, reply.Content.Blob); err != nil || string(whole) != big {
		t.Fatalf("%d bytes, %v", len(whole), err)
	}
	file := filepath.Join(dir, "running", idA, "blobs", reply.Content.Blob)
	must(t, os.WriteFile(file, []byte(big[1:]), 0o600))
	wantExit(t, second(s.Blob(idA, reply.Content.Blob)), ExitDamage)
	must(t, os.Remove(file))
	wantExit(t, second(s.Blob(idA, reply.Content.Blob)), ExitDamage)
	wantExit(t, second(s.Blob(idA, "../events.jsonl")), ExitDamage)
	acquire(t, s, idA) // the context itself is not affected
}

// Leftovers in .staging/ go when they are old and nobody holds them.
func TestSweep(t *testing.T) {
	s, dir := realStore(t, Options{})
	staged := func(name string) string { return filepath.Join(dir, stagingDir, name) }
	old := time.Now().Add(-2 * time.Hour)
	for _, name := range []string{idA, idB, idC, "leftover.tmp"} {
		must(t, os.Mkdir(staged(name), 0o700), os.WriteFile(logOf(staged(name)), nil, 0o600))
		if name != idC {
			must(t, os.Chtimes(staged(name), old, old))
		}
	}
	l, err := s.lockContext(idB)
	must(t, err)
	defer l.Close()
	must(t, second(openReal(dir, Options{Now: time.Now})))
	for name, want := range map[string]bool{idA: false, idB: true, idC: true, "leftover.tmp": false} {
		if exists(t, staged(name)) != want {
			t.Errorf("%s is there: %v", name, !want)
		}
	}
}

func TestVisitError(t *testing.T) {
	s, _ := realStore(t, Options{})
	made(t, s, idA)
	stop := errors.New("stop")
	if _, err := s.Acquire(idA, func(event.Event) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	acquire(t, s, idA)
}

// Somebody who ignores the lock is noticed before the work goes on.
func TestForeignWriter(t *testing.T) {
	s, dir := realStore(t, Options{})
	c, err := s.Create(created(idA), at)
	must(t, err)
	defer c.Close()
	add(t, c, &event.ContextPaused{})
	line("message.added", 1, `{"role":"user"}`)(t, filepath.Join(dir, "running", idA))
	wantExit(t, c.Relocate(), ExitDamage)
	wantErr(t, second(c.Append(event.Event{Time: at, Body: &event.ContextResumed{}})), eventlog.ErrPoisoned)
}
