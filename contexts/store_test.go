package contexts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/fsx"
)

func TestLayoutIsPrivate(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	s, dir := realStore(t, Options{})
	made(t, s, idA, &event.ToolReplied{Content: event.T(strings.Repeat("x", event.MaxResult+1))})
	c, _ := acquire(t, s, idA)
	must(t, c.WriteFile("metadata.json", nil), c.AppendFile("planning/"+idA+".jsonl", nil), s.Send(idA, Stop, nil))
	must(t, second(s.Key()))
	must(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	}))
}

func TestRefusedStores(t *testing.T) {
	for _, c := range []struct {
		name string
		harm func(t *testing.T, dir string)
		code int
		says string
	}{
		{"root open to all", chmod(".", 0o777), ExitConfig, "chmod 700 "},
		{"root readable by the group", chmod(".", 0o750), ExitConfig, "chmod 700 "},
		{"running open to all", chmod("running", 0o777), ExitConfig, "/running"},
		{"locks writable by the group", chmod(".locks", 0o770), ExitConfig, "/.locks"},
		{"running is a link", func(t *testing.T, dir string) {
			must(t, os.Rename(dir+"/running", dir+"/r"), os.Symlink("r", dir+"/running"))
		}, ExitDamage, "not a directory"},
		{"completed is a file", func(t *testing.T, dir string) {
			must(t, os.Remove(dir+"/completed"), os.WriteFile(dir+"/completed", nil, 0o600))
		}, ExitDamage, "not a directory"},
	} {
		for _, readOnly := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				_, dir := realStore(t, Options{})
				c.harm(t, dir)
				_, err := openReal(dir, Options{ReadOnly: readOnly})
				wantExit(t, err, c.code)
				if !strings.Contains(err.Error(), c.says) {
					t.Errorf("says %v", err)
				}
			})
		}
	}
}

func chmod(name string, mode os.FileMode) func(*testing.T, string) {
	return func(t *testing.T, dir string) { must(t, os.Chmod(filepath.Join(dir, name), mode)) }
}

// owned is a file of another user; to make a real one takes root.
type owned struct{ fs.FileInfo }

func (owned) Sys() any          { return &syscall.Stat_t{Uid: uint32(os.Geteuid() + 1)} }
func (owned) Mode() fs.FileMode { return 0o700 }

func TestOwner(t *testing.T) {
	s, _ := realStore(t, Options{})
	err := s.checkOwn("running", owned{}, "700")
	wantExit(t, err, ExitConfig)
	if !strings.Contains(err.Error(), "belongs to user") {
		t.Errorf("says %v", err)
	}
}

// A link that takes the place of running/ after the start is not followed.
func TestLinkedDirectoryWhileOpen(t *testing.T) {
	s, dir := realStore(t, Options{})
	made(t, s, idA)
	must(t, os.Rename(dir+"/running", dir+"/r"), os.Symlink("r", dir+"/running"))
	wantExit(t, second(s.Acquire(idA, nil)), ExitDamage)
	wantExit(t, second(s.Create(created(idB), at)), ExitDamage)
	_, _, err := s.Active(key)
	wantExit(t, err, ExitDamage)
}

func TestReadOnlyStore(t *testing.T) {
	empty := t.TempDir()
	must(t, os.Chmod(empty, 0o700))
	s, err := openReal(empty, Options{ReadOnly: true})
	must(t, err)
	for e, err := range s.List() {
		t.Errorf("got %v, %v", e, err)
	}
	wantErr(t, second(s.Acquire(idA, nil)), ErrReadOnly)
	wantErr(t, second(s.LockKey(key)), ErrReadOnly)
	wantErr(t, second(s.Find(idA)), ErrUnknown)
	if left, err := os.ReadDir(empty); err != nil || len(left) != 0 {
		t.Errorf("it made %v, %v", left, err)
	}
	full, dir := realStore(t, Options{})
	made(t, full, idA)
	s, err = openReal(dir, Options{ReadOnly: true})
	must(t, err)
	wantErr(t, s.Send(idA, Stop, nil), ErrReadOnly)
	if len(drain(t, s, idA)) != 1 {
		t.Error("events are not read")
	}
}

func wantErr(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

func TestListAndFind(t *testing.T) {
	s, dir := realStore(t, Options{})
	made(t, s, idB)
	made(t, s, idC, &event.ContextCompleted{})
	made(t, s, idA, &event.ContextPaused{})
	upper := strings.ToUpper(idC)
	for _, name := range []string{upper, "with space", "{" + idC + "}", strings.ReplaceAll(idC, "-", ""), idC + "."} {
		must(t, os.Mkdir(filepath.Join(dir, "running", name), 0o700))
	}
	link := "0a1b2c3d-0000-4000-8000-00000000000f"
	must(t, os.Symlink(idB, filepath.Join(dir, "running", link)))
	var got []Entry
	warnings := 0
	for e, err := range s.List() {
		var w *Warning
		switch {
		case errors.As(err, &w) && ExitCode(err) == ExitOK:
			warnings++
		case err != nil:
			t.Error(err)
		default:
			got = append(got, e)
		}
	}
	want := []Entry{{idB, Running}, {link, Running}, {idA, Paused}, {idC, Completed}}
	if fmt.Sprint(got) != fmt.Sprint(want) || warnings != 5 {
		t.Errorf("got %v and %d warnings, want %v and 5", got, warnings, want)
	}
	for ref, want := range map[string]string{idA: idA, upper: idC, "ffff": idC, "FFFF00": idC, idB[:35]: "", idC[:14]: idC} {
		id, err := s.Find(ref)
		if id != want {
			t.Errorf("%q is %q, %v", ref, id, err)
		}
	}
	for _, ref := range []string{"", "fff", "abcd", "-1", "zzzz", "ffff-", "../x", "0a1b2c3d-0000-4000-8000-0000000000ff"} {
		_, err := s.Find(ref)
		wantErr(t, err, ErrUnknown)
		wantExit(t, err, ExitUsage)
	}
	var many *AmbiguousError
	_, err := s.Find("0a1b2c3d-00")
	if !errors.As(err, &many) || fmt.Sprint(many.Candidates) != fmt.Sprint([]string{idA, idB, link}) {
		t.Errorf("got %v", err)
	}
	wantExit(t, err, ExitUsage)
}

// Damaged contexts do not keep Live from finding the right one.
func TestLive(t *testing.T) {
	var warned []error
	s, dir := realStore(t, Options{Warn: func(err error) { warned = append(warned, err) }})
	made(t, s, idA)
	made(t, s, idC, &event.ContextPaused{})
	edit(func(b []byte) []byte { b[40] ^= 1; return b })(t, filepath.Join(dir, "running", idA))
	other := created(idB)
	other.TaskKey = "forge.example/o/r/issues/13"
	c, err := s.Create(other, at)
	must(t, err, c.Close())
	if id, found, err := s.Active(key); id != idC || !found || err != nil {
		t.Errorf("got %q %v %v", id, found, err)
	}
	if len(warned) != 1 || ExitCode(warned[0]) != ExitDamage {
		t.Errorf("warned of %v", warned)
	}
	c, _ = acquire(t, s, idC)
	add(t, c, &event.ContextStopped{})
	must(t, c.Relocate(), c.Close())
	if id, found, err := s.Active(key); found || err != nil {
		t.Errorf("got %q %v", id, err)
	}
}

// resuming moves a context from paused/ to running/ just before paused/ is read,
// as another process may.
type resuming struct{ fsx.FS }

func (r resuming) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == string(Paused) {
		if err := r.Rename("paused/"+idA, "running/"+idA); err != nil && !isMissing(err) { // the second time it is there
			return nil, err
		}
	}
	return r.FS.ReadDir(name)
}

func TestResumedWhileLooking(t *testing.T) {
	for name, look := range map[string]func(*Store) string{
		"list": func(s *Store) (found string) {
			for e, err := range s.List() {
				must(t, err)
				found += e.UUID
			}
			return found
		},
		"live": func(s *Store) string { id, _, err := s.Active(key); must(t, err); return id },
		"find": func(s *Store) string { id, err := s.Find(idA[:8]); must(t, err); return id },
	} {
		m := fsx.NewMem()
		s, err := Open(m, Options{})
		must(t, err)
		made(t, s, idA, &event.ContextPaused{})
		s.fs = resuming{m}
		if found := look(s); found != idA {
			t.Errorf("%s: found %q", name, found)
		}
	}
}

func TestRoom(t *testing.T) {
	m := fsx.NewMem()
	s, err := Open(m, Options{})
	must(t, err)
	for _, c := range []struct {
		bytes, nodes uint64
		code         int
	}{{64 << 20, 1000, ExitOK}, {64<<20 - 1, 1000, ExitTemporary}, {64 << 20, 999, ExitTemporary}} {
		m.SetFree(c.bytes, c.nodes)
		if err := s.Room(); ExitCode(err) != c.code {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestFileNames(t *testing.T) {
	s, _ := realStore(t, Options{})
	c, err := s.Create(created(idA), at)
	must(t, err)
	defer c.Close()
	for _, name := range []string{"metadata.json", "messages.jsonl", "task_state.json", "planning/" + idA + ".jsonl"} {
		must(t, c.AppendFile(name, []byte("a")), c.WriteFile(name, []byte("b")), c.AppendFile(name, []byte("c")))
		if data, err := c.ReadFile(name); err != nil || string(data) != "bc" {
			t.Errorf("%s holds %q, %v", name, data, err)
		}
	}
	for _, name := range []string{"", ".", "..", "events.jsonl", "events.jsonl.suspect", "a.json.tmp", "../x.json", "/x.json",
		".json", "blobs", "blobs/x.json", "planning/x.jsonl", "planning/" + strings.ToUpper(idC) + ".jsonl", "planning/../x.jsonl",
		"a/b.json", "a\x00.json", "A.json", "a b.json"} {
		if err := errors.Join(c.WriteFile(name, nil), c.AppendFile(name, nil), second(c.ReadFile(name))); !errors.Is(err, ErrName) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if len(drain(t, s, idA)) != 1 {
		t.Error("the log was touched")
	}
}

// What Append returns is what is read back.
func TestAppendReturnsWhatIsRead(t *testing.T) {
	s, _ := realStore(t, Options{})
	c, err := s.Create(created(idA), at)
	must(t, err)
	defer c.Close()
	now := time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.FixedZone("x", 9*3600))
	big := &event.ToolReplied{Content: event.T(strings.Repeat("語", event.MaxResult))}
	e, err := c.Append(event.Event{Time: now, Cause: 1, Redacted: true, Body: big})
	must(t, err)
	got := drain(t, s, idA)[1]
	if e.Time != got.Time || e.Seq != got.Seq || e.Cause != got.Cause || got.Redacted != e.Redacted ||
		!reflect.DeepEqual(e.Body, got.Body) || !big.Content.Spilled() {
		t.Errorf("returned %+v, read %+v", e, got)
	}
	if h := c.Head(); h.Seq != e.Seq {
		t.Errorf("head %+v", h)
	}
	wantErr(t, second(c.Append(event.Event{Time: at, Cause: 99, Body: big})), eventlog.ErrDraft)
	add(t, c, &event.MessageAdded{}) // a bad event does no harm
}

func TestExitCode(t *testing.T) {
	damage, full := &DamageError{"x", "y"}, &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	for _, c := range []struct {
		err  error
		code int
	}{
		{nil, ExitOK}, {ErrBusy, ExitOK}, {fmt.Errorf("x: %w", ErrBusy), ExitOK}, {&Warning{}, ExitOK},
		{errors.New("x"), ExitFailed}, {uncomparable{"x"}, ExitFailed},
		{fmt.Errorf("x: %w", ErrUnknown), ExitUsage}, {&AmbiguousError{}, ExitUsage},
		{damage, ExitDamage}, {&eventlog.DamageError{}, ExitDamage}, {fmt.Errorf("x: %w", eventlog.ErrBlobMissing), ExitDamage},
		{fmt.Errorf("x: %w", event.ErrNewer), ExitUnsupported},
		{syscall.EIO, ExitIO}, {fs.ErrNotExist, ExitIO}, {&fs.PathError{Err: syscall.EROFS}, ExitIO}, {eventlog.ErrPoisoned, ExitIO},
		{full, ExitTemporary}, {os.NewSyscallError("x", syscall.EMFILE), ExitTemporary}, {syscall.ENFILE, ExitTemporary},
		{&os.LinkError{Err: syscall.EDQUOT}, ExitTemporary}, {syscall.EFBIG, ExitTemporary}, {ErrNoRoom, ExitTemporary},
		{&AccessError{}, ExitConfig},
		{errors.Join(damage, event.ErrNewer), ExitUnsupported}, {errors.Join(full, damage), ExitTemporary},
		{errors.Join(full, syscall.EIO, ErrBusy), ExitIO}, {errors.Join(&AccessError{}, syscall.EIO), ExitConfig},
		{errors.Join(errors.New("x"), damage), ExitDamage}, {errors.Join(errors.New("x"), ErrBusy), ExitFailed},
	} {
		if got := ExitCode(c.err); got != c.code {
			t.Errorf("%v: %d, want %d", c.err, got, c.code)
		}
	}
}

type uncomparable []string

func (u uncomparable) Error() string { return u[0] }
