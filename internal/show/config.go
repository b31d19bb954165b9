package show

import (
	"fmt"

	"agent/internal/config"
	"agent/internal/i18n"
	"agent/internal/sanitize"
	"agent/internal/term"
)

// Settings prints keys, their values, and where these come from. Of a secret it says
// only that it is set.
func (p *Printer) Settings(file string, settings []config.Setting) {
	t := &term.Table{Left: true, Flex: []int{1, 0}}
	t.Row(p.text("config.key"), p.text("config.value"), p.text("config.source"))
	for _, s := range settings {
		value := s.Text()
		switch {
		case s.Secret && s.Set:
			value = p.text("config.secret")
		case !s.Set && value == "":
			value = "-"
		}
		t.Row(s.Key, sanitize.Line(value, 500), p.sourceOf(s))
	}
	t.Color = func(row, column int) term.Color {
		switch {
		case row == 0 || column == 2 && settings[row-1].Source == "default":
			return term.Aux
		case column == 0:
			return term.Name
		}
		return ""
	}
	if file != "" {
		fmt.Fprintln(p.Screen, p.Screen.Paint(term.Head, sanitize.Terminal(file)))
	}
	t.Print(p.Screen)
}

func (p *Printer) sourceOf(s config.Setting) string {
	switch s.Source {
	case "file":
		return p.text("config.from.file", s.Line)
	case "environment":
		return "$" + s.Env
	}
	return p.text("config.from." + i18n.ID(s.Source))
}
