package cli

import (
	"time"

	"agent/internal/app"
	"agent/internal/config"
	"agent/internal/report"
	"agent/internal/show"
	"agent/internal/term"
)

// View is what commands that only read share.
type View struct {
	*Env
	report.Source
}

// View loads the configuration and opens the contexts for reading. Nothing is
// created: without a contexts directory the store is empty.
func (e *Env) View(opts ...config.Option) (*View, error) {
	cfg, err := e.LoadConfig(opts...)
	if err != nil {
		return nil, err
	}
	store, err := e.OpenAs(cfg, true)
	if err != nil {
		return nil, err
	}
	return &View{Env: e, Source: report.Source{Store: store, Config: cfg, Lang: app.Language(cfg), Now: time.Now(), Version: Version(),
		Paused: e.SignalFile != "", Warn: e.Warning}}, nil
}

// Printer prints reports where the command prints.
func (v *View) Printer() *show.Printer {
	return &show.Printer{Source: v.Source, Screen: term.Of(v.Out)}
}
