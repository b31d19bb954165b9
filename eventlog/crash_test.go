package eventlog

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"

	"agent/internal/fsx"
)

// run lives one life of a process with a log: it opens or creates it, appends
// up to three events, and returns the seq of the last one acknowledged.
func run(m *fsx.Mem) (acked uint64, torn *TornError, err error) {
	var l *Log
	if _, missing := m.Lstat(FileName); missing != nil {
		l, err = Create(m, ".")
	} else {
		l, torn, err = Open(m, ".", "q/u", keepAll)
	}
	if err != nil {
		return 0, torn, err
	}
	acked = l.Head().Seq
	for n := range 3 {
		r, err := l.Append(draft("a.b", fmt.Sprintf(`{"n":%d,"text":%q}`, n, strings.Repeat("x", 700*n))))
		if err != nil {
			return acked, torn, err
		}
		acked = r.Seq
	}
	return acked, torn, nil
}

// TestKillAndCrashAtEveryOperation: acknowledged events survive everything, at
// most one event was not acknowledged and yet survives, nothing is ever damage.
func TestKillAndCrashAtEveryOperation(t *testing.T) {
	seenTorn, seenUnacked, points := 0, 0, 0
	for _, inside := range []bool{false, true} {
		for n := 1; ; n++ {
			m := fsx.NewMem()
			m.KillAt(n, inside)
			acked, _, err := run(m)
			if err == nil {
				break
			}
			points++
			if !errors.Is(err, fsx.ErrKilled) {
				t.Fatal(err)
			}
			lives := []*fsx.Mem{m.Kill()}
			for seed := range int64(30) {
				lives = append(lives, m.Crash(seed, float64(seed%5)/4))
			}
			for i, next := range lives {
				found, torn := survivors(t, next)
				if found < acked || found > acked+1 {
					t.Fatalf("killed at %d (inside %v), life %d: %d acknowledged, %d found", n, inside, i, acked, found)
				}
				if torn {
					seenTorn++
				}
				if found > acked {
					seenUnacked++
				}
			}
		}
	}
	t.Logf("%d points, %d torn tails, %d survivors without acknowledgement", points, seenTorn, seenUnacked)
	if seenTorn == 0 || seenUnacked == 0 {
		t.Error("the test never saw a torn tail or an unacknowledged survivor")
	}
}

// survivors opens what a crash left, as the next process would, and checks that
// what it found survives the next power cut.
func survivors(t *testing.T, m *fsx.Mem) (found uint64, torn bool) {
	t.Helper()
	if _, err := m.Lstat(FileName); err != nil {
		return 0, false
	}
	l, tail, err := Open(m, ".", "q/u", keepAll)
	if err != nil {
		t.Fatalf("open after a crash: %v", err)
	}
	after, _, err := Open(m.Crash(7, 0), ".", "q/u", keepAll)
	if err != nil || after.Head() != l.Head() {
		t.Fatalf("found %+v, after one more power cut %v, %v", l.Head(), after, err)
	}
	return l.Head().Seq, tail != nil
}

// TestCrashDuringRecovery: recovery itself is killed at every operation.
func TestCrashDuringRecovery(t *testing.T) {
	whole := len(fifty(t))
	for _, suspect := range []bool{false, true} {
		for _, inside := range []bool{false, true} {
			for n := 1; ; n++ {
				m := fsx.NewMem()
				write(t, m, FileName, string(fifty(t))+"torn tail")
				if suspect {
					write(t, m, suspectName, "")
				}
				m.KillAt(m.Ops()+n, inside)
				_, _, err := Open(m, ".", "q/u", keepAll)
				for seed := range int64(10) {
					next := m.Crash(seed, float64(seed%5)/4)
					if len(read(t, next, FileName)) == whole && read(t, next, fmt.Sprintf("q/u-%d", whole)) != "torn tail" {
						t.Fatalf("killed at %d, seed %d: tail was cut before its copy was durable", n, seed)
					}
					if found, _ := survivors(t, next); found != 50 {
						t.Fatalf("killed at %d, seed %d: %d found", n, seed, found)
					}
				}
				if err == nil {
					break
				}
			}
		}
	}
}

// TestFailedOperationPoisons: after an error at any operation nothing is
// acknowledged any more, and nothing acknowledged is lost.
func TestFailedOperationPoisons(t *testing.T) {
	for _, cause := range []error{syscall.EIO, syscall.ENOSPC, syscall.EROFS, syscall.EDQUOT, io.ErrShortWrite} {
		for n := 1; ; n++ {
			m := fsx.NewMem()
			m.FailAt(n, cause)
			l, err := Create(m, ".")
			if err != nil {
				if !errors.Is(err, cause) {
					t.Fatalf("%v at %d: %v", cause, n, err)
				}
				continue
			}
			acked, failed := uint64(0), false
			for range 4 {
				r, err := l.Append(draft("a", `{"text":"0123456789"}`))
				switch {
				case err == nil && failed:
					t.Fatalf("%v at %d: acknowledged after the error", cause, n)
				case err == nil:
					acked = r.Seq
				case failed && !errors.Is(err, ErrPoisoned), !failed && !errors.Is(err, cause):
					t.Fatalf("%v at %d: %v", cause, n, err)
				default:
					failed = true
				}
			}
			if acked != l.Head().Seq {
				t.Fatalf("%v at %d: head %+v after %d", cause, n, l.Head(), acked)
			}
			for seed := range int64(5) {
				found, _ := survivors(t, m.Crash(seed, 0.5))
				if found < acked || found > acked+1 {
					t.Fatalf("%v at %d: %d acknowledged, %d found", cause, n, acked, found)
				}
			}
			if found, _ := survivors(t, m.Kill()); found < acked || found > acked+1 {
				t.Fatalf("%v at %d: %d acknowledged, %d found after a kill", cause, n, acked, found)
			}
			if !failed {
				break
			}
		}
	}
}

// TestFailedSyncIsWrittenAgain: the event that a failed sync left in memory is
// either gone or really on the disk once it was read and built upon.
func TestFailedSyncIsWrittenAgain(t *testing.T) {
	m := fsx.NewMem()
	l, err := Create(m, ".")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(draft("a", `{}`)); err != nil {
		t.Fatal(err)
	}
	m.FailAt(m.Ops()+2, syscall.EIO)
	if _, err := l.Append(draft("b", `{}`)); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	if _, err := m.Lstat(suspectName); err != nil {
		t.Fatalf("no marker: %v", err)
	}
	next := m.Kill() // page cache survives: the second event can be read
	found, _ := survivors(t, next)
	if found != 2 {
		t.Errorf("%d found", found)
	}
	again := next.Crash(1, 0) // survivors has opened and settled it
	if _, err := again.Lstat(suspectName); err == nil {
		t.Error("the marker is still there")
	}
}

// TestFullDiskNeedsNoRoomToRecover: a short write leaves a torn tail, no marker.
func TestFullDiskNeedsNoRoomToRecover(t *testing.T) {
	m := fsx.NewMem()
	l, err := Create(m, ".")
	if err != nil {
		t.Fatal(err)
	}
	m.FailAt(m.Ops()+1, syscall.ENOSPC)
	if _, err := l.Append(draft("b", `{}`)); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if _, err := m.Lstat(suspectName); err == nil {
		t.Error("marker was made")
	}
	if _, torn := survivors(t, m.Kill()); !torn {
		t.Error("no torn tail")
	}
}

func TestErrorsDuringRecoveryAreReported(t *testing.T) {
	for n := 1; ; n++ {
		m := fsx.NewMem()
		write(t, m, FileName, string(fifty(t))+"torn tail")
		write(t, m, suspectName, "")
		m.FailAt(m.Ops()+n, syscall.EIO)
		_, _, err := Open(m, ".", "q/u", keepAll)
		if err == nil {
			break
		}
		if !errors.Is(err, syscall.EIO) {
			t.Fatal(err)
		}
		if found, _ := survivors(t, m.Crash(1, 0.5)); found != 50 {
			t.Fatalf("error at %d: %d found", n, found)
		}
	}
}

func TestSalvageKilledAtEveryOperation(t *testing.T) {
	whole := string(fifty(t))
	at := ends([]byte(whole))
	bent := whole[:at[30]+9] + "~" + whole[at[30]+10:]
	for n := 1; ; n++ {
		m := fsx.NewMem()
		write(t, m, FileName, bent)
		m.KillAt(m.Ops()+n, n%2 == 0)
		_, err := Salvage(m, ".", "q/u")
		for seed := range int64(5) {
			got := read(t, m.Crash(seed, 0.5), FileName)
			if got != whole[:at[30]] && (got != bent || err == nil) {
				t.Fatalf("killed at %d: log is neither the old one nor its prefix", n)
			}
		}
		if err == nil {
			break
		}
	}
}
