package contexts

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"agent/internal/fsx"
)

const (
	noticesDir  = ".notices"
	noticesLock = "notices.lock"
	maxNotices  = 64 << 10 // bytes of one file
)

// Notices says up to which event people were told of a context, by the receiver. The file is there
// from the beginning of a process's work until that process has told everything. So one that
// is left over names a context that a process died in, and nothing is told twice.
type Notices struct {
	Run  string            `json:"run"`  // of whoever writes it
	Told map[string]uint64 `json:"told"` // seq by receiver
}

// OpenNotices begins to follow a context for a run. Receivers that are not in the file yet were
// told of all events up to told. It gives the file as it is now.
func (s *Store) OpenNotices(uuid, run string, receivers []string, told uint64) (n Notices, err error) {
	if err := s.prepareDir(noticesDir); err != nil {
		return n, err
	}
	err = s.changeNotices(uuid, func(old *Notices) *Notices {
		n = Notices{Run: run, Told: map[string]uint64{}}
		for _, r := range receivers {
			n.Told[r] = told
			if old == nil {
				continue
			}
			if seq, known := old.Told[r]; known {
				n.Told[r] = seq
			}
		}
		return &n
	})
	return n, err
}

// ClaimNotice takes the right to tell a receiver of an event. It is given once for each event, and
// for none that is older than one that it was given for.
func (s *Store) ClaimNotice(uuid, receiver string, seq uint64) (ok bool, err error) {
	err = s.changeNotices(uuid, func(n *Notices) *Notices {
		if n == nil || n.Told[receiver] >= seq {
			return nil
		}
		n.Told[receiver], ok = seq, true
		return n
	})
	return ok && err == nil, err
}

// CloseNotices says that a run has told everything about a context. Another run may follow it meanwhile.
func (s *Store) CloseNotices(uuid, run string) error {
	lock, err := s.lockSoon(noticesLock)
	if err != nil {
		return err
	}
	defer lock.Close()
	if n, err := s.readNotices(uuid); err != nil || n == nil || n.Run != run {
		return err
	}
	return s.removeNotices(uuid)
}

// Notified are the contexts that are followed, or were by a process that died, and when that was written last.
func (s *Store) Notified() (map[string]time.Time, error) {
	entries, err := s.fs.ReadDir(noticesDir)
	if isMissing(err) {
		return nil, nil
	}
	all := map[string]time.Time{}
	for _, e := range entries {
		uuid, isNote := strings.CutSuffix(e.Name(), ".json")
		if info, err := e.Info(); err == nil && isNote && canonical(uuid) {
			all[uuid] = info.ModTime()
		}
	}
	return all, err
}

// changeNotices replaces a file under the lock of all of them; nil leaves it.
func (s *Store) changeNotices(uuid string, change func(*Notices) *Notices) error {
	if err := checkUUID(uuid); err != nil {
		return err
	}
	lock, err := s.lockSoon(noticesLock)
	if err != nil {
		return fmt.Errorf("notices: %w", err)
	}
	defer lock.Close()
	n, err := s.readNotices(uuid)
	if err != nil {
		return err
	}
	if n = change(n); n == nil {
		return nil
	}
	data, err := json.Marshal(n)
	if err == nil {
		err = s.put(noticesFile(uuid), data, s.fs.Rename)
	}
	if err != nil {
		return fmt.Errorf("notices: %w", err)
	}
	return nil
}

// readNotices reads a file; nil: there is none. What was told is unknown if it is damaged.
func (s *Store) readNotices(uuid string) (*Notices, error) {
	data, err := fsx.ReadFile(s.fs, noticesFile(uuid), maxNotices)
	if isMissing(err) {
		return nil, nil
	}
	var n Notices
	if err == nil {
		err = json.Unmarshal(data, &n)
	}
	if err != nil || n.Told == nil {
		return nil, fmt.Errorf("notices of %s cannot be read: %w", uuid, err)
	}
	return &n, nil
}

// DropNotices gives up what was not told of a context.
func (s *Store) DropNotices(uuid string) error {
	lock, err := s.lockSoon(noticesLock)
	if err != nil {
		return err
	}
	defer lock.Close()
	return s.removeNotices(uuid)
}

func (s *Store) removeNotices(uuid string) error {
	if err := s.fs.Remove(noticesFile(uuid)); !isMissing(err) {
		return err
	}
	return nil
}

func noticesFile(uuid string) string { return fmt.Sprintf("%s/%s.json", noticesDir, uuid) }
