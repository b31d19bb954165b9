// Package setup is `agent init`: it asks for what a configuration needs, writes a
// commented config.yaml, and creates the labels on the forge. Secrets never go
// into the file, only the names of the variables that hold them.
package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"agent/forge"
	"agent/internal/config"
	"agent/internal/i18n"
	"agent/internal/registry"
	"agent/llm"
)

// Answers are what a configuration needs. An empty one means the default.
type Answers struct {
	Forge, ForgeURL, TokenEnv, BotName string
	Projects                           []string
	Provider, Model, BaseURL           string
	Lang, Output, Workspace            string
	Force                              bool // replace an existing file

	Sandbox   string // of the tool server: required or off
	NoSandbox string // why this system cannot give one, "" if it can: then nobody is asked

	MaxTokens, MaxCostUSD string // limits of a task; 0: none

	Locale i18n.Lang           // of questions, while Lang is auto
	Getenv func(string) string // what [Answers.Ask] checks answers with; nil: it checks none
	login  string              // of the token's account, once the forge has said it

	refused bool // the forge did not take the token
}

// ErrExists is the error for a file that is already there.
var ErrExists = errors.New("the file exists: --force replaces it")

// Language is the one of questions, messages and comments in the file.
func (a *Answers) Language() i18n.Lang {
	switch a.Lang {
	case string(i18n.En), string(i18n.Ja):
		return i18n.Lang(a.Lang)
	}
	return a.Locale
}

func (a *Answers) text(id i18n.ID, args ...any) string { return i18n.Text(a.Language(), id, args...) }

// driver is the kind of forge: the named one, or else what the URL looks like.
func (a *Answers) driver() forge.Driver {
	if d, ok := registry.Forge(a.Forge); ok {
		return d
	}
	return registry.ForgeOfURL(a.ForgeURL)
}

func (a *Answers) provider() llm.Driver {
	d, _ := registry.Provider(a.Provider) // the zero value has no defaults
	return d
}

// Write makes the file in one step, after it was found to be valid, and beside it the
// file of variables unless there is one.
func (a *Answers) Write() error {
	dir := filepath.Dir(a.Output)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := a.writeVariables(); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".config-*.yaml") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone already if it was renamed
	_, err = tmp.WriteString(a.render())
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if _, _, err := config.Load(tmp.Name(), fileAlone, config.Offline()); err != nil {
		return fmt.Errorf("the answers do not make a valid configuration: %w", err)
	}
	if a.Force {
		return os.Rename(tmp.Name(), a.Output)
	}
	err = os.Link(tmp.Name(), a.Output)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s: %w", a.Output, ErrExists)
	}
	return err
}

// EnvFile is the file of variables beside the configuration.
func (a *Answers) EnvFile() string { return filepath.Join(filepath.Dir(a.Output), envFile) }

const envFile = "env"

// writeVariables makes the file of variables, without values, mode 0600.
func (a *Answers) writeVariables() error {
	f, err := os.OpenFile(a.EnvFile(), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil // somebody has filled it in
	}
	if err != nil {
		return err
	}
	var y yamlText
	y.comment("", a.text("init.c.env"))
	for _, name := range a.Variables() {
		y.line(name + "=")
	}
	_, err = f.WriteString(y.String())
	return errors.Join(err, f.Sync(), f.Close())
}

// CheckOutput refuses a file that is there and may not be replaced, before anything is asked.
func (a *Answers) CheckOutput() error {
	if _, err := os.Lstat(a.Output); err == nil && !a.Force {
		return fmt.Errorf("%s: %w", a.Output, ErrExists)
	}
	return nil
}

// fileAlone hides the variables that override the file: it must be right by itself.
func fileAlone(name string) string {
	if name == "HOME" || strings.HasPrefix(name, "XDG_") {
		return os.Getenv(name)
	}
	return ""
}

// Variables are those that have to be set before the next steps.
func (a *Answers) Variables() []string {
	if key := a.provider().KeyEnv(); key != "" {
		return []string{a.TokenEnv, key}
	}
	return []string{a.TokenEnv}
}
