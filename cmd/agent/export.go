package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/internal/config"
	"agent/internal/export"
	"agent/internal/redact"
	"agent/internal/term"
)

// exporting is one call of agent export.
type exporting struct {
	*cli
	format, file string
	content      bool
}

func (a *cli) exportCommand() *cobra.Command {
	e := &exporting{cli: a}
	cmd := &cobra.Command{
		Use: "export CONTEXT", Short: "Write a context in the format of another program", Args: cobra.ExactArgs(1),
		Long: `export writes a context to standard output or a file. Everything is redacted once more, with
the secrets of the configuration as it is now.

  jsonl      the log's lines, with the texts that lie beside it
  markdown   what the context is about, and its conversation
  otlp       OpenTelemetry spans in JSON, one request a line: for the collector's OTLP JSON
             file receiver. Without texts, unless --content or telemetry.content asks for them
  atif       a trajectory for evaluations and training (Harbor, ATIF 1.7)`,
		Example: `  agent export 3f2a --format markdown -o run.md
  agent export 3f2a --format otlp > spans.json
  agent export 3f2a --format atif | jq .final_metrics`,
		RunE: func(_ *cobra.Command, args []string) error { return e.run(args[0]) },
	}
	cmd.Flags().StringVar(&e.format, "format", "markdown", strings.Join(export.Formats, " | "))
	cmd.Flags().StringVarP(&e.file, "output", "o", "", "write to `FILE`, which only you can read")
	cmd.Flags().BoolVar(&e.content, "content", false, "spans with their texts: prompts, replies, arguments, outputs")
	completeFlag(cmd, "format", export.Formats)
	return cmd
}

func (e *exporting) run(ref string) error {
	if !slices.Contains(export.Formats, e.format) {
		return usageError{fmt.Errorf("--format takes %s", strings.Join(export.Formats, ", "))}
	}
	l, err := e.view(config.Offline())
	if err != nil {
		return err
	}
	uuid, err := l.Store.Newest(ref, l.hosts...)
	if err != nil {
		return err
	}
	source := export.Source{Store: l.Store, UUID: uuid, Redact: redact.New(l.Config.Secrets()), Version: version(), Lang: l.lang, Content: e.content}
	if e.file == "" {
		return source.Write(term.Of(e.out), e.format)
	}
	return toFile(e.file, func(w io.Writer) error { return source.Write(w, e.format) })
}

// toFile writes a file that is there whole or not at all. What a damaged context still
// tells is kept.
func toFile(name string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-") // of mode 0600
	if err != nil {
		return err
	}
	damage := write(f)
	err = f.Close()
	if err == nil && (damage == nil || exitCode(damage) == contexts.ExitDamage) {
		err = os.Rename(f.Name(), name)
	}
	if err != nil || damage != nil {
		_ = os.Remove(f.Name()) // gone if it was renamed
	}
	return errors.Join(damage, err)
}
