package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"agent/internal/cli"
)

func TestManualHasAPageForEachCommand(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1795852800")
	dir := t.TempDir()
	if code := execute(context.Background(), []string{"docs", "man", dir}, os.Getenv, io.Discard, os.Stderr); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	pages := 0
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		page := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		if text, err := os.ReadFile(filepath.Join(dir, page)); err != nil {
			t.Error(err)
		} else if !strings.Contains(string(text), `"Nov 2026"`) {
			t.Errorf("%s is not dated by SOURCE_DATE_EPOCH", page)
		}
		pages++
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				visit(sub)
			}
		}
	}
	visit((&commands{&cli.Env{Getenv: os.Getenv, Out: io.Discard, Err: io.Discard}}).root())
	if written, _ := filepath.Glob(filepath.Join(dir, "*")); len(written) != pages || pages < 20 {
		t.Errorf("%d pages for %d commands", len(written), pages)
	}
}
