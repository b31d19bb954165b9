package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/cli"
	"agent/internal/config"
	"agent/internal/page"
	"agent/internal/term"
	"agent/internal/viewer"
)

// inspection is one call of agent inspect.
type inspection struct {
	*commands
	log    viewer.Log
	screen term.Screen

	full, conversation, costs, follow, failed bool
	request                                   uint64
	types                                     []string
	since, phase, grep, html                  string
}

func (a *commands) inspectCommand() *cobra.Command {
	i := &inspection{commands: a}
	cmd := &cobra.Command{
		Use: "inspect [CONTEXT [SEQ]]", Short: "Show what happened in a context, and why", Args: cobra.MaximumNArgs(2),
		Long: `inspect prints one line for each event of a context's log. With SEQ it shows that event
whole, and with it what it led to or came from: a tool call and its output, a request
and its reply. --conversation shows what the model read and wrote, and where the work
paused or broke off; --costs what each model call took, by phase and action, and in all.
It never writes, also not to a damaged log: it shows what can be read around the damage
and exits with 65. Without a CONTEXT it prints what agent list prints.`,
		Example: `  agent inspect 3f2a
  agent inspect 3f2a 42                      # event 42 whole: a tool call with its output
  agent inspect 3f2a --failed                # what went wrong
  agent inspect 3f2a --conversation
  agent inspect 3f2a --costs                 # tokens, money and time of each model call
  agent inspect 3f2a --request 12            # the request as it was sent, made again from the log
  agent inspect 3f2a -f                      # follow it while it runs
  agent inspect 3f2a --html run.html         # one file for a browser: timeline, files, conversation, costs
  agent inspect 3f2a --json | jq 'select(.type=="tool.requested").data'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return i.without(cmd)
			}
			return i.run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	a.JSONFlag(cmd, "print the log's lines; control and invisible characters as \\u escapes")
	flags.BoolVar(&i.full, "full", false, "do not shorten lines")
	flags.BoolVar(&i.conversation, "conversation", false, "show the messages to and from the model")
	flags.BoolVar(&i.costs, "costs", false, "show tokens, money and time of each model call, and their sums")
	flags.Uint64Var(&i.request, "request", 0, "show the model request of event `SEQ` as it was sent")
	flags.StringVar(&i.html, "html", "", "write a page with all of it to `FILE`, which needs no network (- is standard output)")
	flags.BoolVarP(&i.follow, "follow", "f", false, "go on as the log grows, until Ctrl-C")
	flags.StringSliceVar(&i.types, "type", nil, "only events of these types, such as tool.replied, tool or *.failed")
	flags.BoolVar(&i.failed, "failed", false, "only what failed: calls, commands with another exit code than 0, writes, limits")
	flags.StringVar(&i.since, "since", "", "only events of this age (24h, 7d) or from this day (2026-11-27) on")
	flags.StringVar(&i.phase, "phase", "", "only events of this phase of planning")
	flags.StringVar(&i.grep, "grep", "", "only events whose data match this regular expression")
	cmd.MarkFlagsMutuallyExclusive("conversation", "costs", "request", "html")
	return cmd
}

// without a context lists them. What else was asked for needs one.
func (i *inspection) without(cmd *cobra.Command) error {
	asked := false
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { asked = asked || f.Changed && f.Name != "json" })
	if asked {
		return cli.WrongArgs(cmd, nil, nil)
	}
	l, err := i.commands.view(config.Offline())
	if err != nil {
		return err
	}
	return l.list("")
}

func (i *inspection) run(ctx context.Context, args []string) error {
	cfg, err := i.LoadConfig(config.Offline())
	if err != nil {
		return err
	}
	i.log.Dir, i.log.With = cfg.ContextsDir, i.With()
	if i.log.Store, err = i.OpenAs(cfg, true); err != nil {
		return err
	}
	if i.log.UUID, err = i.log.Store.Newest(args[0], i.Hosts...); err != nil {
		return err
	}
	if i.html != "" {
		return i.page(cfg.Secrets())
	}
	filter, err := viewer.FilterOptions{Types: i.types, Phase: i.phase, Failed: i.failed, Since: i.since, Grep: i.grep}.Filter(time.Now())
	if err != nil {
		return cli.Usage(err)
	}
	end := func() {}
	if i.screen = term.Of(i.Out); !i.follow && !i.JSON {
		i.screen, end = i.screen.Page()
	}
	defer end()
	switch {
	case len(args) > 1:
		return i.event(args[1])
	case i.request > 0:
		return i.showRequest()
	}
	return i.list(ctx, filter)
}

func (i *inspection) printer() *viewer.Printer {
	return &viewer.Printer{Screen: i.screen, Lang: i.Lang, UUID: i.log.UUID, Blob: i.log.Blob, Full: i.full, JSON: i.JSON, Failed: i.failed, With: i.With()}
}

func (i *inspection) view() viewer.View {
	switch p := i.printer(); {
	case i.costs:
		return p.Costs()
	case i.conversation:
		return p.Conversation()
	default:
		return p.Timeline()
	}
}

// list prints events or messages, one after the other.
func (i *inspection) list(ctx context.Context, filter *viewer.Filter) error {
	lines := i.log.Lines(filter, i.conversation || i.costs)
	if i.follow {
		var err error
		if lines, err = i.log.Followed(ctx); err != nil {
			return err
		}
	}
	view := i.view()
	if !i.JSON {
		i.log.Header(i.screen, i.Lang, i.costs)
	}
	code := 0
	for line, err := range lines {
		if i.screen.Gone() {
			break
		}
		code = cli.Worse(code, i.problem(line, err))
		r := line.Record
		if r.Line == nil {
			continue // nothing that can be read
		}
		view.Record(r, filter.Fits(r))
	}
	view.End()
	if err := i.log.Store.Check(i.log.UUID); err != nil && code == 0 { // such as events missing at the end
		i.Problem(err.Error())
		code = cli.ExitCode(err)
	}
	return cli.Quietly(code)
}

// problem says what is wrong with a line, and gives the exit code for it.
func (i *inspection) problem(line contexts.Line, err error) int {
	switch {
	case err != nil:
		i.Problem(err.Error())
		return cli.ExitCode(err)
	case line.Err != nil:
		i.Problem(line.Err.Error())
		if !contexts.IsTorn(line.Err) {
			return contexts.ExitDamage
		}
	}
	return 0
}

// event shows the event with this number, and its intent or its outcome.
func (i *inspection) event(number string) error {
	seq, err := strconv.ParseUint(number, 10, 64)
	if err != nil || seq == 0 {
		return cli.Usage(fmt.Errorf("SEQ is the number of an event, not %q", number))
	}
	pair, err := i.log.Pair(seq)
	if err != nil {
		return cli.Refused(err)
	}
	return i.printer().Whole(i.log, pair)
}

// page writes the page of the context.
func (i *inspection) page(secrets []string) error {
	doc, err := page.Of(i.log.Store, i.log.UUID, i.Lang, secrets)
	if err != nil {
		return err
	}
	if err := doc.WriteFile(i.html, i.Out); err != nil {
		return err
	}
	if len(doc.Problems) > 0 {
		i.Problem(doc.Problems[0])
		return cli.Quietly(contexts.ExitDamage)
	}
	return nil
}

func (i *inspection) showRequest() error {
	pair, err := i.log.Pair(i.request)
	if err != nil {
		return cli.Refused(err)
	}
	if first := pair[0]; string(first.Type) != (&event.LLMRequested{}).Type() {
		return cli.Refused(fmt.Errorf("event %d is %s, not a request to the model", first.Seq, first.Type))
	}
	request, err := viewer.RequestAt(i.log.Store.Events(i.log.UUID), pair[0].Seq)
	if err != nil {
		return err
	}
	if i.JSON {
		_, err := fmt.Fprintf(i.Out, "%s\n", request.Body)
		return err
	}
	return i.printer().Request(pair[0].Seq, request)
}
