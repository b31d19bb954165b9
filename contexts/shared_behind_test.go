package contexts

import (
	"context"
	"iter"
	"os"
	"strings"
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/internal/cluster"
	"agent/internal/cluster/clustertest"
	"agent/internal/fsx"
)

// behind is a bus whose lines come, now and then, from a server that is behind.
type behind struct {
	cluster.Bus
	answers int // of a server that is behind
	lacks   int // lines
}

func (b *behind) Lines(ctx context.Context, uuid string, from uint64) iter.Seq2[cluster.Line, error] {
	lines := b.Bus.Lines(ctx, uuid, from)
	if b.answers--; b.answers < 0 {
		return lines
	}
	var all []cluster.Line
	for line, err := range lines {
		if err != nil {
			return lines
		}
		all = append(all, line)
	}
	return func(yield func(cluster.Line, error) bool) {
		for _, line := range all[:max(len(all)-b.lacks, 0)] {
			if !yield(line, nil) {
				return
			}
		}
	}
}

// A worker that takes over never appends behind a line that it has not: not if the servers that it
// asks are not equally far, and whatever it has of the log.
func TestServersThatAreBehind(t *testing.T) {
	for answers := range 5 {
		for _, known := range []bool{false, true} {
			c := clustertest.New()
			a, b := newWorker(t, c, time.Minute), newWorker(t, c, time.Minute)
			if made(t, a.Store, idA); known {
				held, _ := acquire(t, b.Store, idA)
				must(t, held.Close())
			}
			held, _ := acquire(t, a.Store, idA)
			for range 5 {
				add(t, held, &event.ProcessStarted{})
			}
			must(t, held.Close())
			s, err := openReal(b.dir, Options{Bus: &behind{b.bus, answers, 3}, Member: b.m, Warn: func(err error) { t.Log(err) }})
			must(t, err)
			taken, events := acquire(t, s, idA)
			if len(events) != 6 {
				t.Errorf("%d answers, known %v: %d events are taken over", answers, known, len(events))
			}
			add(t, taken, &event.ContextCompleted{})
			must(t, taken.Close())
			again, events := acquire(t, a.Store, idA)
			if len(events) != 7 || strings.Count(wholeLog(t, a.Store, idA), "\n") != 7 {
				t.Errorf("%d answers, known %v: the other has %d events", answers, known, len(events))
			}
			must(t, again.Close())
		}
	}
}

// An export has all lines, whichever servers answered.
func TestExportOfServersThatAreBehind(t *testing.T) {
	for answers := range 4 {
		c := clustertest.New()
		a := newWorker(t, c, time.Minute)
		made(t, a.Store, idA, &event.ProcessStarted{}, &event.ProcessStarted{}, &event.ProcessStarted{}, &event.ProcessStarted{})
		s, err := openReal(a.dir, Options{Bus: &behind{a.bus, answers, 3}, Member: a.m, Warn: func(err error) { t.Log(err) }})
		must(t, err)
		dir := t.TempDir()
		must(t, os.Chmod(dir, 0o700))
		fsys, err := fsx.OpenOS(dir)
		must(t, err)
		done, err := s.Export(t.Context(), fsys, dir, nothing)
		must(t, err)
		to, err := openReal(dir, Options{Warn: func(err error) { t.Error(err) }})
		must(t, err)
		if n := strings.Count(wholeLog(t, to, idA), "\n"); n != 5 || done.Contexts != 1 || len(done.Skipped) > 0 {
			t.Errorf("%d answers: %d lines, %+v", answers, n, done)
		}
	}
}
