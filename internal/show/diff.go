package show

import (
	"cmp"
	"fmt"
	"strings"

	"agent/internal/i18n"
	"agent/internal/report"
	"agent/internal/sanitize"
	"agent/internal/term"
	"agent/internal/trees"
	"agent/internal/watch"
)

// DiffStat prints the numbers of lines that differ in each file.
func (p *Printer) DiffStat(all []trees.Difference) {
	screen, added, removed := p.Screen, 0, 0
	for _, f := range all {
		added, removed = added+f.Added, removed+f.Removed
		numbers := screen.Paint(term.Good, fmt.Sprintf("+%d", f.Added)) + " " + screen.Paint(term.Bad, fmt.Sprintf("−%d", f.Removed))
		if f.Binary {
			numbers = p.text("diff.binary")
		}
		fmt.Fprintf(screen, " %s  %s %s\n", p.text("diff."+i18n.ID(f.Change)), term.Line(f.Path, max(screen.Width-30, 20)), numbers)
	}
	p.say("diff.total", len(all), added, removed)
}

// Patch prints a patch, on a terminal in the colours of git. To a file or a pipe it goes as it is.
func (p *Printer) Patch(patch string) {
	screen := p.Screen
	if !screen.Terminal {
		fmt.Fprint(screen, patch)
		return
	}
	for line := range strings.Lines(patch) {
		line = sanitize.Terminal(strings.TrimSuffix(line, "\n"))
		if color := lineColor(line); color != "" {
			line = screen.Paint(color, line)
		}
		fmt.Fprintln(screen, line)
	}
}

func lineColor(line string) term.Color {
	switch {
	case strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.Contains(line, " file mode "):
		return term.Head
	case strings.HasPrefix(line, "@@"):
		return term.Name
	case strings.HasPrefix(line, "+"):
		return term.Good
	case strings.HasPrefix(line, "-"):
		return term.Bad
	}
	return ""
}

// Comparison prints how two runs differ beside their files.
func (p *Printer) Comparison(c report.Comparison) {
	screen := p.Screen
	for _, r := range c.Runs {
		p.say("diff.run", screen.Paint(term.Head, r.UUID[:8]), i18n.State(p.Lang, r.State), sanitize.Line(r.Model, 60))
		p.say("diff.took", r.Messages, report.Calls(p.Lang, r.Calls), r.ToolCalls, i18n.Tokens(r.Tokens, r.Estimated), i18n.Money(p.Lang, r.CostUSD), watch.Duration(r.Active))
		p.say("diff.size", r.Change.Files, r.Change.Added, r.Change.Removed)
		for _, command := range r.Commands {
			p.say("diff.command", term.Line(command.Command, max(screen.Width-20, 20)), p.text("diff.exit", cmp.Or(command.ExitCode, "?")))
		}
	}
	if c.Parts == nil {
		p.say("diff.same")
		return
	}
	p.say("diff.parts", c.Parts.Seqs[0], c.Parts.Seqs[1])
	for n, mark := range []string{"< ", "> "} {
		text := c.Parts.Texts[n]
		if c.Parts.Seqs[n] == 0 {
			text = p.text("diff.over")
		}
		fmt.Fprintln(screen, mark+term.Line(c.Parts.Types[n]+" "+text, screen.Width-2))
	}
}

// File prints a file or directory of a working copy. known: more than its name is;
// stored: its content lies beside the log.
func (p *Printer) File(path, mode string, known, stored bool) error {
	line := sanitize.Line(path, 4096)
	switch {
	case !known:
		line = fmt.Sprintf("        %s  %s", line, p.Screen.Paint(term.Aux, p.text("files.unstored")))
	case stored:
		line = mode + "  " + p.Screen.Paint(term.Good, line)
	default:
		line = mode + "  " + line
	}
	_, err := fmt.Fprintln(p.Screen, line)
	return err
}
