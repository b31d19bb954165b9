package contexts

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"agent/internal/cluster"
	"agent/internal/fsx"
)

const keySize = 32

// The room that [Store.Room] wants.
const (
	MinBytes  = 64 << 20
	MinInodes = 1000
)

// Key returns the key of the comment markers, 32 bytes, and makes it at the
// first call. Processes that make it at the same time end with the same one, and so do the
// machines of a cluster: each must know the comments that another one has posted.
func (s *Store) Key() ([]byte, error) {
	key, err := s.readKey()
	if isMissing(err) && !s.o.ReadOnly {
		if err = s.makeKey(); err == nil {
			key, err = s.readKey()
		}
	}
	if err == nil && s.o.Member != nil {
		key, err = s.sharedMarkerKey(key)
	}
	if err != nil {
		return nil, fmt.Errorf("marker key: %w", err)
	}
	return key, nil
}

func (s *Store) readKey() ([]byte, error) {
	info, err := s.fs.Lstat(keyFile)
	if err != nil {
		return nil, err
	}
	if err := s.checkOwn(keyFile, info, "600"); err != nil {
		return nil, err
	}
	key, err := fsx.ReadFile(s.fs, keyFile, keySize)
	if err != nil {
		return nil, err
	}
	if len(key) != keySize {
		return nil, &DamageError{Name: keyFile, Reason: "it has the wrong length; remove it to get a new one"}
	}
	return key, nil
}

func (s *Store) makeKey() error {
	key := make([]byte, keySize)
	if _, err := io.ReadFull(s.o.Rand, key); err != nil {
		return err
	}
	err := s.put(keyFile, key, s.fs.RenameNoReplace)
	if errors.Is(err, fs.ErrExist) {
		// Somebody was faster, but perhaps not durable yet.
		return s.fs.SyncDir(".")
	}
	return err
}

// put makes a file durable under a name of its own in .staging/ and renames it,
// so that any number of processes may do it at once without a lock.
func (s *Store) put(name string, data []byte, rename func(old, new string) error) error {
	if s.o.ReadOnly {
		return ErrReadOnly
	}
	var id [16]byte
	if _, err := io.ReadFull(s.o.Rand, id[:]); err != nil {
		return err
	}
	tmp := stagingDir + "/" + hex.EncodeToString(id[:]) + fsx.TempSuffix
	err := s.writeNew(tmp, data)
	if err == nil {
		err = rename(tmp, name)
	}
	if err != nil {
		_ = s.fs.Remove(tmp) // best effort, else a later sweep does it
		return err
	}
	return s.fs.SyncDir(path.Dir(name))
}

func (s *Store) writeNew(name string, data []byte) error {
	f, err := s.fs.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := f.Write(data)
	if err == nil && n != len(data) {
		err = io.ErrShortWrite
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Room tells whether there is room to begin a task: 64 MiB and 1,000 inodes,
// else ErrNoRoom.
func (s *Store) Room() error { return RoomOn(s.fs) }

// RoomOn is Room for another file system, as that of the working copies.
func RoomOn(fsys interface {
	Free() (bytes, inodes uint64, err error)
}) error {
	bytes, nodes, err := fsys.Free()
	if err != nil {
		return fmt.Errorf("free room: %w", err)
	}
	if bytes < MinBytes || nodes < MinInodes {
		return fmt.Errorf("%w: %d MiB and %d inodes are free, %d MiB and %d are wanted",
			ErrNoRoom, bytes>>20, nodes, MinBytes>>20, MinInodes)
	}
	return nil
}

// markerKey is where the cluster keeps the key of the comment markers.
const markerKey = "marker"

// sharedMarkerKey is the key of the cluster, which is that of the machine that came first.
func (s *Store) sharedMarkerKey(own []byte) ([]byte, error) {
	ctx, cancel := shared()
	defer cancel()
	for {
		v, err := s.o.Bus.Key(ctx, markerKey)
		if err == nil {
			if len(v.Data) != keySize {
				return nil, &DamageError{Name: markerKey, Reason: "the cluster's key has the wrong length"}
			}
			return v.Data, nil
		}
		if errors.Is(err, cluster.ErrMissing) {
			_, err = s.o.Bus.SetKey(ctx, markerKey, own, 0)
		}
		if err != nil && !errors.Is(err, cluster.ErrStale) {
			return nil, err
		}
	}
}
