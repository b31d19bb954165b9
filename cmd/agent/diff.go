package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"agent/internal/cli"
	"agent/internal/config"
	"agent/internal/term"
	"agent/internal/trees"
)

// diffing is one call of agent diff.
type diffing struct {
	view
	at, from, to uint64
	steps, stat  bool
}

func (a *commands) diffCommand() *cobra.Command {
	d := &diffing{}
	cmd := &cobra.Command{
		Use: "diff CONTEXT [CONTEXT]", Short: "Show what a run changed, step by step, or how two runs differ", Args: cobra.RangeArgs(1, 2),
		Long: `diff compares the files of a context at two of its events: by default when the work began
and at its end. It reads the log and what lies beside it, so it also works when the clone is
gone and the forge cannot be reached. What it prints is a patch, in which text that
looks like a secret is redacted.

With two contexts it says where the runs part, compares their ends, calls, tokens, money,
time and commands, and shows how the files differ.`,
		Example: `  agent diff 3f2a                        # what the run changed
  agent diff 3f2a --at 42                # what it had changed at event 42
  agent diff 3f2a --from 42 --to 57
  agent diff 3f2a --step                 # each step with what it changed
  agent diff 3f2a --stat
  agent diff 3f2a > change.patch
  agent diff 3f2a 9b1c                   # two attempts at a task`,
		RunE: func(_ *cobra.Command, args []string) (err error) {
			if d.at > 0 && (d.from > 0 || d.to > 0) {
				return cli.Usage(errors.New("--at goes with neither --from nor --to: use --from and --to"))
			}
			if d.view, err = a.view(config.Offline()); err != nil {
				return err
			}
			return d.run(args)
		},
	}
	flags := cmd.Flags()
	flags.Uint64Var(&d.at, "at", 0, "compare the beginning with event `SEQ`")
	flags.Uint64Var(&d.from, "from", 0, "begin at event `SEQ`")
	flags.Uint64Var(&d.to, "to", 0, "end at event `SEQ`")
	flags.BoolVar(&d.steps, "step", false, "show each step with what it changed")
	flags.BoolVar(&d.stat, "stat", false, "only the numbers of lines")
	a.JSONFlag(cmd, "print one JSON object a line for each file")
	return cmd
}

func (d *diffing) run(args []string) error {
	one, damage := d.Trees(args[0])
	if one == nil {
		return damage
	}
	defer d.Page()()
	if len(args) > 1 {
		other, err := d.Trees(args[1])
		if other == nil {
			return err
		}
		return errors.Join(damage, err, d.between(one, other))
	}
	if d.steps {
		return errors.Join(d.showSteps(one), damage)
	}
	from, err := one.TreeAt(d.from)
	if err != nil {
		return err
	}
	to, err := one.At(max(d.at, d.to))
	if err != nil {
		return err
	}
	all, err := one.Diff(from, to.Saved.Tree)
	if err != nil {
		return err
	}
	return errors.Join(d.show(all, 0), damage)
}

func (d *diffing) showSteps(v *trees.View) error {
	if err := v.Within(max(d.at, d.from, d.to)); err != nil {
		return err
	}
	for _, p := range v.Points {
		if p.Saved.Count == 0 || p.Seq < d.from || max(d.at, d.to) > 0 && p.Seq > max(d.at, d.to) {
			continue
		}
		all, err := v.Diff(p.Saved.From, p.Saved.Tree)
		if err != nil {
			return err
		}
		if !d.JSON {
			screen := term.Of(d.Out)
			fmt.Fprintln(screen, screen.Paint(term.Head, term.Line(fmt.Sprintf("── %d  %s  %s", p.Seq, term.Time(p.Time), p.Step), screen.Width)))
		}
		if err := d.show(all, p.Seq); err != nil {
			return err
		}
	}
	return nil
}

// show prints differences. seq is that of the step which made them, 0 for several.
func (d *diffing) show(all []trees.Difference, seq uint64) error {
	if d.JSON {
		for _, f := range all {
			if d.stat {
				f.Patch = ""
			}
			if err := d.PrintLine(struct {
				Seq uint64 `json:"seq,omitempty"`
				trees.Difference
			}{seq, f}); err != nil {
				return err
			}
		}
		return nil
	}
	if d.stat {
		d.Printer().DiffStat(all)
		return nil
	}
	for _, f := range all {
		d.Printer().Patch(f.Patch)
	}
	return nil
}

// between compares two contexts.
func (d *diffing) between(one, other *trees.View) error {
	c, err := d.Compare(one.UUID, other.UUID)
	if err != nil {
		return err
	}
	for i, v := range []*trees.View{one, other} {
		size := &c.Runs[i].Change
		if size.Files, size.Added, size.Removed, err = v.Size(); err != nil {
			return err
		}
	}
	all, err := one.Between(one.End(), other, other.End())
	if d.JSON {
		return errors.Join(d.PrintLine(c), d.show(all, 0), err)
	}
	d.Printer().Comparison(c)
	return errors.Join(d.show(all, 0), err)
}
