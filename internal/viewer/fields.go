package viewer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/internal/sanitize"
	"agent/internal/term"
)

// Event prints an event whole: what it is, then each field that is set. Texts
// that are kept in blobs are fetched.
func (p *Printer) Event(r eventlog.Record) error {
	title := fmt.Sprintf("%d  %s", r.Seq, r.Type)
	if r.Cause > 0 {
		title += fmt.Sprintf("  ←%d", r.Cause)
	}
	fmt.Fprintf(p.Screen, "%s  %s\n", p.Screen.Paint(term.Head, title), p.Screen.Paint(term.Aux, r.When().Local().Format("2006-01-02 15:04:05.000 MST")))
	ev, err := event.Decode(r)
	if err != nil {
		fmt.Fprintln(p.Screen, indent(1)+sanitize.Terminal(string(r.Data)))
		return err
	}
	if text := p.wish.Words(ev, p.Lang); text != "" {
		fmt.Fprintln(p.Screen, indent(1)+p.Screen.Paint(colorOf(r), sanitize.Line(text, 400)))
	}
	p.Fields(ev)
	return nil
}

// Fields prints the fields of an event.
func (p *Printer) Fields(ev event.Event) {
	event.Fetch(ev.Body, p.Blob)
	if unknown, ok := ev.Body.(*event.Unknown); ok {
		p.text(1, pretty(unknown.Data))
		return
	}
	if reflect.ValueOf(ev.Body).Elem().IsZero() {
		fmt.Fprintln(p.Screen, indent(1)+p.Screen.Paint(term.Aux, i18n.Text(p.Lang, "inspect.nothing")))
	}
	p.fields(1, reflect.ValueOf(ev.Body).Elem())
}

func indent(depth int) string { return strings.Repeat("  ", depth) }

// fields prints the fields of a struct that are set, under their names in the log.
func (p *Printer) fields(depth int, v reflect.Value) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !field.IsExported() || name == "-" || v.Field(i).IsZero() {
			continue
		}
		if name == "" { // embedded
			p.fields(depth, v.Field(i))
			continue
		}
		p.field(depth, name, v.Field(i))
	}
}

var (
	textType = reflect.TypeFor[event.Text]()
	timeType = reflect.TypeFor[time.Time]()
	rawType  = reflect.TypeFor[json.RawMessage]()
)

func (p *Printer) field(depth int, name string, v reflect.Value) {
	switch {
	case v.Kind() == reflect.Pointer:
		p.field(depth, name, v.Elem())
	case v.Type() == textType:
		p.value(depth, name, p.whole(v.Interface().(event.Text)))
	case v.Type() == timeType:
		p.value(depth, name, v.Interface().(time.Time).Local().Format("2006-01-02 15:04:05 MST"))
	case v.Type() == rawType:
		p.value(depth, name, pretty(v.Bytes()))
	case v.Kind() == reflect.Struct:
		p.name(depth, name, "\n")
		p.fields(depth+1, v)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		for i := range v.Len() {
			p.name(depth, fmt.Sprintf("%s[%d]", name, i), "\n")
			p.fields(depth+1, v.Index(i))
		}
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.String:
		for i := range v.Len() {
			p.value(depth, fmt.Sprintf("%s[%d]", name, i), v.Index(i).String())
		}
	case v.Kind() == reflect.Map:
		data, _ := json.Marshal(v.Interface()) // came from JSON
		p.value(depth, name, pretty(data))
	default:
		p.value(depth, name, fmt.Sprint(v.Interface()))
	}
}

// whole is a text, from its blob if it is not in the line.
func (p *Printer) whole(t event.Text) string {
	if t.Spilled() && t.Whole == "" {
		if data, err := p.Blob(t.Blob); err == nil {
			return string(data)
		}
	}
	return t.View()
}

func (p *Printer) name(depth int, name, after string) {
	io.WriteString(p.Screen, indent(depth)+p.Screen.Paint(term.Name, sanitize.Line(name, 80)+":")+after)
}

// value prints a text beside its name, or below it if it has several lines.
func (p *Printer) value(depth int, name, text string) {
	if !strings.Contains(strings.TrimSuffix(text, "\n"), "\n") {
		p.name(depth, name, " "+sanitize.Terminal(strings.TrimSuffix(text, "\n"))+"\n")
		return
	}
	p.name(depth, name, "\n")
	p.text(depth+1, text)
}

func (p *Printer) text(depth int, text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		fmt.Fprintln(p.Screen, indent(depth)+p.paintDiff(sanitize.Terminal(line)))
	}
}

// paintDiff paints the lines of a diff.
func (p *Printer) paintDiff(line string) string {
	switch {
	case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "diff --git "):
		return p.Screen.Paint(term.Head, line)
	case strings.HasPrefix(line, "@@ "):
		return p.Screen.Paint(term.Name, line)
	}
	return line
}

// pretty lays out JSON over lines. What is none stays as it is.
func pretty(data []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, data, "", "  ") != nil {
		return string(data)
	}
	return b.String()
}
