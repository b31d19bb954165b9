package main

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"agent/internal/app/rounds"
	"agent/internal/i18n"
	"agent/internal/redact"
	"agent/internal/sanitize"
)

func (a *cli) runCommand() *cobra.Command {
	dry, asJSON, quiet := false, false, false
	cmd := &cobra.Command{
		Use:   "run [TASK...]",
		Short: "Work on what there is to do, then end",
		Long: `run resumes contexts that did not end, picks up labelled items, works on them, and ends.
It is made for cron: several runs at the same time never do anything twice. With tasks
(a URL, or the uuid of a context or the beginning of one) it works on those only,
labelled or not. With --dry-run it says what it would do and why, and changes nothing,
neither here nor on the forge.`,
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
			voice := a.voice(s.Redact, quiet)
			r := rounds.New(s, voice)
			if len(refs) > 0 {
				summary, err := r.Only(cmd.Context(), refs)
				return errors.Join(err, quietly(roundCode(summary)))
			}
			summary := r.All(cmd.Context())
			sayNothing(voice, summary, s.Language())
			return quietly(roundCode(summary))
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be done, and why")
	cmd.Flags().BoolVar(&quiet, "quiet", false, "say only what went wrong or waits for a person (for cron)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "with --dry-run: print it as JSON")
	return cmd
}

// sayNothing says that there was nothing to do, and how many tasks are paused.
func sayNothing(v rounds.Voice, s rounds.Summary, lang i18n.Lang) {
	switch {
	case s.Did > 0 || roundCode(s) != 0:
	case s.Paused > 0:
		v.Note(i18n.Text(lang, "run.nothing.paused", s.Paused))
	default:
		v.Note(i18n.Text(lang, "run.nothing"))
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
			return quietly(roundCode(rounds.New(s, a.voice(s.Redact, false)).Loop(cmd.Context(), every)))
		},
	}
	cmd.Flags().IntVar(&interval, "interval", 0, "seconds between two rounds (default: loop.interval_seconds)")
	return cmd
}

// voice prints lines for people, one at a time; a quiet one only those that ask for attention.
func (a *cli) voice(secrets *redact.Redactor, quiet bool) rounds.Voice {
	var mu sync.Mutex
	to := func(out io.Writer) func(string) {
		return func(line string) {
			mu.Lock()
			defer mu.Unlock()
			line, _ = secrets.String(line)
			fmt.Fprintln(out, sanitize.Terminal(line))
		}
	}
	warn := to(a.err)
	v := rounds.Voice{Say: to(a.out), Note: to(a.out), Trouble: func(what string, err error) {
		warn("trouble: " + what + ": " + err.Error())
		if hint := hintOf(err); hint != "" {
			warn("  → " + hint)
		}
	}}
	if quiet {
		v.Note = func(string) {}
	}
	return v
}
