package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"agent/internal/i18n"
	"agent/internal/redact"
	"agent/internal/sanitize"
)

func (a *cli) runCommand() *cobra.Command {
	dry, asJSON, quiet := false, false, false
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
  */5 * * * * agent run --quiet        # in a crontab`,
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
			defer s.Close()
			r := s.newRound(a.voice(s.Redact, quiet))
			if len(refs) == 0 {
				r.all(cmd.Context())
			} else if err := r.only(cmd.Context(), refs); err != nil {
				return err
			}
			if len(refs) == 0 {
				r.nothing()
			}
			return quietly(r.code)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be done, and why")
	cmd.Flags().BoolVar(&quiet, "quiet", false, "say only what went wrong or waits for a person (for cron)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "with --dry-run: print it as JSON")
	return cmd
}

// nothing says that there was nothing to do, and what may wait for a person.
func (r *round) nothing() {
	switch {
	case r.did > 0 || r.code != 0:
	case r.rest > 0:
		r.note(fmt.Sprintf("nothing to do; %d paused, agent status shows why", r.rest))
	default:
		r.note("nothing to do")
	}
}

func (a *cli) loopCommand() *cobra.Command {
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
			if cmd.Flags().Changed("interval") && interval < 1 {
				return usageError{errors.New("--interval takes 1 second or more")}
			}
			s, err := a.assemble()
			if err != nil {
				return err
			}
			defer s.Close()
			every := time.Duration(s.Config.Loop.IntervalSeconds) * time.Second
			if interval > 0 {
				every = time.Duration(interval) * time.Second
			}
			return s.loop(cmd.Context(), every, a.voice(s.Redact, false))
		},
	}
	cmd.Flags().IntVar(&interval, "interval", 0, "seconds between two rounds (default: loop.interval_seconds)")
	return cmd
}

func (s *system) loop(ctx context.Context, every time.Duration, v voice) error {
	s.introduce(every, v)
	wake, closeWatch := s.watch()
	defer closeWatch()
	code := 0
	for ctx.Err() == nil {
		r := s.newRound(v)
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

// introduce says what the loop looks at, and how often.
func (s *system) introduce(every time.Duration, v voice) {
	for _, at := range s.Sites {
		where := strings.Join(at.Config.Projects, ", ")
		v.note(i18n.Text(tongue(s.Config), "loop.looks", at.Host, cmp.Or(where, i18n.Text(tongue(s.Config), "loop.all")), at.Config.BotLabel, every))
	}
}

// watch tells of signals that commands leave. Without it the loop only reacts later.
func (s *system) watch() (wake <-chan struct{}, end func()) {
	events := make(chan struct{}, 1)
	w, err := fsnotify.NewWatcher()
	if err != nil {
		s.Log.Warn("signals are seen at the next round only", "error", err)
		return events, func() {}
	}
	if err := w.Add(filepath.Join(s.Config.ContextsDir, ".control")); err != nil {
		s.Log.Warn("signals are seen at the next round only", "error", err)
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

// voice prints lines for people, one at a time; a quiet one only those that ask for attention.
func (a *cli) voice(secrets *redact.Redactor, quiet bool) voice {
	var mu sync.Mutex
	to := func(out io.Writer) func(string) {
		return func(line string) {
			mu.Lock()
			defer mu.Unlock()
			line, _ = secrets.String(line)
			fmt.Fprintln(out, sanitize.Terminal(line))
		}
	}
	v := voice{say: to(a.out), note: to(a.out), warn: to(a.err)}
	if quiet {
		v.note = silent
	}
	return v
}

func silent(string) {}

func newUUID() string { return uuid.NewString() }
