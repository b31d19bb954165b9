package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"agent/internal/cli"
)

// Every command stands under a heading, and no help shows the values of a switch.
func TestHelp(t *testing.T) {
	t.Parallel()
	a := &commands{&cli.Env{Getenv: os.Getenv}}
	for _, c := range a.root().Commands() {
		if c.GroupID == "" && !c.Hidden {
			t.Errorf("%s is in no group", c.Name())
		}
		var out bytes.Buffer
		if code := execute(context.Background(), []string{c.Name(), "--help"}, os.Getenv, &out, &out); code != 0 || strings.Contains(out.String(), "[=") {
			t.Errorf("%s --help: exit %d\n%s", c.Name(), code, out.String())
		}
		if _, flags, _ := strings.Cut(out.String(), "\nFlags:\n"); !strings.Contains(flags, "   help for "+c.Name()) {
			t.Errorf("%s --help describes no flags:\n%s", c.Name(), out.String())
		}
	}
}

// The READMEs name the commands and the exit codes that help names.
func TestReadmeNamesCommands(t *testing.T) {
	t.Parallel()
	for name, heading := range map[string]string{"README.md": "\n## Commands\n", "README.ja.md": "\n"} {
		data, err := os.ReadFile(filepath.Join("..", "..", name))
		must(t, err)
		_, list, _ := strings.Cut(string(data), heading)
		for _, g := range groups[:3] {
			for command := range strings.FieldsSeq(g.Commands) {
				if !regexp.MustCompile("`(agent )?" + command + `\b`).MatchString(list) {
					t.Errorf("%s does not name the command %s", name, command)
				}
			}
		}
		for _, code := range []string{"65", "69", "74", "75", "78", "130"} {
			if !regexp.MustCompile(`(?s)(Exit codes|終了コード): .*\b` + code + `\b`).MatchString(string(data)) {
				t.Errorf("%s does not name the exit code %s", name, code)
			}
		}
	}
}
