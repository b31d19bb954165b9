package demo

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"agent/internal/cli"
	"agent/internal/i18n"
	"agent/internal/world"
)

func (d *demo) text(id i18n.ID, args ...any) string { return i18n.Text(d.Lang, id, args...) }

func (d *demo) say(id i18n.ID, args ...any) { fmt.Fprintln(d.Out, d.text(id, args...)) }

func (d *demo) head(id i18n.ID) { fmt.Fprintln(d.Out); d.say(id) }

func (d *demo) show(text string) {
	fmt.Fprint(&indent{out: d.Out}, strings.TrimRight(text, "\n")+"\n")
}

func (d *demo) showLabels() { d.say("demo.labels", strings.Join(d.world.Forge.Labels(), ", ")) }

func (d *demo) showComments(all []world.Comment) {
	for _, c := range all {
		d.say("demo.by", c.Author)
		d.show(visible(c.Body))
	}
}

// visible leaves out the hidden marker, as a browser does.
func visible(body string) string {
	text, _, _ := strings.Cut(body, "\n\n<!-- agent ")
	return text
}

// lookAround says how to see what was made, or how to keep it.
func (d *demo) lookAround() {
	if d.Dir == "" {
		d.say("demo.keep")
		return
	}
	agent, config := cli.Quoted(d.Program), " --config "+cli.Quoted(d.world.ConfigFile())
	d.say("demo.kept", d.world.Dir, agent+" ui"+config, agent+" inspect "+d.first+" --html run.html"+config)
}

// indent sets output off from the story around it.
type indent struct {
	out io.Writer
	mid bool // in the middle of a line
}

func (i *indent) Write(p []byte) (int, error) {
	var b bytes.Buffer
	for _, c := range p {
		if !i.mid {
			b.WriteString("    ")
		}
		b.WriteByte(c)
		i.mid = c != '\n'
	}
	_, err := i.out.Write(b.Bytes())
	return len(p), err
}
