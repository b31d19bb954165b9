package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"agent/internal/redact"
	"agent/internal/sanitize"
)

func (a *app) runCommand() *cobra.Command {
	dry, asJSON := false, false
	cmd := &cobra.Command{
		Use:   "run [TASK...]",
		Short: "Work on what there is to do, then end",
		Long: `run goes on with contexts that were begun, picks up labelled items, works on them,
and ends. It is made for cron: several runs at the same time never do a thing twice.
With tasks (a URL, or the uuid of a context or the beginning of one) it works on those
only, labelled or not. With --dry-run it says what it would do and why, and changes
nothing, neither here nor on the forge.`,
		Example: `  agent run
  agent run --dry-run
  agent run https://github.com/owner/repo/issues/12
  */5 * * * * agent run        # in a crontab`,
		RunE: func(cmd *cobra.Command, refs []string) error {
			if asJSON && !dry {
				return usageError{errors.New("--json goes with --dry-run")}
			}
			if dry {
				return a.dryRun(cmd.Context(), refs, asJSON)
			}
			s, err := a.assemble()
			if err != nil {
				return err
			}
			defer s.close()
			r := s.newRound(a.sayer(s.redact))
			if len(refs) == 0 {
				r.all(cmd.Context())
			} else if err := r.only(cmd.Context(), refs); err != nil {
				return err
			}
			r.nothing()
			return quietly(r.code)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be done, and why")
	cmd.Flags().BoolVar(&asJSON, "json", false, "with --dry-run: print it as JSON")
	return cmd
}

// nothing says that there was nothing to do, and what may wait for a person.
func (r *round) nothing() {
	switch {
	case r.did > 0 || r.code != 0:
	case r.rest > 0:
		r.say(fmt.Sprintf("nothing to do; %d paused, agent status shows why", r.rest))
	default:
		r.say("nothing to do")
	}
}

func (a *app) loopCommand() *cobra.Command {
	interval := 0
	cmd := &cobra.Command{
		Use:   "loop",
		Short: "Do what run does, again and again",
		Long: `loop does what run does every loop.interval_seconds (30 by default), and at once when
a command leaves a signal for it. It ends at SIGTERM or SIGINT.`,
		Example: `  agent loop
  agent loop --interval 10`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.assemble()
			if err != nil {
				return err
			}
			defer s.close()
			every := time.Duration(s.config.Loop.IntervalSeconds) * time.Second
			if interval > 0 {
				every = time.Duration(interval) * time.Second
			}
			return s.loop(cmd.Context(), every, a.sayer(s.redact))
		},
	}
	cmd.Flags().IntVar(&interval, "interval", 0, "seconds between two rounds (default: loop.interval_seconds)")
	return cmd
}

func (s *system) loop(ctx context.Context, every time.Duration, say func(string)) error {
	wake, closeWatch := s.watch()
	defer closeWatch()
	code := 0
	for ctx.Err() == nil {
		r := s.newRound(say)
		r.all(ctx)
		code = r.code
		select {
		case <-ctx.Done():
		case <-time.After(every):
		case <-wake:
		}
	}
	return quietly(code)
}

// watch tells of signals that commands leave. Without it the loop only reacts later.
func (s *system) watch() (wake <-chan struct{}, end func()) {
	events := make(chan struct{}, 1)
	w, err := fsnotify.NewWatcher()
	if err != nil {
		s.log.Warn("signals are seen at the next round only", "error", err)
		return events, func() {}
	}
	if err := w.Add(filepath.Join(s.config.ContextsDir, ".control")); err != nil {
		s.log.Warn("signals are seen at the next round only", "error", err)
	}
	go func() {
		for range w.Events {
			select {
			case events <- struct{}{}:
			default:
			}
		}
	}()
	go func() {
		for range w.Errors { // an overflow: the next round looks at everything anyway
		}
	}()
	return events, func() { _ = w.Close() }
}

// sayer prints lines for people, one at a time.
func (a *app) sayer(secrets *redact.Redactor) func(string) {
	var mu sync.Mutex
	return func(line string) {
		mu.Lock()
		defer mu.Unlock()
		line, _ = secrets.String(line)
		fmt.Fprintln(a.out, sanitize.Terminal(line))
	}
}

func newUUID() string { return uuid.NewString() }
