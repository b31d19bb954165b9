package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"agent/internal/cli"
	"agent/internal/config"
	"agent/internal/i18n"
	"agent/internal/registry"
	"agent/internal/sandbox"
	"agent/internal/sanitize"
	"agent/internal/setup"
)

func (a *commands) initCommand() *cobra.Command {
	s, createLabels := setup.Answers{Locale: i18n.FromEnv(a.Getenv)}, false
	forges, providers := strings.Join(registry.RemoteForges(), ", "), strings.Join(registry.ProviderNames(), ", ")
	cmd := &cobra.Command{
		Use: "init", Short: "Write a configuration file to start with", Args: cobra.NoArgs,
		Long: `init writes a commented config.yaml (mode 0600) from its flags. On a terminal it asks for
what they leave open, and checks token, repositories and model as far as the variables
are set. Secrets never go into that file, only the names of the variables
that hold them; the file env beside it has a line for each, to be filled in. An existing
file is kept unless --force is given, and env is never replaced.`,
		Example: `  agent init
  agent init --repo owner/repo --bot-name my-bot --provider ollama --model qwen3-coder
  agent init --forge-url https://gitlab.example.com/api/v4 --repo group/project --lang ja --create-labels`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.init(cmd.Context(), s, createLabels, os.Stdin) },
	}
	f := cmd.Flags()
	f.StringVar(&s.Forge, "forge", "", "one of "+forges+" (default: what --forge-url looks like)")
	f.StringVar(&s.ForgeURL, "forge-url", "", "API of the forge (default "+registry.Forges[0].APIURL+")")
	f.StringSliceVar(&s.Projects, "repo", nil, "owner/repo, or group/project on GitLab; may be repeated")
	f.StringVar(&s.TokenEnv, "token-env", "", "variable that holds the forge's token (default "+registry.Forges[0].TokenEnv()+")")
	f.StringVar(&s.BotName, "bot-name", "", "login of the token's account")
	f.StringVar(&s.Provider, "provider", "", "one of "+providers+" (default "+registry.Providers[0].Name+")")
	f.StringVar(&s.Model, "model", "", "name of the model")
	f.StringVar(&s.BaseURL, "base-url", "", "address of the model server")
	f.StringVar(&s.MaxTokens, "max-tokens", "", "tokens that a task may use, 0: no limit (default 2000000)")
	f.StringVar(&s.MaxCostUSD, "max-cost-usd", "", "USD that a task may cost, 0: no limit (default 0)")
	f.StringVar(&s.Lang, "lang", "", "auto, en or ja (default auto)")
	f.StringVar(&s.Workspace, "workspace", "", "local repository to work in, in place: no clone, branch or push")
	f.StringVar(&s.Sandbox, "sandbox", "", "off or required, where the system has no sandbox (default: asks, else off)")
	f.StringVar(&s.Output, "output", "", "file to write (default: --config, or the default path)")
	a.JSONFlag(cmd, "print what was written as one JSON object; questions go to standard error")
	f.BoolVar(&s.Force, "force", false, "replace an existing file")
	f.BoolVar(&createLabels, "create-labels", false, "create the labels on the forge")
	cli.CompleteFlag(cmd, "forge", registry.RemoteForges())
	cli.CompleteFlag(cmd, "provider", registry.ProviderNames())
	cli.CompleteFlag(cmd, "lang", []string{"auto", "en", "ja"})
	return cmd
}

func (a *commands) init(ctx context.Context, s setup.Answers, createLabels bool, in *os.File) error {
	path, _ := config.Path(a.ConfigPath, a.Getenv)
	s.Output = cmp.Or(s.Output, path)
	if err := s.CheckOutput(); err != nil {
		return cli.Usage(err)
	}
	if _, lack := (sandbox.Policy{}).Check(); lack != nil {
		s.NoSandbox = lack.Error()
	}
	if term.IsTerminal(int(in.Fd())) {
		questions := a.Out
		if a.JSON {
			questions = a.Err
		}
		s.Getenv = a.Getenv
		if err := s.Ask(ctx, bufio.NewReader(in), questions); err != nil {
			return cli.Quietly(cli.ExitInterrupted)
		}
	}
	if err := s.Complete(); err != nil {
		return cli.Usage(err)
	}
	if err := s.Write(); errors.Is(err, setup.ErrExists) {
		return cli.Usage(err)
	} else if err != nil {
		return err
	}
	a.Lang = s.Language()
	return a.written(ctx, &s, createLabels)
}

// initialized is what init --json prints.
type initialized struct {
	File      string         `json:"file"`
	Variables []string       `json:"variables"` // that have to be set
	EnvFile   string         `json:"env_file"`  // where
	Sandbox   string         `json:"sandbox,omitempty"`
	Labels    []createdLabel `json:"labels,omitempty"` // that were created
}

// createdLabel is a label that a project has now.
type createdLabel struct {
	Label   string `json:"label"`
	Project string `json:"project"`
}

// written tells of the file, creates the labels if that is wished, and says what comes next.
func (a *commands) written(ctx context.Context, s *setup.Answers, createLabels bool) (err error) {
	did := initialized{File: s.Output, Variables: s.Variables(), EnvFile: s.EnvFile(), Sandbox: s.Sandbox}
	say := a.Say
	if a.JSON {
		say = func(i18n.ID, ...any) {}
	}
	say("init.written", s.Output)
	if s.Sandbox == "off" {
		say("init.c.sandbox")
	}
	if createLabels {
		err = a.createLabels(ctx, s.Output, func(label, project string) {
			did.Labels = append(did.Labels, createdLabel{label, project})
			say("init.label", label, project)
		})
	}
	if a.JSON {
		_ = a.PrintLine(did)
	} else { // the file is there, even if the labels are not
		say("init.next", strings.Join(did.Variables, ", "), s.EnvFile())
		a.nextSteps(s.Output)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", a.Text("init.nolabels"), err)
	}
	return nil
}

func (a *commands) createLabels(ctx context.Context, file string, created func(label, project string)) error {
	cfg, _, err := config.Load(file, a.Getenv)
	if err != nil {
		return err
	}
	return setup.CreateLabels(ctx, cfg, created)
}

// nextSteps shows what to type next.
func (a *commands) nextSteps(file string) {
	flag := ""
	if usual, _ := config.Path("", a.Getenv); usual != file {
		flag = " --config " + file
	}
	for _, step := range []string{"doctor", "run --dry-run", "run"} {
		fmt.Fprintln(a.Out, "  agent "+step+sanitize.Terminal(flag))
	}
}
