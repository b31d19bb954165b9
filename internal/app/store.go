package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"agent/contexts"
	"agent/internal/config"
	"agent/internal/fsx"
	"agent/internal/i18n"
)

// OpenStore opens the contexts for work. Errors are *[StoreError].
func OpenStore(cfg *config.Config, warn func(error)) (*contexts.Store, error) {
	if cfg.Cluster.Shared() {
		store, _, _, err := joinStore(cfg, Options{}, 0, warn) // it leaves when the process ends
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(context.Background(), syncTime)
		defer cancel()
		if err := store.CatchUp(ctx); err != nil {
			warn(&ClusterError{err}) // what is named may be known all the same
		}
		return store, nil
	}
	return openStore(cfg, contexts.Options{Warn: warn})
}

// OpenReadOnly opens the contexts for commands that change nothing. Where there
// is no directory yet, the store is [contexts.Empty] and none is made.
func OpenReadOnly(cfg *config.Config, warn func(error)) (*contexts.Store, error) {
	if cfg.Cluster.Shared() {
		return openSynced(cfg, warn)
	}
	if _, err := os.Lstat(cfg.ContextsDir); errors.Is(err, fs.ErrNotExist) {
		return contexts.Empty(contexts.Options{Warn: warn, Dir: cfg.ContextsDir})
	}
	return openStore(cfg, contexts.Options{Warn: warn, ReadOnly: true})
}

func openStore(cfg *config.Config, o contexts.Options) (*contexts.Store, error) {
	fsys, err := fsx.OpenOS(cfg.ContextsDir)
	if err != nil {
		return nil, &StoreError{fmt.Errorf("contexts_dir: %w", err)}
	}
	o.Now, o.Dir = now, cfg.ContextsDir
	return contexts.Open(fsys, o)
}

// StoreError means that the directory of the contexts cannot be opened or made.
type StoreError struct{ Err error }

func (e *StoreError) Error() string { return e.Err.Error() }
func (e *StoreError) Unwrap() error { return e.Err }

// ExitCode is 78 also if a file is in the way of the directory: no context is damaged by that.
func (e *StoreError) ExitCode() int {
	if errors.Is(e.Err, fs.ErrNotExist) || errors.Is(e.Err, syscall.ENOTDIR) {
		return contexts.ExitConfig
	}
	return contexts.ExitCode(e.Err)
}

// Language is the language that the program speaks to its operator.
func (a *App) Language() i18n.Lang { return Language(a.Config) }

// Language is the language of commands: the configured one, or that of the
// user's locale if it is auto.
func Language(cfg *config.Config) i18n.Lang {
	switch l := i18n.Lang(cfg.Language); l {
	case i18n.En, i18n.Ja:
		return l
	}
	return i18n.FromEnv(os.Getenv)
}
