package main

import (
	"bytes"
	"context"
	"os"
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
