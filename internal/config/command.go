package config

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"
)

const (
	commandTime   = 30 * time.Second // for a person to unlock a secret store
	commandOutput = 64 << 10
)

// secretCommands asks the commands that print secrets, of what is in use. A variable of
// the environment wins; then the command is not run.
func (d *decoder) secretCommands(c *Config) {
	for _, source := range c.TaskSource {
		for i := range c.Section(source) {
			f := &c.Section(source)[i]
			path := forgePath(source, i)
			if f.App.ID == 0 && !f.Driver.Local {
				d.secretCommand(f.TokenCommand, path+".token_command", &f.Token, path+".personal_access_token")
			}
		}
	}
	for name, p := range c.LLM.Sections {
		if c.LLM.Uses(name) && p.Driver.Key {
			d.secretCommand(p.APIKeyCommand, "llm."+name+".api_key_command", &p.APIKey, "llm."+name+".api_key")
		}
	}
}

func (d *decoder) secretCommand(argv []string, path string, to *string, of string) {
	switch {
	case len(argv) == 0 || d.from[of] != "":
		return
	case *to != "" || d.lacks(of):
		d.failAt(path, "stands beside %s: keep one of them", shown(of))
		return
	}
	secret, fault := printed(argv)
	if fault != "" {
		d.failAt(path, "%s", fault)
		d.unprinted = append(d.unprinted, of)
		return
	}
	*to = secret
}

// printed runs a command without a shell and gives the line that it prints. What is
// wrong never holds what it printed, nor its arguments.
func printed(argv []string) (secret, fault string) {
	ctx, cancel := context.WithTimeout(context.Background(), commandTime)
	defer cancel()
	out := &bounded{most: commandOutput, end: cancel}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.WaitDelay = out, time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	text := strings.TrimRight(out.kept.String(), "\r\n")
	switch {
	case out.full:
		return "", "the command printed more than 64 KiB"
	case ctx.Err() != nil:
		return "", "the command did not end within " + commandTime.String()
	case errors.As(err, &exit):
		return "", "the command failed (" + exit.ProcessState.String() + "): run it by hand to see why"
	case err != nil:
		return "", "the command cannot be run: its first word must name a program in PATH"
	case text == "":
		return "", "the command printed nothing"
	case !oneLine(text) || strings.TrimSpace(text) != text:
		return "", "the command must print one line without spaces around it"
	}
	return text, ""
}

// bounded keeps what is written to it, and ends the writer at the first byte too many.
type bounded struct {
	kept bytes.Buffer // not embedded: its ReadFrom has no bound
	most int
	full bool
	end  func()
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.kept.Len()+len(p) > b.most {
		b.full = true
		b.end()
		return 0, errors.New("too much output")
	}
	return b.kept.Write(p)
}
