package try

import (
	"context"
	"io"
	"os"

	"agent/contexts"
	"agent/forge"
	"agent/handlers/engine"
	"agent/internal/app"
	"agent/internal/app/rounds"
	"agent/internal/cli"
	"agent/internal/config"
	"agent/internal/registry"
	"agent/llm"
)

// End ends a try that was asked to stop. No run takes it, so if no other process works on
// it, this one does what the stop asks for. It asks no model.
func End(ctx context.Context, env *cli.Env, store *contexts.Store, uuid string) (ended bool, err error) {
	if busy, err := store.Locked(uuid); busy || err != nil {
		return false, err
	}
	first, err := store.Creation(uuid)
	if err != nil {
		return false, err
	}
	state, err := StateDir(env.Getenv)
	if err != nil {
		return false, err
	}
	empty := &Try{name: forge.TryPrefix + "00000000"} // no task of it is there, and nothing is written on it
	if empty.dir, err = os.MkdirTemp("", "agent-try-"); err != nil {
		return false, err
	}
	defer os.RemoveAll(empty.dir)
	if err := os.MkdirAll(empty.tasks(), 0o700); err != nil {
		return false, err
	}
	cfg, err := env.LoadConfig(config.Offline(), config.Override(empty.Configure(noModel(), false)))
	if err != nil {
		return false, err
	}
	o := env.Options()
	o.Stderr, o.Terminal = io.Discard, false
	a, err := app.New(cfg, o)
	if err != nil {
		return false, err
	}
	defer a.Close()
	a.Model = silent{}
	var trouble error
	silence := rounds.Voice{Say: func(string) {}, Note: func(string) {}, Trouble: func(_ string, err error) { trouble = err }}
	if fork, forkErr := store.ForkOf(uuid); forkErr == nil && fork != nil {
		_, err = rounds.New(a, silence).Only(ctx, []string{uuid})
	} else {
		rounds.New(a, silence).Continue(ctx, uuid)
	}
	if err == nil {
		err = trouble
	}
	if err != nil {
		return false, err
	}
	s, err := engine.ReadState(a.Store, uuid)
	if err != nil || !s.Status.Ended() {
		return false, err
	}
	if t, err := reopen(state, first.TaskKey, uuid); err == nil && !s.Simulates() {
		return true, t.keep() // forks of it may go on
	}
	return true, nil
}

// noModel satisfies the checks of a configuration where there is nothing to ask.
func noModel() Model {
	for _, d := range registry.Providers {
		if !d.Key {
			return Model{From: Local, driver: d, url: d.URL, name: "none"}
		}
	}
	panic("try: every kind of model server needs a key")
}

// silent is a model that answers nothing.
type silent struct{}

func (silent) Complete(context.Context, llm.Request) (llm.Reply, error) {
	return llm.Reply{}, &llm.Error{Kind: llm.Invalid, Message: "the task is being stopped: no model is asked"}
}
