package main

import (
	"errors"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"agent/internal/cli"
)

// docsCommand is hidden: `make release` and packages use it.
func (a *commands) docsCommand() *cobra.Command {
	docs := &cobra.Command{Use: "docs", Short: "Write the documentation of the commands", Hidden: true}
	docs.AddCommand(&cobra.Command{
		Use: "man DIR", Short: "Write manual pages, one for each command", Args: cobra.ExactArgs(1),
		Example: "  agent docs man ~/.local/share/man/man1",
		RunE:    func(cmd *cobra.Command, args []string) error { return writeManual(cmd.Root(), args[0]) },
	})
	return docs
}

// writeManual dates the pages by SOURCE_DATE_EPOCH, or by the commit: the same
// source gives the same pages.
func writeManual(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	date, err := manualDate(os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}
	root.DisableAutoGenTag = true
	return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "agent " + cli.Release, Manual: "agent", Date: &date}, dir)
}

func manualDate(epoch string) (time.Time, error) {
	if epoch != "" {
		seconds, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil {
			return time.Time{}, errors.New("SOURCE_DATE_EPOCH must be a number of seconds")
		}
		return time.Unix(seconds, 0).UTC(), nil
	}
	if at, err := time.Parse(time.RFC3339, cli.ThisBuild().Committed); err == nil {
		return at.UTC(), nil
	}
	return time.Unix(0, 0).UTC(), nil
}
