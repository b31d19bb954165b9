package trees

import (
	"errors"
	"fmt"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/snapshot"
)

// Check reads the saved files that a log names and gives the number of saves. What cannot be
// read is a *[contexts.DamageError], unless it was given up before. Errors of the log are
// those of package contexts.
func Check(s *contexts.Store, uuid string) (saves int, err error) {
	missing, saves, err := unreadable(s, uuid)
	if err == nil && len(missing) > 0 {
		err = &contexts.DamageError{Name: uuid, Reason: missing[0] + more(len(missing)-1) +
			fmt.Sprintf(" (agent repair %s --accept-loss gives up those files; the log is whole)", uuid)}
	}
	return saves, err
}

func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", and %d more saves", n)
}

// unreadable names the saves whose files cannot be read.
func unreadable(s *contexts.Store, uuid string) (missing []string, saves int, err error) {
	store, err := stored(s, uuid)
	if err != nil {
		return nil, 0, err
	}
	broken := store.Broken()
	for ev, err := range s.Events(uuid) {
		if contexts.IsTorn(err) {
			break
		}
		if err != nil {
			return nil, saves, err
		}
		switch b := ev.Body.(type) {
		case *event.ProcessRecovered:
			if b.Saves > 0 {
				missing = nil
			}
		case *event.WorkspaceSaved:
			saves++
			err := checkSave(store, b)
			switch {
			case errors.Is(err, snapshot.ErrMissing):
				missing = append(missing, fmt.Sprintf("the files saved at event %d cannot be read: %v", ev.Seq, err))
			case err != nil:
				return nil, saves, fmt.Errorf("seq %d: %w", ev.Seq, err)
			}
		}
	}
	if len(missing) == 0 && len(broken) > 0 {
		missing = []string{fmt.Sprintf("an earlier content of a saved file cannot be read, in %s of its objects", broken[0])}
	}
	return missing, saves, nil
}

// checkSave reads what one save stored. One that changed nothing stored nothing.
func checkSave(store *snapshot.Store, b *event.WorkspaceSaved) error {
	if b.Count == 0 || b.Error != "" || b.Tree == b.From {
		return nil
	}
	paths := make([]string, 0, len(b.Files))
	for _, f := range b.Files {
		paths = append(paths, f.Path)
	}
	return store.Check(b.Tree, paths)
}

// Repair gives up saved files that cannot be read, for a person who asked for it: what is
// left of damaged packs is stored again, the packs go to quarantine, and the log says so.
// saves is how many were given up, 0 if nothing was wrong.
func Repair(s *contexts.Store, uuid string, at time.Time) (saves int, err error) {
	missing, _, err := unreadable(s, uuid)
	if err != nil || len(missing) == 0 {
		return 0, err
	}
	c, err := s.Acquire(uuid, nil)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	objects := c.Objects()
	store, err := snapshot.OpenStore(objects)
	if err != nil {
		return 0, err
	}
	damaged, err := store.Salvage()
	if err != nil {
		return 0, err
	}
	for _, pack := range damaged {
		if err := objects.SetAside(pack+".idx", pack+".pack"); err != nil {
			return 0, err
		}
	}
	if _, err := c.Append(event.Event{Time: at, Body: &event.ProcessRecovered{Saves: len(missing)}}); err != nil {
		return 0, err
	}
	return len(missing), c.Relocate()
}
