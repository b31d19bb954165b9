package contexts

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"agent/internal/cluster"
	"agent/internal/fsx"
)

// What all machines are to know that is no line of a log: signals, and what was forgotten.

// signalKey is the key of a signal: "signals/<uuid>/<signal>".
func signalKey(uuid string, g Signal) string { return "signals/" + uuid + "/" + string(g) }

// shareSignal leaves a signal where all workers see it.
func (s *Store) shareSignal(uuid string, g Signal, payload []byte) error {
	if s.o.Member == nil {
		return nil
	}
	ctx, cancel := shared()
	defer cancel()
	for {
		v, err := s.o.Bus.Key(ctx, signalKey(uuid, g))
		if err != nil && !errors.Is(err, cluster.ErrMissing) {
			return err
		}
		_, err = s.o.Bus.SetKey(ctx, signalKey(uuid, g), append([]byte("signal\n"), payload...), v.Revision)
		if !errors.Is(err, cluster.ErrStale) {
			return err
		}
	}
}

// unshareSignal removes a signal that was taken, unless it was sent again since. payload is nil for
// one that nobody took. One that was taken is in the cluster, or about to be: that it is missing is
// doubted, since it would come back.
func (s *Store) unshareSignal(uuid string, g Signal, payload []byte) error {
	if s.o.Member == nil {
		return nil
	}
	ctx, cancel := shared()
	defer cancel()
	var v cluster.Value
	err := doubt(ctx, func() (missing bool, err error) {
		if v, err = s.o.Bus.Key(ctx, signalKey(uuid, g)); errors.Is(err, cluster.ErrMissing) {
			return payload != nil, nil
		}
		return false, err
	})
	if err != nil || v.Revision == 0 || payload != nil && string(v.Data) != "signal\n"+string(payload) {
		return err
	}
	if err = s.o.Bus.DeleteKey(ctx, signalKey(uuid, g), v.Revision); errors.Is(err, cluster.ErrStale) {
		return nil
	}
	return err
}

// mirrorKeys follows keys until ctx ends.
func (s *Store) mirrorKeys(ctx context.Context, prefix string, take func(context.Context, cluster.Value) error) {
	for ctx.Err() == nil {
		for v, err := range s.o.Bus.WatchKeys(ctx, prefix) {
			if err != nil {
				break
			}
			if v.Key == "" {
				continue
			}
			if err := take(ctx, v); err != nil && ctx.Err() == nil {
				s.o.Warn(fmt.Errorf("%s: %w", v.Key, err))
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(mirrorEvery):
		}
	}
}

// mirrorSignal brings a signal here, or takes away one that was taken elsewhere.
func (s *Store) mirrorSignal(ctx context.Context, v cluster.Value) error {
	uuid, name, _ := strings.Cut(strings.TrimPrefix(v.Key, "signals/"), "/")
	g := Signal(name)
	if !canonical(uuid) || g != Pause && g != Resume && g != Stop {
		return nil
	}
	now, err := s.latest(ctx, v)
	if err != nil {
		return err
	}
	if now.Deleted {
		if err := s.fs.Remove(g.file(uuid)); err != nil && !isMissing(err) {
			return err
		}
		return nil
	}
	payload, _ := strings.CutPrefix(string(now.Data), "signal\n")
	if here, err := fsx.ReadFile(s.fs, g.file(uuid), maxSignal); err == nil && string(here) == payload {
		return nil
	}
	return s.put(g.file(uuid), []byte(payload), s.fs.Rename)
}

// latest is the value of a key that a watch has seen, as it is now: it may have changed since. Who
// is asked may also know less than the watch.
func (s *Store) latest(ctx context.Context, seen cluster.Value) (now cluster.Value, err error) {
	return now, doubt(ctx, func() (missing bool, err error) {
		now, err = s.o.Bus.Key(ctx, seen.Key)
		switch {
		case errors.Is(err, cluster.ErrMissing):
			now = cluster.Value{Key: seen.Key, Deleted: true}
			return !seen.Deleted, nil
		case err == nil && now.Revision < seen.Revision:
			now = seen
		}
		return false, err
	})
}

// forgotten begins the keys of contexts that were forgotten.
const forgotten = "forgotten/"

// forgetEverywhere tells all machines to remove a context: those that are off now do it
// when they are back.
func (s *Store) forgetEverywhere(uuid string) error {
	if s.o.Member == nil {
		return nil
	}
	ctx, cancel := shared()
	defer cancel()
	_, err := s.o.Bus.SetKey(ctx, forgotten+uuid, []byte(time.Now().UTC().Format(time.RFC3339)), 0)
	if errors.Is(err, cluster.ErrStale) {
		return nil
	}
	return err
}

// purge removes the cluster's own copy of a context. One line in its place lets nobody
// append to it any more, and gives those who follow the history an end that is there.
func (s *Store) purge(uuid, task string) error {
	if s.o.Member == nil {
		return nil
	}
	ctx, cancel := shared()
	defer cancel()
	last, err := s.o.Bus.Last(ctx, uuid)
	if err != nil || last.Pos == 0 || string(last.Data) == void {
		return err
	}
	if err := s.unclaim(ctx, uuid, task); err != nil {
		return err
	}
	if err := errors.Join(s.o.Bus.Forget(ctx, uuid), s.o.Bus.RemoveObjects(ctx, uuid+"/")); err != nil {
		return err
	}
	_, err = s.o.Bus.Append(ctx, uuid, 0, []byte(void))()
	if errors.Is(err, cluster.ErrStale) { // another machine has done it
		return nil
	}
	return err
}

// wasForgotten tells whether another machine has forgotten a context.
func (s *Store) wasForgotten(ctx context.Context, uuid string) (bool, error) {
	_, err := s.o.Bus.Key(ctx, forgotten+uuid)
	if errors.Is(err, cluster.ErrMissing) {
		return false, nil
	}
	return err == nil, err
}

// mirrorForgotten removes the copy here of a context that another machine has forgotten.
func (s *Store) mirrorForgotten(_ context.Context, v cluster.Value) error {
	uuid := strings.TrimPrefix(v.Key, forgotten)
	found, err := s.dirsWith(uuid)
	if v.Deleted || !canonical(uuid) || err != nil || len(found) == 0 {
		return err
	}
	c, err := s.here(uuid)
	if err != nil {
		return err
	}
	defer c.Close()
	return errors.Join(s.drop(c), s.forgetQuarantine(uuid), s.purge(uuid, c.info.TaskKey)) // or who forgot it died on the way
}
