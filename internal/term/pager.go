package term

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"os/exec"
	"strings"
)

// Page gives the screen behind a pager, and what ends it. Where there is no
// terminal or no pager, the screen itself comes back. A pager that is left early
// makes writes fail with EPIPE, which is no error of the command.
func (s Screen) Page() (Screen, func()) {
	argv := pager()
	if !s.Terminal || len(argv) == 0 {
		return s, func() {}
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = s.Writer, os.Stderr
	cmd.Env = os.Environ()
	if _, set := os.LookupEnv("LESS"); !set {
		cmd.Env = append(cmd.Env, "LESS=FRX") // quit if it fits, keep colours, leave the screen
	}
	in, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return s, func() {}
	}
	paged := s
	paged.pager = &pipe{WriteCloser: in}
	paged.Writer = paged.pager
	return paged, func() {
		in.Close()
		_ = cmd.Wait() // how a pager ends says nothing about what was shown
	}
}

// PageLong is [Screen.Page] for a command that takes long: what it prints is seen at
// once, and the pager is started when the screen is full.
func (s Screen) PageLong() (Screen, func()) {
	if !s.Terminal || len(pager()) == 0 {
		return s, func() {}
	}
	_, height := s.Size()
	l := &late{screen: s, room: height - 2, end: func() {}}
	s.Writer = l
	return s, func() { l.end() }
}

// late writes to the screen until it is full, then all of it to the pager.
type late struct {
	screen Screen
	room   int // lines
	shown  bytes.Buffer
	paged  io.Writer
	end    func()
}

func (l *late) Write(b []byte) (int, error) {
	if l.paged != nil {
		return l.paged.Write(b)
	}
	l.room -= bytes.Count(b, []byte("\n"))
	l.shown.Write(b)
	if l.room > 0 {
		return l.screen.Writer.Write(b)
	}
	l.paged, l.end = l.screen.Page()
	_, err := l.paged.Write(l.shown.Bytes())
	return len(b), err
}

// pipe notes that nobody reads any more.
type pipe struct {
	io.WriteCloser
	gone bool
}

func (p *pipe) Write(b []byte) (int, error) {
	n, err := p.WriteCloser.Write(b)
	p.gone = p.gone || err != nil
	return n, err
}

// Gone tells that the pager was left, so that nothing more need be printed.
func (s Screen) Gone() bool { return s.pager != nil && s.pager.gone }

// pager is the command line of the pager; empty for none.
func pager() []string {
	value, set := os.LookupEnv("AGENT_PAGER")
	if !set {
		value, set = os.LookupEnv("PAGER")
	}
	if !set {
		value = "less"
	}
	argv := strings.Fields(value)
	if len(argv) == 0 || argv[0] == "cat" {
		return nil
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return nil
	}
	return append([]string{cmp.Or(path, argv[0])}, argv[1:]...)
}
