package main

import (
	"fmt"
	"io"
	"time"

	"agent/internal/term"
)

// progress is a line on the terminal that says how far something has come. It
// is not written elsewhere, and not for what is quick.
type progress struct {
	out   io.Writer // nil where there is no terminal
	what  string
	begun time.Time
	drawn time.Time
}

// drawEvery bounds how often the line is written.
const drawEvery = 100 * time.Millisecond

func (a *cli) progress(what string) *progress {
	p := &progress{what: what, begun: time.Now()}
	if isTerminal(a.err) {
		p.out = a.err
	}
	return p
}

func (p *progress) step(done, of int) {
	now := time.Now()
	if p.out == nil || now.Sub(p.begun) < 3*drawEvery || now.Sub(p.drawn) < drawEvery {
		return
	}
	p.drawn = now
	const width = 30
	fmt.Fprintf(p.out, "\r%s %-*s %d/%d\x1b[K", p.what, width, term.Bar(float64(done), float64(of), width), done, of)
}

func (p *progress) end() {
	if !p.drawn.IsZero() {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
