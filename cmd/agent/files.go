package main

import (
	"errors"

	"github.com/spf13/cobra"

	"agent/internal/config"
	"agent/internal/sanitize"
	"agent/internal/snapshot"
	"agent/internal/term"
	"agent/internal/trees"
)

func (a *commands) filesCommand() *cobra.Command {
	var at uint64
	cmd := &cobra.Command{
		Use: "files CONTEXT [PATH]", Short: "Show the files that a context had at an event", Args: cobra.RangeArgs(1, 2),
		Long: `files lists the working copy as it was at an event, the last one without --at. With PATH it
prints what that file held. It reads the log and what lies beside it: of files and
directories that no step changed only the names are known. Text that looks like a secret
is redacted.`,
		Example: `  agent files 3f2a
  agent files 3f2a --at 42
  agent files 3f2a --at 42 src/main.go`,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.atEvent(args[0], at, func(l view, v *trees.View, p trees.Point) error {
				tree, err := v.Tree(p.Saved.Tree)
				if same := (*trees.Unchanged)(nil); len(args) == 1 && errors.As(err, &same) {
					if !l.JSON {
						l.Say("files.unchanged", p.Seq, same.Commit)
					}
					return nil
				}
				if err != nil {
					return err
				}
				defer l.Page()()
				if len(args) > 1 {
					return l.showFile(v, tree, args[1])
				}
				return l.listFiles(v, p, tree)
			})
		},
	}
	cmd.Flags().Uint64Var(&at, "at", 0, "at event `SEQ`")
	a.JSONFlag(cmd, "print one JSON object a line for each file")
	return cmd
}

// atEvent opens the saved files of a context as they were at an event. Damage of the
// log is the error after what could be read was shown.
func (a *commands) atEvent(ref string, seq uint64, show func(view, *trees.View, trees.Point) error) error {
	l, err := a.view(config.Offline())
	if err != nil {
		return err
	}
	v, damage := l.Trees(ref)
	if v == nil {
		return damage
	}
	p, err := v.At(seq)
	if err != nil {
		return err
	}
	return errors.Join(show(l, v, p), damage)
}

// file is an entry of a tree, or with Content one file of it.
type file struct {
	Path    string `json:"path"` // a directory of which no more is known ends in a slash
	Mode    string `json:"mode,omitempty"`
	Object  string `json:"object,omitempty"` // git's name of the content
	Stored  bool   `json:"stored"`           // the content is beside the log
	Content string `json:"content,omitempty"`
}

func (l view) listFiles(v *trees.View, at trees.Point, tree *snapshot.Tree) (err error) {
	if !l.JSON {
		l.Say("files.head", at.Seq, shortened(at.Saved.Base))
	}
	p := l.Printer()
	tree.Walk(func(path string, e snapshot.Entry) {
		switch stored := v.Stored(e.Name); {
		case err != nil || p.Screen.Gone():
		case l.JSON:
			err = l.PrintLine(file{Path: path, Mode: e.Mode, Object: e.Name, Stored: stored})
		default:
			err = p.File(path, e.Mode, e.Name != "", stored)
		}
	})
	return err
}

func (l view) showFile(v *trees.View, tree *snapshot.Tree, path string) error {
	e, data, err := v.Content(tree, path)
	if err != nil {
		return err
	}
	if l.JSON {
		return l.PrintLine(file{path, e.Mode, e.Name, true, string(data)})
	}
	if screen := term.Of(l.Out); screen.Terminal {
		data = []byte(sanitize.Terminal(string(data)))
	}
	_, err = l.Out.Write(data)
	return err
}

func shortened(commit string) string { return commit[:min(len(commit), 12)] }
