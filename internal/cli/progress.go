package cli

import (
	"fmt"
	"io"
	"time"

	"agent/internal/term"
)

// Progress is a line on the terminal that says how far something has come. It
// is not written elsewhere, and not for what is quick.
type Progress struct {
	out   io.Writer // nil where there is no terminal
	what  string
	begun time.Time
	drawn time.Time
}

// drawEvery bounds how often the line is written.
const drawEvery = 100 * time.Millisecond

// Progress begins one.
func (e *Env) Progress(what string) *Progress {
	p := &Progress{what: what, begun: time.Now()}
	if term.Of(e.Err).Terminal {
		p.out = e.Err
	}
	return p
}

// Step says how many of how many are done.
func (p *Progress) Step(done, of int) {
	now := time.Now()
	if p.out == nil || now.Sub(p.begun) < 3*drawEvery || now.Sub(p.drawn) < drawEvery {
		return
	}
	p.drawn = now
	const width = 30
	fmt.Fprintf(p.out, "\r%s %-*s %d/%d\x1b[K", p.what, width, term.Bar(float64(done), float64(of), width), done, of)
}

// End takes the line away.
func (p *Progress) End() {
	if !p.drawn.IsZero() {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
