package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"agent/internal/cli"
	"agent/internal/config"
	"agent/internal/redact"
)

func (a *commands) configCommand() *cobra.Command {
	group := &cobra.Command{Use: "config", Short: "Show the configuration, or its schema for editors", Example: "  agent config show\n  agent config schema > config.schema.json"}
	changed := false
	show := &cobra.Command{
		Use: "show [KEY...]", Short: "Show the values in force, and where each comes from",
		Long: `show prints every value that is in force and its source: a line of the file, a variable
of the environment, a flag, or the default. With keys or sections it shows those only.
Secrets are never shown, only whether they are set.`,
		Example: `  agent config show
  agent config show llm limits.max_tokens
  agent config show --changed
  agent config show --json | jq -r 'select(.source=="environment").key'`,
		RunE: func(_ *cobra.Command, keys []string) error {
			cfg, err := a.LoadConfig(config.Offline())
			if err != nil {
				return err
			}
			settings := config.Choose(cfg.Effective(), keys, changed)
			if len(settings) == 0 && len(keys) > 0 {
				return cli.Usage(fmt.Errorf("no key in use is called %q", strings.Join(keys, " ")))
			}
			return a.showConfig(cfg, settings)
		},
	}
	show.Flags().BoolVar(&changed, "changed", false, "only what is not the default")
	a.JSONFlag(show, "print one JSON object a line for each key")
	schema := &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of the configuration file", Args: cobra.NoArgs,
		Long: `schema prints a JSON Schema, with which editors complete and check the file. For the YAML
language server put this line at the top of the file:

  # yaml-language-server: $schema=config.schema.json`,
		Example: "  agent config schema > ~/.config/agent/config.schema.json",
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(a.Out, config.Schema)
			return err
		},
	}
	group.AddCommand(show, schema)
	return group
}

func (a *commands) showConfig(cfg *config.Config, settings []config.Setting) error {
	secrets := redact.New(cfg.Secrets()) // also those in a place where nobody expects them
	for i, s := range settings {
		if text, hit := secrets.String(s.Text()); hit {
			settings[i].Value, settings[i].Secret = text, a.JSON || s.Secret
		}
		if a.JSON {
			if err := a.PrintLine(settings[i]); err != nil {
				return err
			}
		}
	}
	if !a.JSON {
		defer a.Page()()
		a.Printer().Settings(cfg.File(), settings)
	}
	return nil
}
