package show

import (
	"fmt"

	"agent/internal/doctor"
	"agent/internal/term"
)

var marks = map[doctor.Result]string{doctor.OK: "✓", doctor.Warning: "!", doctor.Failed: "✗"}

var colors = map[doctor.Result]term.Color{doctor.OK: term.Good, doctor.Warning: term.Waits, doctor.Failed: term.Bad}

// Findings prints each, and what to do about it unless the line above has said so.
func (p *Printer) Findings() func(doctor.Finding) {
	latest := ""
	return func(f doctor.Finding) {
		fmt.Fprintf(p.Screen, "%s %s: %s\n", p.Screen.Paint(colors[f.Result], marks[f.Result]), f.Name, f.Text)
		if f.Todo != "" && f.Todo != latest {
			fmt.Fprintln(p.Screen, "    → "+f.Todo)
		}
		latest = f.Todo
	}
}
