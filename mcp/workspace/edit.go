package workspace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// maxEdit bounds the file that an edit loads, in bytes.
const maxEdit = 16 << 20

type editArgs struct {
	Path  *string       `json:"path"`
	Old   *string       `json:"old_text"`
	New   *string       `json:"new_text"`
	All   bool          `json:"replace_all"`
	Edits []replacement `json:"edits"`
}

// replacement is one edit of a file.
type replacement struct {
	Old *string `json:"old_text"`
	New *string `json:"new_text"`
	All bool    `json:"replace_all"`
}

func (w *workspace) editFile(ctx context.Context, args editArgs) (string, error) {
	if err := required(map[string]*string{"path": args.Path}); err != nil {
		return "", err
	}
	edits := args.Edits
	if args.Old != nil || args.New != nil || len(edits) == 0 {
		edits = append([]replacement{{args.Old, args.New, args.All}}, edits...)
	}
	d, err := w.load(*args.Path)
	if err != nil {
		return "", err
	}
	text := d.text
	var lines []int
	var notes []string
	for i, edit := range edits {
		var done []place
		var note string
		if text, done, note, err = edit.apply(*args.Path, text); err != nil {
			if len(edits) > 1 {
				err = fmt.Errorf("edit %d of %d: %w\nNothing was changed: the edits of one call are made all or none", i+1, len(edits), err)
			}
			return "", err
		}
		for _, p := range done {
			lines = append(lines, p.line)
		}
		if note != "" && !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	before := d.text
	d.text = text
	if err := w.save(d); err != nil {
		return "", err
	}
	return fmt.Sprintf("edited %s at %s", *args.Path, atLines(lines)) + saying(notes) + w.syntaxHint(ctx, d.name, before, text), nil
}

func saying(notes []string) string {
	if len(notes) == 0 {
		return ""
	}
	return "; old_text differs from the file in " + strings.Join(notes, ", ")
}

func atLines(lines []int) string {
	if len(lines) == 1 {
		return fmt.Sprintf("line %d", lines[0])
	}
	return "lines " + listed(lines)
}

// apply makes one edit in a text. The places are lines of the text before it.
func (r replacement) apply(path, text string) (edited string, done []place, note string, err error) {
	if err := required(map[string]*string{"old_text": r.Old, "new_text": r.New}); err != nil {
		return "", nil, "", err
	}
	old, new := *r.Old, *r.New
	switch {
	case old == "":
		return "", nil, "", errors.New("old_text is empty")
	case old == new:
		return "", nil, "", errors.New("old_text and new_text are the same")
	}
	m := find(text, old, new)
	switch found := m.places; {
	case len(found) == 0:
		return "", nil, "", notFound(path, text, old, new)
	case len(found) > 1 && !r.All:
		return "", nil, "", fmt.Errorf("old_text occurs %d times in %q, at lines %s; add surrounding text%s", len(found), path, listed(linesOf(found)), m.differing())
	}
	if r.All {
		m.places = apart(m.places)
	}
	edited, at := text, 0
	var b strings.Builder
	for _, p := range m.places {
		b.WriteString(edited[at:p.from] + m.insertion(text, p))
		at = p.to
	}
	return b.String() + edited[at:], m.places, m.note(text), nil
}

func linesOf(found []place) (lines []int) {
	for _, p := range found {
		lines = append(lines, p.line)
	}
	return lines
}

// apart leaves out places that overlap the one before.
func apart(found []place) (out []place) {
	for _, p := range found {
		if len(out) == 0 || p.from >= out[len(out)-1].to {
			out = append(out, p)
		}
	}
	return out
}

// match is where a text was found, and what had to be forgiven.
type match struct {
	places   []place
	how      tolerance
	old, new string
	numbers  bool // the line numbers of read_file were taken out
	literal  bool // what is new is put in as it is
}

const crlf = "\r\n"

// find looks for old with as little tolerance as finds it. A text with line numbers
// before each line is one that was copied from an answer of read_file.
func find(text, old, new string) match {
	plainOld, plainNew := strings.ReplaceAll(old, crlf, "\n"), strings.ReplaceAll(new, crlf, "\n")
	if plainOld == plainNew || !strings.Contains(text, crlf) {
		if found := exact(text, old); found != nil {
			return match{places: found, old: old, new: new, literal: true}
		}
	}
	if plainOld == plainNew {
		return match{}
	}
	table := tableOf(text)
	for _, how := range tolerances {
		if found := table.tolerant(plainOld, how); found != nil {
			return match{places: found, how: how, old: plainOld, new: plainNew}
		}
	}
	if bare, ok := withoutNumbers(plainOld); ok {
		if without, ok := withoutNumbers(plainNew); ok || plainNew == "" {
			plainNew = without
		}
		m := find(text, bare, plainNew)
		m.numbers = true
		return m
	}
	return match{}
}

// note says what was forgiven.
func (m match) note(text string) string {
	p := m.places[0]
	switch {
	case m.numbers:
		return "the line numbers of read_file"
	case text[p.from:p.to] == m.old:
		return ""
	}
	return m.how.says
}

func (m match) differing() string {
	if m.how.says == "" || m.how.says == lineEnds.says {
		return ""
	}
	return " (not counting " + m.how.says + ")"
}

// insertion is what is put into a place: of lines that stay the file's own, and else
// the new ones, with line ends, indentation and characters as the file has them there.
func (m match) insertion(text string, p place) string {
	if m.literal {
		return m.new
	}
	there := strings.Split(text[p.from:p.to], "\n")
	old, new := strings.Split(m.old, "\n"), strings.Split(m.new, "\n")
	head := 0
	for head < min(len(old), len(new))-1 && old[head] == new[head] {
		head++
	}
	tail := 0
	for tail < min(len(old), len(new))-head && old[len(old)-1-tail] == new[len(new)-1-tail] {
		tail++
	}
	end := ""
	if lineEnd(text, p.from) == crlf {
		end = "\r"
	}
	middle := make([]string, 0, len(new))
	for i, line := range new[head : len(new)-tail] {
		line = m.how.adapt(line, old, there)
		if head+i < len(new)-1 {
			line += end
		}
		middle = append(middle, line)
	}
	return strings.Join(slices.Concat(there[:head], middle, there[len(there)-tail:]), "\n")
}

// adapt gives a new line the indentation and the characters of the lines there.
func (how tolerance) adapt(line string, old, there []string) string {
	if !how.forms {
		return line
	}
	whole := strings.Join(there, "\n")
	if !norm.NFC.IsNormalString(whole) && norm.NFC.IsNormalString(strings.Join(old, "\n")) {
		line = norm.NFD.String(line)
	}
	if how.tab == 0 {
		return line
	}
	rest := strings.TrimLeft(line, " \t")
	blanks := line[:len(line)-len(rest)]
	for i, theirs := range there {
		switch a, b := indentation(old[i]), indentation(theirs); {
		case a == b:
		case strings.Contains(b, "\t") && !strings.Contains(a, "\t"):
			columns := len(expand(blanks, how.tab))
			return strings.Repeat("\t", columns/how.tab) + strings.Repeat(" ", columns%how.tab) + rest
		case strings.Contains(a, "\t") && !strings.Contains(b, "\t"):
			return expand(blanks, how.tab) + rest
		}
	}
	return line
}

func indentation(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// lineEnd is what ends the line of a place, or the line before it in the last one.
func lineEnd(text string, at int) string {
	end := strings.IndexByte(text[at:], '\n') + at
	if end < at {
		end = strings.LastIndexByte(text[:at], '\n')
	}
	if end > 0 && text[end-1] == '\r' {
		return crlf
	}
	return "\n"
}

func listed(lines []int) string {
	const most = 10
	var all []string
	for i, line := range lines {
		if i == most {
			all = append(all, "…")
			break
		}
		all = append(all, fmt.Sprint(line))
	}
	return strings.Join(all, ", ")
}
