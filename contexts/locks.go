package contexts

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"agent/forge"
	"agent/internal/cluster"
	"agent/internal/fsx"
)

const sweepLock = "sweep.lock"

// staleAfter is how old something in .staging/ must be to count as left over.
const staleAfter = time.Hour

// LockKey takes the lock of a TaskKey (in text form), which guards the creation
// of contexts for it: at most one live context per task. It never waits, see
// [ErrBusy]. The lock is held until Close or the end of the process.
func (s *Store) LockKey(taskKey string) (io.Closer, error) {
	return s.lockShared(keyLock(taskKey))
}

// LockHere takes a lock among the processes of this machine.
func (s *Store) LockHere(name string) (io.Closer, error) { return s.lock(keyLock(name) + ".lock") }

// keyLock names the lock of a TaskKey.
func keyLock(taskKey string) string {
	sum := sha256.Sum256([]byte(forge.FoldKey(taskKey)))
	return hex.EncodeToString(sum[:16])
}

func (s *Store) lockContext(id string) (io.Closer, error) {
	if err := checkUUID(id); err != nil {
		return nil, err
	}
	return s.lockShared(id)
}

// Locked tells whether a process works on a context. One that did not end and is
// not held was interrupted: the next round goes on with it.
func (s *Store) Locked(uuid string) (bool, error) {
	if err := checkUUID(uuid); err != nil {
		return false, err
	}
	held, err := s.fs.Locked(locksDir + "/" + uuid + ".lock")
	if held || err != nil || s.o.Bus == nil {
		return held, err
	}
	ctx, cancel := shared()
	defer cancel()
	if s.o.Member != nil {
		return s.o.Member.Locked(ctx, uuid)
	}
	return cluster.Locked(ctx, s.o.Bus, uuid)
}

func (s *Store) lock(name string) (io.Closer, error) {
	if s.o.ReadOnly {
		return nil, ErrReadOnly
	}
	l, err := s.fs.TryLock(locksDir + "/" + name)
	if errors.Is(err, fsx.ErrLocked) {
		return nil, ErrBusy
	}
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	return l, nil
}

// sweep removes what dead processes left in .staging/. Nothing depends on it,
// so its errors are warnings.
func (s *Store) sweep() {
	if s.o.Now == nil {
		return
	}
	l, err := s.lock(sweepLock)
	if err != nil {
		return // another process is at it, or the next start tries again
	}
	defer l.Close()
	entries, err := s.fs.ReadDir(stagingDir)
	if err != nil {
		s.o.Warn(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || s.o.Now().Sub(info.ModTime()) < staleAfter {
			continue
		}
		if err := s.discard(e.Name()); err != nil && !errors.Is(err, ErrBusy) {
			s.o.Warn(err)
		}
	}
}

// discard removes an entry of .staging/ unless its maker still lives.
func (s *Store) discard(name string) error {
	if canonical(name) {
		l, err := s.lock(name + ".lock")
		if err != nil {
			return err
		}
		defer l.Close()
		if err := s.unmake(name); err != nil {
			return err
		}
	}
	return s.fs.RemoveAll(stagingDir + "/" + name)
}
