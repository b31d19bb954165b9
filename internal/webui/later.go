package webui

import (
	"fmt"
	"sync"
	"time"
)

// later is a value that takes long to make, such as what all logs add up to. It is made
// behind the back of who asks, and again when it is old.
type later[T any] struct {
	mu    sync.Mutex
	value T
	err   error // of the latest attempt
	at    time.Time
	took  time.Duration
	ends  chan struct{} // closed when the attempt that runs has ended; nil: none runs
}

// get waits for a fresh value no longer than patience, and gives the latest one, with the
// time that it is from: zero if there is none yet. It is made again when it is older than
// fresh, but no more than a twentieth of the time is spent with that.
func (l *later[T]) get(fresh, patience time.Duration, make func() (T, error)) (T, time.Time, error) {
	ends := l.begin(fresh, make)
	if ends != nil {
		select {
		case <-ends:
		case <-time.After(patience):
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.value, l.at, l.err
}

func (l *later[T]) begin(fresh time.Duration, f func() (T, error)) chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ends == nil && (l.at.IsZero() || time.Since(l.at) > max(fresh, 20*l.took)) {
		l.ends = make(chan struct{})
		go l.run(f)
	}
	return l.ends
}

func (l *later[T]) run(f func() (T, error)) {
	begun := time.Now()
	v, err := l.try(f)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err = err; err == nil {
		l.value, l.at, l.took = v, begun, time.Since(begun)
	}
	close(l.ends)
	l.ends = nil
}

// try lets no value that cannot be made end the server.
func (l *later[T]) try(f func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it cannot be made: %v", p)
		}
	}()
	return f()
}
