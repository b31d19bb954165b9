package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/app"
	"agent/internal/config"
	"agent/internal/i18n"
	"agent/internal/sanitize"
	"agent/projections"
)

// looker is what commands share that show something and change nothing.
type looker struct {
	*cli
	config *config.Config
	store  *contexts.Store
	lang   i18n.Lang
	now    time.Time
}

// look loads the configuration and opens the contexts. Nothing is made: where
// there is no directory yet, the store is an empty one.
func (a *cli) look(opts ...config.Option) (*looker, error) {
	cfg, err := a.loadConfig(opts...)
	if err != nil {
		return nil, err
	}
	store, err := app.OpenReadOnly(cfg, func(err error) { fmt.Fprintln(a.err, "agent: warning: "+sanitize.Terminal(err.Error())) })
	if err != nil {
		return nil, err
	}
	return &looker{cli: a, config: cfg, store: store, lang: app.Language(cfg), now: time.Now()}, nil
}

func (l *looker) text(id i18n.ID, args ...any) string { return i18n.Text(l.lang, id, args...) }

// say prints one line; nothing in it acts on the terminal.
func (l *looker) say(id i18n.ID, args ...any) {
	fmt.Fprintln(l.out, sanitize.Terminal(l.text(id, args...)))
}

// printJSON prints a value for programs.
func (a *cli) printJSON(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	text := b.String()
	if isTerminal(a.out) {
		text = sanitize.Terminal(text)
	}
	_, err := fmt.Fprint(a.out, text)
	return err
}

// glance is one context, folded as far as its log can be read.
type glance struct {
	state *projections.State
	last  event.Event
	err   error // what ended the reading, a torn tail apart
}

func (l *looker) glance(uuid string, visit func(event.Event, *projections.State)) glance {
	g := glance{state: projections.NewState()}
	for ev, err := range l.store.Events(uuid) {
		if err != nil {
			if !isTorn(err) {
				g.err = err
			}
			break
		}
		g.state.Apply(ev)
		g.last = ev
		if visit != nil {
			visit(ev, g.state)
		}
	}
	return g
}

// entries lists the contexts; what is none is a warning.
func (l *looker) entries() []contexts.Entry {
	var all []contexts.Entry
	for entry, err := range l.store.List() {
		if err != nil {
			fmt.Fprintln(l.err, "agent: warning: "+sanitize.Terminal(err.Error()))
			continue
		}
		all = append(all, entry)
	}
	return all
}

// age shows a span of time in its largest unit: 42s, 12m, 5h, 3d.
func age(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

func local(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }
