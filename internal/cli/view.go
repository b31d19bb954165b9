package cli

import (
	"context"
	"time"

	"agent/internal/app"
	"agent/internal/config"
	"agent/internal/redact"
	"agent/internal/report"
	"agent/internal/show"
	"agent/internal/term"
	"agent/internal/trees"
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

// KeepIndex writes the index where it lacks something, which a list of all contexts would
// make from their logs each time. What cannot be written, as in a store of somebody else, is left.
func (v *View) KeepIndex() {
	if v.Store.Indexed() {
		return
	}
	if store, err := app.OpenStore(v.Config, func(error) {}); err == nil {
		_, _ = store.Heal(context.Background(), nil)
	}
}

// Printer prints reports where the command prints.
func (v *View) Printer() *show.Printer {
	return &show.Printer{Source: v.Source, Screen: term.Of(v.Out)}
}

// Trees opens the saved files of a context, without secrets. Where none can be read it
// is nil.
func (v *View) Trees(ref string) (*trees.View, error) {
	uuid, err := v.Store.Newest(ref, v.Hosts...)
	if err != nil {
		return nil, err
	}
	secrets := redact.New(v.Config.Secrets())
	return trees.Open(v.Store, uuid, func(text string) string { plain, _ := secrets.String(text); return plain })
}
