// Package logging makes the application's log: what the program did, for its
// operator. It is not the event log, and nothing depends on it.
//
// Records go as JSON, one a line, to agent.log in a directory of mode 0700,
// rotated by day and compressed, with control and invisible characters as \u
// escapes (sanitize.JSON). Standard error gets only errors, as plain lines, so that
// cron has something to mail and a person can read what run says; on a terminal
// [Options].Debug shows all of it. Everything passes the redactor,
// and what is shown passes sanitize.Terminal. A directory that cannot be written
// is a warning on standard error, never a failure.
package logging

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"agent/internal/redact"
	"agent/internal/sanitize"
)

// Options says where the log goes.
type Options struct {
	Dir      string // of agent.log; empty: no file
	Level    string // debug | info | warn | error; empty: info
	Debug    bool   // overrides Level
	Stderr   io.Writer
	Terminal bool // Stderr is a terminal
	NoColor  bool // $NO_COLOR is set
	Redactor *redact.Redactor
}

// New makes a logger. Close flushes and ends the file. The error is about
// Options that make no sense, such as an unknown level.
func New(o Options) (*slog.Logger, io.Closer, error) {
	level := slog.LevelInfo
	if o.Level != "" {
		if err := level.UnmarshalText([]byte(o.Level)); err != nil {
			return nil, nil, fmt.Errorf("logging: unknown level: use debug, info, warn or error")
		}
	}
	if o.Debug {
		level = slog.LevelDebug
	}
	handlers := fan{shown{display(o, level)}}
	var closer closers
	if o.Dir != "" {
		file, err := open(o.Dir)
		if err != nil {
			fmt.Fprintf(o.Stderr, "warning: no log file: %s\n", sanitize.Line(err.Error(), 300))
		} else {
			lines := o.Redactor.Writer(escapingJSON{file})
			handlers = append(handlers, slog.NewJSONHandler(lines, &slog.HandlerOptions{Level: level}))
			closer = closers{lines, file}
		}
	}
	return slog.New(handlers), closer, nil
}

// open makes sure that the log can be written before anything relies on it.
func open(dir string) (io.WriteCloser, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, fileName), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	return &daily{dir: dir, now: time.Now, max: maxSize}, nil
}

// closers are closed in order.
type closers []io.Closer

// Close returns the first error.
func (c closers) Close() error {
	var first error
	for _, each := range c {
		if err := each.Close(); err != nil && first == nil {
			first = fmt.Errorf("logging: close: %s", strings.TrimSpace(err.Error()))
		}
	}
	return first
}
