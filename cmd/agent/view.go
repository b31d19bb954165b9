package main

import (
	"encoding/json"
	"fmt"
	"time"

	"agent/internal/app"
	"agent/internal/config"
	"agent/internal/report"
	"agent/internal/sanitize"
	"agent/internal/show"
	"agent/internal/term"
)

// view is what read-only commands share.
type view struct {
	*cli
	report.Source
}

// view loads the configuration and opens the contexts for reading. Nothing is
// created: without a contexts directory the store is empty.
func (a *cli) view(opts ...config.Option) (*view, error) {
	cfg, err := a.loadConfig(opts...)
	if err != nil {
		return nil, err
	}
	store, err := a.openAs(cfg, true)
	if err != nil {
		return nil, err
	}
	return &view{cli: a, Source: report.Source{Store: store, Config: cfg, Lang: app.Language(cfg), Now: time.Now(), Version: version(),
		Paused: a.signalFile != "", Warn: a.warning}}, nil
}

// printLine prints a value for programs on a line of its own.
func (a *cli) printLine(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "%s\n", sanitize.JSON(data))
	return err
}

// printer prints for people what needs no context.
func (a *cli) printer() *show.Printer {
	return &show.Printer{Source: report.Source{Lang: a.lang}, Screen: term.Of(a.out)}
}

// printer prints reports where the command prints.
func (l *view) printer() *show.Printer {
	return &show.Printer{Source: l.Source, Screen: term.Of(l.out)}
}
