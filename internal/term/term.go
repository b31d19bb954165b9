// Package term knows what a person's terminal can show: its width, colours, a
// pager. Where the output is no terminal, there is none of it: the same bytes
// go to a pipe and to a file everywhere.
//
// NO_COLOR and TERM=dumb switch colours off. AGENT_PAGER, then PAGER, name the
// pager; an empty one or cat means none.
package term

import (
	"cmp"
	"io"
	"os"

	xterm "golang.org/x/term"
)

// Color is what a text means, not how it looks.
type Color string

// The meanings that are told apart.
const (
	Good  Color = "32" // done
	Bad   Color = "31" // failed, damaged
	Waits Color = "33" // paused, waiting
	Head  Color = "1"  // titles
	Aux   Color = "2"  // what the eye may skip
	Name  Color = "36" // names of fields, tools, phases
)

// PlainWidth is how many columns a line has where there is no terminal.
const PlainWidth = 200

// Screen is where a command prints.
type Screen struct {
	io.Writer
	Width    int // columns
	Terminal bool
	Colors   bool
	file     *os.File // the terminal
	pager    *pipe    // nil without one
}

// Of describes a writer.
func Of(w io.Writer) Screen {
	if s, ok := w.(Screen); ok {
		return s
	}
	f, ok := w.(*os.File)
	if !ok || !xterm.IsTerminal(int(f.Fd())) {
		return Screen{Writer: w, Width: PlainWidth}
	}
	s := Screen{Writer: w, Terminal: true, Colors: os.Getenv("NO_COLOR") == "" && !dumb(), file: f}
	s.Width, _ = s.Size()
	return s
}

// Size is how many columns and rows the terminal has now. It changes while a
// command runs.
func (s Screen) Size() (width, height int) {
	width, height = s.Width, 24
	if s.file != nil {
		if w, h, err := xterm.GetSize(int(s.file.Fd())); err == nil && w >= 20 && h > 1 {
			return w, h
		}
	}
	return cmp.Or(width, 80), height
}

// Live tells whether lines that were written can be written again.
func (s Screen) Live() bool { return s.Terminal && !dumb() }

func dumb() bool { return os.Getenv("TERM") == "dumb" }

// Paint gives a text its colour, where there are colours. The text must be safe
// for a terminal already.
func (s Screen) Paint(c Color, text string) string {
	if !s.Colors || c == "" || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}
