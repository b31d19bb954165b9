package retention

import (
	"fmt"
	"path/filepath"
	"time"

	"agent/contexts"
	"agent/handlers/engine"
	"agent/internal/config"
	"agent/internal/workspace"
)

// Forget removes contexts that have ended, with their working copies, and
// reports each to done. If one has not ended nothing is removed
// ([contexts.ErrNotEnded]). A context that another process holds is
// [contexts.ErrBusy].
func Forget(cfg *config.Config, store *contexts.Store, uuids []string, now time.Time, done func(contexts.Forgotten)) error {
	if err := allEnded(store, uuids); err != nil {
		return err
	}
	for _, uuid := range uuids {
		lost, err := store.Forget(uuid, "command", now, func(c *contexts.Context) error { return engine.Rebuild(store, c) })
		if err != nil {
			return err
		}
		if err := workspace.Remove(filepath.Join(cfg.WorkspacesDir, uuid)); err != nil {
			return err
		}
		done(lost)
	}
	return nil
}

// WouldForget says what [Forget] would remove, and changes nothing.
func WouldForget(store *contexts.Store, uuids []string) (all []contexts.Forgotten, err error) {
	if err := allEnded(store, uuids); err != nil {
		return nil, err
	}
	for _, uuid := range uuids {
		would, err := store.WouldForget(uuid)
		if err != nil {
			return nil, err
		}
		all = append(all, would)
	}
	return all, nil
}

func allEnded(store *contexts.Store, uuids []string) error {
	for _, uuid := range uuids {
		if info, err := store.Info(uuid); err != nil {
			return err
		} else if !info.Removable() && info.Err == nil {
			return fmt.Errorf("%s: %w (agent stop %[1]s ends it)", uuid, contexts.ErrNotEnded)
		}
	}
	return nil
}
