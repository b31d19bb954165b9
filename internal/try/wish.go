package try

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"agent/contexts"
	"agent/internal/cli"
)

// wish is what is to be done with the change of a context. A fork has its own.
type wish struct {
	Use     Use  // that was asked for when it began, or later
	Applied bool // that was done
}

func (t *Try) wishFile() string {
	if t.fork {
		return filepath.Join(t.dir, "wish-"+t.UUID+".json")
	}
	return filepath.Join(t.dir, "wish.json")
}

// Wish is what is to be done with the change: as it is asked for now, else as before.
func (t *Try) Wish(ctx context.Context, now Use) (Use, error) {
	if now == (Use{}) {
		return t.lastWish()
	}
	if err := now.check(ctx, t.Source); err != nil {
		return now, RefusedError{err}
	}
	return now, save(t.wishFile(), wish{Use: now})
}

func (t *Try) lastWish() (Use, error) {
	data, err := os.ReadFile(t.wishFile())
	if errors.Is(err, fs.ErrNotExist) { // nothing was asked for
		return Use{}, nil
	}
	var last wish
	if err == nil {
		err = json.Unmarshal(data, &last)
	}
	if last.Applied {
		return Use{}, err
	}
	return last.Use, err
}

// save writes a file whole or not at all.
func save(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// lock lets one process at a time apply the change of a try or of its forks, until it is closed.
func (t *Try) lock() (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(t.dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(cli.Coded(contexts.ExitTemporary, errors.New("another process applies the change of this try, or of a fork of it: try again when it is done")), f.Close())
	}
	return f, nil
}
