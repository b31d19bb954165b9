package rounds

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Loop does rounds until ctx is done. It looks for what there is to do every span of
// time, also while tasks run, and at once when a command leaves a signal. It gives the
// summary of the last round.
func (s *Rounds) Loop(ctx context.Context, every time.Duration) (last Summary) {
	s.introduce(every)
	s.looping, s.every = true, every
	defer s.writeNotes()
	defer s.late.Wait()
	wake, closeWatch := s.watch()
	defer closeWatch()
	go s.signs(ctx)
	if s.Cluster != nil {
		go s.feed(ctx)
	}
	s.Service.Ready()
	defer context.AfterFunc(ctx, s.Service.Stopping)()
	for ctx.Err() == nil {
		s.plan(every)
		last = s.round(ctx, func(r *round) bool { return r.waitBusy(ctx, every, wake) })
		s.waitIdle(ctx, wake)
	}
	return last
}

// plan says when the next look at everything is due, if the one that begins is such a look.
func (s *Rounds) plan(every time.Duration) {
	if s.only == nil {
		s.next = time.Now().Add(every)
	}
}

// waitIdle waits until it is time for another round.
func (s *Rounds) waitIdle(ctx context.Context, wake <-chan struct{}) {
	next := time.NewTimer(time.Until(s.next))
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
			return
		case <-wake:
			return
		case <-s.hookWake():
			if s.takeHooks() {
				return
			}
		case <-s.clusterNews():
			return
		}
	}
}

// waitBusy waits until it is time for another look. It is false once nothing runs any
// more, or nothing is to be begun: then the round is over.
func (r *round) waitBusy(ctx context.Context, every time.Duration, wake <-chan struct{}) bool {
	next := time.NewTimer(time.Until(r.next))
	defer next.Stop()
	defer func() { r.plan(every) }()
	for r.working.Load() > 0 && r.halted() == nil {
		select {
		case <-ctx.Done():
			return false
		case <-next.C:
			return true
		case <-wake:
			return true
		case <-r.hookWake():
			if r.takeHooks() {
				return true
			}
		case <-r.clusterNews():
			return true
		case <-r.freed:
		}
	}
	return false
}

// introduce says which forges the loop looks at, and how often.
func (s *Rounds) introduce(every time.Duration) {
	for _, at := range s.Sites {
		where := strings.Join(at.Config.Projects, ", ")
		if at.Config.Driver.Local {
			where = at.Config.Directory
		}
		s.voice.Note(s.text("loop.looks", at.Host, cmp.Or(where, s.text("loop.all")), at.Config.BotLabel, every))
	}
}

// watch tells of signals that commands leave. Without it the loop only reacts later.
func (s *Rounds) watch() (wake <-chan struct{}, end func()) {
	events := make(chan struct{}, 1)
	w, err := fsnotify.NewWatcher()
	if err != nil {
		s.Log.Warn("signals are seen at the next round only", "error", err)
		return events, func() {}
	}
	if err := w.Add(filepath.Join(s.Config.ContextsDir, ".control")); err != nil {
		s.Log.Warn("signals are seen at the next round only", "error", err)
	}
	go func() {
		for range w.Events {
			select {
			case events <- struct{}{}:
			default:
			}
		}
	}()
	go func() {
		for range w.Errors { // an overflow: the next round looks at everything anyway
		}
	}()
	return events, func() { _ = w.Close() }
}
