package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"agent/internal/config"
	"agent/internal/i18n"
	"agent/internal/sanitize"
)

// setup is what init asks for. An empty answer means the default.
type setup struct {
	ForgeURL, TokenEnv, BotName      string
	Repos                            []string
	Provider, Model, BaseURL, KeyEnv string
	Lang, Output, Workspace          string
	force, createLabels              bool
}

func (a *cli) initCommand() *cobra.Command {
	var s setup
	cmd := &cobra.Command{
		Use: "init", Short: "Write a configuration to begin with", Args: cobra.NoArgs,
		Long: `init writes a commented config.yaml (mode 0600) from flags, and asks on a terminal for what
they leave open. Secrets never go into the file, only the names of the environment
variables that hold them. A file that is there stays, unless --force is given.`,
		Example: `  agent init
  agent init --repo owner/repo --bot-name my-bot --provider ollama --model qwen3-coder
  agent init --forge-url https://gitlab.example.com/api/v4 --repo group/project --lang ja --create-labels`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.init(cmd.Context(), s, os.Stdin) },
	}
	f := cmd.Flags()
	f.StringVar(&s.ForgeURL, "forge-url", "", "API of the forge (default https://api.github.com)")
	f.StringSliceVar(&s.Repos, "repo", nil, "owner/repo, or group/project on GitLab; may be repeated")
	f.StringVar(&s.TokenEnv, "token-env", "", "variable with the forge's token (default GITHUB_PERSONAL_ACCESS_TOKEN or GITLAB_…)")
	f.StringVar(&s.BotName, "bot-name", "", "login of the token's account")
	f.StringVar(&s.Provider, "provider", "", "openai, ollama or lmstudio (default openai)")
	f.StringVar(&s.Model, "model", "", "name of the model")
	f.StringVar(&s.BaseURL, "base-url", "", "address of the model server")
	f.StringVar(&s.Lang, "lang", "", "auto, en or ja (default auto)")
	f.StringVar(&s.Workspace, "workspace", "", "local repository to work in, in place: no clone, branch or push")
	f.StringVar(&s.Output, "output", "", "file to write (default: --config, or the usual place)")
	f.BoolVar(&s.force, "force", false, "replace a file that is there")
	f.BoolVar(&s.createLabels, "create-labels", false, "create the labels on the forge")
	completeFlag(cmd, "provider", []string{"openai", "ollama", "lmstudio"})
	completeFlag(cmd, "lang", []string{"auto", "en", "ja"})
	return cmd
}

func (a *cli) init(ctx context.Context, s setup, in *os.File) error {
	path, _ := config.Path(a.config, os.Getenv)
	s.Output = cmp.Or(s.Output, path)
	if _, err := os.Lstat(s.Output); err == nil && !s.force {
		return usageError{fmt.Errorf("%s exists: --force replaces it", s.Output)}
	}
	if term.IsTerminal(int(in.Fd())) {
		s.ask(bufio.NewReader(in), a.out)
	}
	if err := s.complete(); err != nil {
		return usageError{err}
	}
	if err := s.write(); err != nil {
		return err
	}
	fmt.Fprintln(a.out, sanitize.Terminal(i18n.Text(s.tongue(), "init.written", s.Output)))
	var err error
	if s.createLabels {
		err = a.createLabels(ctx, s)
	}
	a.nextSteps(s) // the file is there, whatever became of the labels
	if err != nil {
		return fmt.Errorf("%s: %w", i18n.Text(s.tongue(), "init.nolabels"), err)
	}
	return nil
}

func (s *setup) tongue() i18n.Lang {
	if s.Lang == "ja" {
		return i18n.Ja
	}
	return i18n.En
}

func (s *setup) kind() string {
	if strings.Contains(s.ForgeURL, "gitlab") || strings.HasSuffix(strings.TrimRight(s.ForgeURL, "/"), "/api/v4") {
		return "gitlab"
	}
	return "github"
}

func (s *setup) tokenEnv() string { return strings.ToUpper(s.kind()) + "_PERSONAL_ACCESS_TOKEN" }

func defaultModel(provider string) string {
	d := config.Default().LLM
	d.Provider = provider
	return d.Active().Model
}

func defaultBase(provider string) string {
	d := config.Default().LLM
	d.Provider = provider
	return d.Active().URL
}

// write makes the file in one step, after what it says was found to be right.
func (s *setup) write() error {
	dir := filepath.Dir(s.Output)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".config-*.yaml") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone already if it was renamed
	_, err = tmp.WriteString(s.render())
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if _, _, err := config.Load(tmp.Name(), s.fileAlone, config.Offline()); err != nil {
		return fmt.Errorf("the answers make no valid configuration: %w", err)
	}
	if s.force {
		return os.Rename(tmp.Name(), s.Output)
	}
	err = os.Link(tmp.Name(), s.Output)
	if errors.Is(err, fs.ErrExist) {
		return usageError{fmt.Errorf("%s exists: --force replaces it", s.Output)}
	}
	return err
}

// fileAlone hides the variables that override the file: it must be right by itself.
func (s *setup) fileAlone(name string) string {
	if name == "HOME" || strings.HasPrefix(name, "XDG_") {
		return os.Getenv(name)
	}
	return ""
}

// createLabels makes the labels that the projects lack.
func (a *cli) createLabels(ctx context.Context, s setup) error {
	cfg, _, err := config.Load(s.Output, os.Getenv)
	if err != nil {
		return err
	}
	for _, f := range cfg.Forges() {
		api := newRest(f)
		for _, project := range f.Projects {
			missing, err := missingLabels(ctx, f, api, project)
			if err != nil {
				return fmt.Errorf("labels of %s: %w", project, err)
			}
			for _, l := range missing {
				got, err := api.do(ctx, http.MethodPost, labelPath(f.Kind, project), labelBody(f.Kind, l))
				if err == nil && got.status != http.StatusCreated {
					err = fmt.Errorf("HTTP %d", got.status)
				}
				if err != nil {
					return fmt.Errorf("create label %q in %s: %w", l.name, project, err)
				}
				fmt.Fprintln(a.out, sanitize.Terminal(i18n.Text(s.tongue(), "init.label", l.name, project)))
			}
		}
	}
	return nil
}

// nextSteps shows what to type next.
func (a *cli) nextSteps(s setup) {
	flag := ""
	if usual, _ := config.Path("", os.Getenv); usual != s.Output {
		flag = " --config " + s.Output
	}
	fmt.Fprintln(a.out, i18n.Text(s.tongue(), "init.next", s.variables()))
	for _, step := range []string{"doctor", "run --dry-run", "run"} {
		fmt.Fprintln(a.out, "  agent "+step+sanitize.Terminal(flag))
	}
}

// variables are those that have to be set before the next steps.
func (s *setup) variables() string {
	if s.Provider == "openai" {
		return s.TokenEnv + ", " + s.KeyEnv
	}
	return s.TokenEnv
}
