package main

import (
	"encoding/json"
	"fmt"
	"time"

	"agent/internal/app"
	"agent/internal/config"
	"agent/internal/report"
	"agent/internal/sanitize"
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
	store, err := app.OpenReadOnly(cfg, a.warning)
	if err != nil {
		return nil, err
	}
	return &view{cli: a, Source: report.Source{Store: store, Config: cfg, Lang: app.Language(cfg), Now: time.Now(),
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

// minute is a time to the minute, as wide for one that is not known.
func minute(t time.Time) string {
	if t.IsZero() {
		return "-               "
	}
	return t.Local().Format("2006-01-02 15:04")
}

func local(t time.Time) string {
	if t.IsZero() {
		return "-" // of a log that cannot be read
	}
	return t.Local().Format("2006-01-02 15:04:05")
}
