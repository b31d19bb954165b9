package retention

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"agent/contexts"
	"agent/handlers/engine"
	"agent/internal/config"
)

// Forget removes contexts that have ended, with their working copies, and
// reports each to done. If one has not ended nothing is removed
// ([contexts.ErrNotEnded]). A context that another process holds is
// [contexts.ErrBusy].
func Forget(cfg *config.Config, store *contexts.Store, uuids []string, now time.Time, done func(contexts.Forgotten)) error {
	for _, uuid := range uuids {
		if info, err := store.Info(uuid); err != nil {
			return err
		} else if !info.Over() && info.Err == nil {
			return fmt.Errorf("%s: %w (agent stop ends it)", uuid, contexts.ErrNotEnded)
		}
	}
	for _, uuid := range uuids {
		lost, err := store.Forget(uuid, "command", now, func(c *contexts.Context) error { return engine.Rebuild(store, c) })
		if err != nil {
			return err
		}
		if err := os.RemoveAll(filepath.Join(cfg.WorkspacesDir, uuid)); err != nil {
			return err
		}
		done(lost)
	}
	return nil
}
