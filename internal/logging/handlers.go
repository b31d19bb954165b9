package logging

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/lmittmann/tint"

	"agent/internal/redact"
	"agent/internal/sanitize"
)

// maxShown bounds a text that is shown, in characters.
const maxShown = 2000

// display is the handler for standard error.
func display(o Options, level slog.Level) slog.Handler {
	w := unbuffered{o}
	if o.Terminal && o.Debug {
		// tint writes what it is given: escaping happens before.
		h := tint.NewTextHandler(w, &tint.Options{Level: level, TimeFormat: time.TimeOnly, NoColor: o.NoColor})
		return escaping{h, o.Redactor}
	}
	return escaping{tint.NewTextHandler(w, &tint.Options{Level: slog.LevelError, NoColor: !o.Terminal || o.NoColor, ReplaceAttr: dropTime}), o.Redactor}
}

// dropTime leaves the time to whoever collects the lines.
func dropTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// unbuffered redacts each record at once: a person waits for it.
type unbuffered struct{ o Options }

func (u unbuffered) Write(p []byte) (int, error) {
	clean, _ := u.o.Redactor.String(string(p))
	if _, err := u.o.Stderr.Write([]byte(clean)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// escaping makes messages and values safe for a terminal, each on one line.
type escaping struct {
	slog.Handler
	redactor *redact.Redactor
}

// line redacts before it cuts: half a secret would not be known any more.
func (e escaping) line(s string) string {
	clean, _ := e.redactor.String(s)
	return sanitize.Line(clean, maxShown)
}

func (e escaping) Handle(ctx context.Context, r slog.Record) error {
	safe := slog.NewRecord(r.Time, r.Level, e.line(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		safe.AddAttrs(e.attr(a))
		return true
	})
	return e.Handler.Handle(ctx, safe)
}

func (e escaping) WithAttrs(attrs []slog.Attr) slog.Handler {
	safe := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		safe[i] = e.attr(a)
	}
	return escaping{e.Handler.WithAttrs(safe), e.redactor}
}

func (e escaping) WithGroup(name string) slog.Handler {
	return escaping{e.Handler.WithGroup(e.line(name)), e.redactor}
}

func (e escaping) attr(a slog.Attr) slog.Attr {
	key, v := e.line(a.Key), a.Value.Resolve()
	switch v.Kind() {
	case slog.KindGroup:
		inner := v.Group()
		safe := make([]slog.Attr, len(inner))
		for i, each := range inner {
			safe[i] = e.attr(each)
		}
		return slog.Attr{Key: key, Value: slog.GroupValue(safe...)}
	case slog.KindString, slog.KindAny:
		text := strings.TrimSpace(fmt.Sprint(v.Any()))
		return slog.String(key, e.line(text))
	default: // numbers, truth values and times hold no text
		return slog.Attr{Key: key, Value: v}
	}
}

// escapingJSON writes lines of JSON so that a pager or cat can show them.
type escapingJSON struct{ io.Writer }

func (e escapingJSON) Write(p []byte) (int, error) {
	if _, err := e.Writer.Write(sanitize.JSON(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

type onlyFile struct{}

// OnlyFile marks what is written to the file alone, because the program says it
// to people in its own words.
func OnlyFile(ctx context.Context) context.Context { return context.WithValue(ctx, onlyFile{}, true) }

// shown leaves out what is for the file alone.
type shown struct{ slog.Handler }

func (s shown) Enabled(ctx context.Context, level slog.Level) bool {
	return ctx.Value(onlyFile{}) == nil && s.Handler.Enabled(ctx, level)
}

func (s shown) WithAttrs(attrs []slog.Attr) slog.Handler { return shown{s.Handler.WithAttrs(attrs)} }
func (s shown) WithGroup(name string) slog.Handler       { return shown{s.Handler.WithGroup(name)} }

// fan hands each record to all handlers that want it.
type fan []slog.Handler

func (f fan) Enabled(ctx context.Context, level slog.Level) bool {
	for _, h := range f {
		if h.Enabled(ctx, level) {
			return true
		}
	}
	return false
}

func (f fan) Handle(ctx context.Context, r slog.Record) error {
	var errs []error
	for _, h := range f {
		if h.Enabled(ctx, r.Level) {
			errs = append(errs, h.Handle(ctx, r.Clone()))
		}
	}
	return errors.Join(errs...)
}

func (f fan) WithAttrs(attrs []slog.Attr) slog.Handler {
	return f.each(func(h slog.Handler) slog.Handler { return h.WithAttrs(attrs) })
}

func (f fan) WithGroup(name string) slog.Handler {
	return f.each(func(h slog.Handler) slog.Handler { return h.WithGroup(name) })
}

func (f fan) each(change func(slog.Handler) slog.Handler) fan {
	out := make(fan, len(f))
	for i, h := range f {
		out[i] = change(h)
	}
	return out
}
