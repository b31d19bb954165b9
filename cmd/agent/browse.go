package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"agent/contexts"
	"agent/handlers/engine"
	"agent/internal/cli"
	"agent/internal/config"
	"agent/internal/control"
	"agent/internal/redact"
	"agent/internal/term"
	"agent/internal/tui"
)

// inTerminal shows the browser. Where there is no terminal for it, it prints the context or a list.
func (a *commands) inTerminal(ctx context.Context, args []string) error {
	live := term.Of(a.Out).Live() && cli.IsTerminal(os.Stdin)
	if !live && len(args) > 0 {
		return (&inspection{commands: a}).run(ctx, args)
	}
	l, err := a.view(config.Offline())
	if err != nil {
		return err
	}
	if !live {
		return l.list("")
	}
	return l.browse(ctx, args)
}

func (l view) browse(ctx context.Context, args []string) error {
	secrets := redact.New(l.Config.Secrets())
	o := tui.Options{Store: l.Store, Lang: l.Source.Lang, With: l.With(), Colors: term.Of(l.Out).Colors, Now: time.Now, Signal: l.uiSignal, Fork: l.uiFork,
		Redact: func(text string) string { plain, _ := secrets.String(text); return plain }}
	if len(args) > 0 {
		uuid, err := l.Store.Newest(args[0], l.Hosts...)
		if err != nil {
			return err
		}
		o.UUID = uuid
	}
	return tui.Run(ctx, o, os.Stdin, os.Stdout)
}

// quiet is the command line with what it prints as a text, on one line.
func (l view) quiet() (*commands, func() string) {
	var b bytes.Buffer
	a := *l.Env
	a.Out, a.Err, a.JSON = &b, &b, false
	return &commands{&a}, func() string { return strings.Join(strings.Fields(b.String()), " ") }
}

// uiSignal does what pause, resume and stop do.
func (l view) uiSignal(uuid string, sig contexts.Signal) (string, error) {
	a, said := l.quiet()
	err := a.signal(context.Background(), control.Request{Signal: sig, Refs: []string{uuid}})
	return said(), err
}

// uiFork does what fork does.
func (l view) uiFork(ctx context.Context, uuid string, at uint64, say string) (string, error) {
	a, said := l.quiet()
	k := &forking{commands: a, f: engine.Forking{At: at, Say: say}}
	err := k.run(ctx, uuid)
	if errors.Is(err, cli.ErrQuiet) {
		return said(), errors.New(said())
	}
	return said(), err
}
