package page

import (
	"fmt"
	"io"
	"net/url"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"agent/internal/i18n"
)

// HTML is safe markup: all of the world in it is escaped.
type HTML string

// Render writes the markup as it is.
func (m HTML) Render(w io.Writer) error {
	_, err := io.WriteString(w, string(m))
	return err
}

// Href is where an element leads: to the web or to a page of ours. Other addresses become "#".
func Href(address string) g.Node {
	u, err := url.Parse(address)
	ours := err == nil && u.Scheme == "" && u.Host == "" && !strings.HasPrefix(u.Path, "//")
	if !ours && Web(address) == "" {
		return h.Href("#")
	}
	return h.Href(u.String())
}

// Spaced puts a space between nodes. Those that are nil are left out.
func Spaced(nodes ...g.Node) g.Group {
	var out g.Group
	for _, n := range nodes {
		if n == nil {
			continue
		}
		if out != nil {
			out = append(out, HTML(" "))
		}
		out = append(out, n)
	}
	return out
}

// outside links to the web.
func outside(address string, text g.Node) g.Node {
	return h.A(h.Rel("noopener noreferrer"), Href(address), text)
}

// eventLink leads to the row of an event.
func eventLink(seq uint64) g.Node { return h.A(toEvent(seq), g.Textf("%d", seq)) }

func toEvent(seq uint64) g.Node { return Href(fmt.Sprintf("#e%d", seq)) }

func toMessage(seq uint64) g.Node { return Href(fmt.Sprintf("#m%d", seq)) }

// class is an attribute of the names that are not empty.
func class(names ...string) g.Node {
	return h.Class(strings.Join(strings.Fields(strings.Join(names, " ")), " "))
}

func span(name, text string) g.Node { return h.Span(h.Class(name), g.Text(text)) }

// paragraph is a text, nil if there is none.
func paragraph(name, text string) g.Node {
	if text == "" {
		return nil
	}
	return h.P(h.Class(name), g.Text(text))
}

// list is a bullet list, nil if it is empty.
func list(texts []string) g.Node {
	if len(texts) == 0 {
		return nil
	}
	return h.Ul(g.Map(texts, func(s string) g.Node { return h.Li(g.Text(s)) }))
}

// text is a text of the table.
func (d *Doc) text(id i18n.ID, args ...any) g.Node { return g.Text(d.T(id, args...)) }
