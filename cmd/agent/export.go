package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"agent/internal/cli"
	"agent/internal/config"
	"agent/internal/export"
	"agent/internal/redact"
	"agent/internal/term"
)

// exporting is one call of agent export.
type exporting struct {
	*commands
	format, file, endpoint string
	content                bool
}

func (a *commands) exportCommand() *cobra.Command {
	e := &exporting{commands: a}
	cmd := &cobra.Command{
		Use: "export CONTEXT", Short: "Write a context in the format of another program", Args: cobra.ExactArgs(1),
		Long: `export writes a context to standard output or a file. Everything is redacted once more, with
the secrets of the configuration as it is now.

  jsonl      the log's lines, with the texts that lie beside it
  markdown   what the context is about, and its conversation
  html       the page of agent inspect --html
  otlp       OpenTelemetry spans in JSON, one request a line: for the collector's OTLP JSON
             file receiver. Without texts, unless --content or telemetry.content asks for them
  atif       a trajectory for evaluations and training (Harbor, ATIF 1.7)`,
		Example: `  agent export 3f2a --format markdown -o run.md
  agent export 3f2a --format otlp > spans.json
  agent export 3f2a --format otlp --endpoint http://127.0.0.1:4318
  agent export 3f2a --format atif | jq .final_metrics`,
		RunE: func(cmd *cobra.Command, args []string) error { return e.run(cmd.Context(), args[0]) },
	}
	cmd.Flags().StringVar(&e.format, "format", "markdown", strings.Join(export.Formats, " | "))
	cmd.Flags().StringVarP(&e.file, "output", "o", "", "write to `FILE`, which only you can read")
	cmd.Flags().StringVar(&e.endpoint, "endpoint", "", "post the spans to `URL` instead, with telemetry.headers")
	cmd.MarkFlagsMutuallyExclusive("output", "endpoint")
	cmd.Flags().BoolVar(&e.content, "content", false, "spans with their texts: prompts, replies, arguments, outputs")
	cli.CompleteFlag(cmd, "format", export.Formats)
	return cmd
}

func (e *exporting) run(ctx context.Context, ref string) error {
	if !slices.Contains(export.Formats, e.format) {
		return cli.Usage(fmt.Errorf("--format takes %s", strings.Join(export.Formats, ", ")))
	}
	if e.endpoint != "" && e.format != "otlp" {
		return cli.Usage(errors.New("--endpoint goes with --format otlp"))
	}
	l, err := e.view(config.Offline())
	if err != nil {
		return err
	}
	uuid, err := l.Store.Newest(ref, l.Hosts...)
	if err != nil {
		return err
	}
	source := export.Source{Store: l.Store, UUID: uuid, Redact: redact.New(l.Config.Secrets()), Secrets: l.Config.Secrets(), Version: cli.Version(), Lang: l.Source.Lang,
		Content: e.content || l.Config.Telemetry.Content}
	if e.endpoint != "" {
		return e.send(ctx, source, l.Config)
	}
	if e.file == "" {
		return source.Write(term.Of(e.Out), e.format)
	}
	return export.ToFile(e.file, func(w io.Writer) error { return source.Write(w, e.format) })
}

// send posts spans, also once more: they keep their ids.
func (e *exporting) send(ctx context.Context, source export.Source, cfg *config.Config) error {
	if bad := config.BadURL(e.endpoint, cfg.AllowHTTP); bad != "" {
		return cli.Usage(fmt.Errorf("--endpoint %s", bad))
	}
	n, err := source.Send(ctx, export.Client{Endpoint: e.endpoint, Headers: cfg.Telemetry.Headers})
	e.Say("export.sent", n, e.endpoint)
	return err
}
