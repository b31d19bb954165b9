package main

import (
	"cmp"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"agent/internal/app"
	"agent/internal/app/rounds"
	"agent/internal/cli"
	"agent/internal/sdnotify"
)

func (a *commands) runCommand() *cobra.Command {
	w, dry := &cli.Worker{Env: a.Env}, false
	cmd := &cobra.Command{
		Use:   "run [TASK...]",
		Short: "Work on what there is to do, then end",
		Long: `run resumes contexts that did not end, picks up labelled items, works on them, and ends.
It is made for cron: several runs at the same time never do anything twice. With tasks
(a URL, or the uuid of a context or the beginning of one) it works on those only,
labelled or not. With --dry-run it says what it would do and why, and changes nothing,
neither here nor on the forge.

On a terminal each task has a line that says what it does now, with the finished steps
above. Ctrl-C ends it with 130: what was done is kept, and the next run goes on from there.
DEBUG=1 shows the program's own log, too.`,
		Example: `  agent run
  agent run --verbose | tee run.txt
  agent run --dry-run
  agent run https://github.com/owner/repo/issues/12
  */5 * * * * agent run --quiet        # in a crontab`,
		RunE: func(cmd *cobra.Command, refs []string) error {
			if dry {
				return a.dryRun(cmd.Context(), refs)
			}
			return w.Do(cmd.Context(), func(r *rounds.Rounds, s *app.App, voice rounds.Voice) (rounds.Summary, error) {
				if len(refs) > 0 {
					return r.Only(cmd.Context(), refs)
				}
				summary := r.All(cmd.Context())
				cli.SayNothing(voice, summary, s.Language())
				return summary, nil
			})
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be done, and why")
	workerFlags(w, cmd)
	return cmd
}

// workerFlags are those that run and loop share.
func workerFlags(w *cli.Worker, cmd *cobra.Command) {
	cmd.Flags().BoolVar(&w.Quiet, "quiet", false, "say only what went wrong or waits for a person (for cron)")
	cmd.Flags().BoolVar(&w.Verbose, "verbose", false, "print a line for each step; a terminal shows them anyway")
	w.JSONFlag(cmd, "print one JSON object a line: each task and its outcome")
}

func (a *commands) loopCommand() *cobra.Command {
	w, interval := &cli.Worker{Env: a.Env}, 0
	cmd := &cobra.Command{
		Use:   "loop",
		Short: "Do what run does, again and again",
		Long: `loop does what run does every loop.interval_seconds (30 by default), and at once when
a command leaves a signal for it or a forge sends a hook (webhooks.listen). It ends at SIGTERM with 0, and at Ctrl-C with 130.`,
		Example: `  agent loop
  agent loop --interval 10`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("interval") && interval < 1 {
				return cli.Usage(errors.New("--interval takes 1 second or more"))
			}
			return w.Do(cmd.Context(), func(r *rounds.Rounds, s *app.App, _ rounds.Voice) (rounds.Summary, error) {
				every := time.Duration(s.Config.Loop.IntervalSeconds) * time.Second
				if interval > 0 {
					every = time.Duration(interval) * time.Second
				}
				hooks, err := s.ListenForHooks()
				if err != nil {
					return rounds.Summary{}, err
				}
				r.Hooks = cmp.Or(hooks, r.Hooks)
				r.Service = sdnotify.New(a.Getenv)
				return rounds.Summary{Left: r.Loop(cmd.Context(), every).Left}, nil // it ends as it was asked to, whatever the last round met
			})
		},
	}
	cmd.Flags().IntVar(&interval, "interval", 0, "seconds between two rounds (default: loop.interval_seconds)")
	workerFlags(w, cmd)
	return cmd
}
