package viewer

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"

	"agent/contexts"
	"agent/eventlog"
	"agent/internal/i18n"
	"agent/internal/report"
	"agent/internal/term"
)

// Log is the log of one context, as it is shown.
type Log struct {
	Store *contexts.Store
	UUID  string
	Dir   string // of all contexts
	With  string // flags that printed commands repeat
}

// Blob reads what is beside the log.
func (l Log) Blob(hash string) ([]byte, error) { return l.Store.Blob(l.UUID, hash) }

// Lines are those of the log, from where the filter begins unless all are needed.
func (l Log) Lines(f *Filter, all bool) iter.Seq2[eventlog.Line, error] {
	if all || f.Since.IsZero() || f.Phase != "" {
		return l.Store.Lines(l.UUID)
	}
	return l.Store.LinesFrom(l.UUID, func(r eventlog.Record) bool { return r.When().Before(f.Since) })
}

// Followed are the lines that there are, and those to come until the context ends or ctx does.
func (l Log) Followed(ctx context.Context) (iter.Seq2[eventlog.Line, error], error) {
	dir, err := l.Store.DirOf(l.UUID)
	if err != nil {
		return nil, err
	}
	log, err := l.Store.Stream(l.UUID) // closed with the process: whoever follows does nothing else
	if err != nil {
		return nil, err
	}
	growing, err := Follow(ctx, log, filepath.Join(l.Dir, string(dir), l.UUID, contexts.LogFile))
	if err != nil {
		return nil, err
	}
	return UntilEnd(growing), nil
}

// Pair is an event with its intent or its outcome, see [Pair].
func (l Log) Pair(seq uint64) ([]eventlog.Record, error) {
	pair, err := Pair(l.from, seq)
	if err != nil {
		err = fmt.Errorf("context %s: %w", l.UUID, err)
	}
	return pair, err
}

// from gives the lines from this event on, as [From].
func (l Log) from(seq uint64) iter.Seq2[eventlog.Line, error] {
	return l.Store.LinesFrom(l.UUID, func(r eventlog.Record) bool { return r.Seq < seq })
}

// mostAtOnce is the size of an unfinished log up to which its totals are in the
// header: they need all of it.
const mostAtOnce = 16 << 20

// Header says what the context is about, and how its costs are shown unless the lines below it
// do that. Those also name what cannot be read.
func (l Log) Header(screen term.Screen, lang i18n.Lang, costs bool) {
	info, err := l.Store.InfoUpTo(l.UUID, mostAtOnce)
	if err != nil {
		return
	}
	info.State, info.Work = report.StateOf(l.Store, info), report.WorkAt(l.Store, info, lang)
	hint := ""
	if info.Calls().All > 0 && !costs {
		hint = i18n.Text(lang, "costs.more", info.UUID[:min(8, len(info.UUID))]) + l.With
	}
	Header(screen, lang, info, hint)
}
