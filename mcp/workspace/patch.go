package workspace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

type patchArgs struct {
	Patch *string `json:"patch"`
}

// applyPatch changes files by a patch, all of it or nothing.
func (w *workspace) applyPatch(ctx context.Context, args patchArgs) (string, error) {
	if err := required(map[string]*string{"patch": args.Patch}); err != nil {
		return "", err
	}
	files, err := parsePatch(*args.Patch)
	if err != nil {
		return "", fmt.Errorf("the patch cannot be read: %w", err)
	}
	t := transaction{w: w}
	for _, f := range files {
		if err := t.plan(f); err != nil {
			return "", fmt.Errorf("%w\nNothing was changed: a patch is applied whole or not at all", err)
		}
	}
	if err := t.commit(); err != nil {
		return "", fmt.Errorf("%w\nNothing was changed", err)
	}
	lines := []string{"patched:"}
	hints := ""
	for _, c := range t.changes {
		lines = append(lines, c.said+saying(c.notes))
		if c.kind != 'D' {
			hints += w.syntaxHint(ctx, c.to, c.before.text, c.after)
		}
	}
	return strings.Join(lines, "\n") + hints, nil
}

// plan works out what a file becomes, and touches nothing.
func (t *transaction) plan(f filePatch) error {
	switch {
	case f.from == "" && f.to == "":
		return errors.New("the patch names no file")
	case f.from == "":
		return t.planNew(f)
	case f.to == "":
		return t.planDelete(f)
	}
	c, err := t.open(f.from)
	if err != nil {
		return err
	}
	text, lines, notes, err := patched(f, c.after)
	if err != nil {
		return err
	}
	c.after, c.notes = text, append(c.notes, notes...)
	if c.kind == 0 {
		c.kind = 'M'
	}
	c.said = fmt.Sprintf("%c %s at %s", c.kind, f.from, atLines(lines))
	if f.to != f.from {
		if _, err := t.w.free(f.to); err != nil {
			return err
		}
		c.kind, c.to = 'R', f.to
		c.said = fmt.Sprintf("R %s to %s", f.from, f.to)
	}
	return nil
}

func (t *transaction) planNew(f filePatch) error {
	if _, err := t.w.free(f.to); err != nil {
		return err
	}
	var h hunk
	if len(f.hunks) > 0 {
		h = f.hunks[0]
	}
	text := strings.Join(h.new, "\n")
	if !h.noEnd && len(h.new) > 0 {
		text += "\n"
	}
	t.changes = append(t.changes, &change{kind: 'A', path: f.to, to: f.to, after: text, said: "A " + f.to})
	return nil
}

func (t *transaction) planDelete(f filePatch) error {
	name, err := t.w.entry(f.from)
	if err != nil {
		return err
	}
	info, err := t.w.root.Lstat(name)
	if err != nil {
		return plain(f.from, err)
	}
	c := &change{kind: 'D', path: f.from, to: f.from, said: "D " + f.from, mode: info.Mode()}
	if info.Mode().IsRegular() {
		if c.data, err = t.w.root.ReadFile(name); err != nil {
			return plain(f.from, err)
		}
	} else if c.link, err = t.w.root.Readlink(name); err != nil {
		return plain(f.from, err)
	}
	t.changes = append(t.changes, c)
	return nil
}

// open gives the change of a file that the patch names, which may name it twice.
func (t *transaction) open(path string) (*change, error) {
	for _, c := range t.changes {
		if c.to == path && c.kind != 'D' {
			return c, nil
		}
	}
	d, err := t.w.load(path)
	if err != nil {
		return nil, err
	}
	if _, err := t.w.target(path); err != nil { // it could not be written
		return nil, err
	}
	c := &change{path: path, to: path, before: d, after: d.text}
	t.changes = append(t.changes, c)
	return c, nil
}

// spot is a hunk that has found its lines: from one line to before another.
type spot struct {
	hunk
	from, to int
	how      tolerance
}

// patched is the text with all hunks of a file applied. Hunks are looked for in the
// text before all of them, so their order does not matter.
func patched(f filePatch, text string) (string, []int, []string, error) {
	table := tableOf(text)
	var spots []spot
	var notes []string
	for i, h := range f.hunks {
		s, err := table.locate(h, spots)
		if err != nil {
			return "", nil, nil, fmt.Errorf("%s, hunk %d of %d: %w", f.from, i+1, len(f.hunks), err)
		}
		if s.how.says != "" && s.how.says != lineEnds.says && !slices.Contains(notes, s.how.says) {
			notes = append(notes, s.how.says)
		}
		spots = append(spots, s)
	}
	slices.SortStableFunc(spots, func(a, b spot) int { return a.from - b.from })
	var b strings.Builder
	var lines []int
	at := 0
	for _, s := range spots {
		from, to, insertion := table.change(text, s)
		b.WriteString(text[at:from] + insertion)
		at = to
		lines = append(lines, s.from+1)
	}
	return ended(b.String()+text[at:], f.hunks), lines, notes, nil
}

// ended adds or removes the line end at the end of a file, if a hunk says so.
func ended(text string, hunks []hunk) string {
	for _, h := range hunks {
		if h.noEnd {
			return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
		}
	}
	return text
}

// change is what a hunk makes of the text between two offsets.
func (t lineTable) change(text string, s spot) (from, to int, insertion string) {
	end := lineEnd(text, t.at[min(s.from, len(t.at)-1)])
	if s.from == s.to { // lines are added between two
		added := strings.Join(s.new, end) + end
		if s.from >= len(t.at) {
			from = len(text)
			if text != "" && !strings.HasSuffix(text, "\n") {
				return from, from, end + strings.TrimSuffix(added, end)
			}
			return from, from, added
		}
		return t.at[s.from], t.at[s.from], added
	}
	from = t.at[s.from]
	if len(s.new) == 0 {
		if s.to < len(t.at) {
			return from, t.at[s.to], ""
		}
		return from, len(text), ""
	}
	to = t.at[s.to-1] + len(trimReturn(t.lines[s.to-1]))
	m := match{how: s.how, old: strings.Join(s.old, "\n"), new: strings.Join(s.new, "\n")}
	return from, to, m.insertion(text, place{from: from, to: to})
}

// locate finds the lines that a hunk is about. Where more than one stretch fits, the
// hunk's own line number, header, or end must tell which one is meant.
func (t lineTable) locate(h hunk, taken []spot) (spot, error) {
	if len(h.old) == 0 {
		return t.insertion(h)
	}
	for _, how := range append([]tolerance{{line: func(s string) string { return s }}}, tolerances...) {
		found := slices.DeleteFunc(t.windows(h.old, how), func(at int) bool {
			return slices.ContainsFunc(taken, func(s spot) bool { return at < s.to && s.from < at+len(h.old) })
		})
		if len(found) == 0 {
			continue
		}
		at, ok := t.choose(h, found)
		if !ok {
			for i := range found {
				found[i]++
			}
			return spot{}, fmt.Errorf("its old lines occur %d times, at lines %s; add lines of context", len(found), listed(found))
		}
		return spot{h, at, at + len(h.old), how}, nil
	}
	if at := t.windows(h.new, lineEnds); len(h.new) > 0 && len(at) == 1 && strings.TrimSpace(strings.Join(h.new, "")) != "" {
		return spot{}, fmt.Errorf("its old lines are not in the file, but its new ones are, at line %d: the change seems to be made already", at[0]+1)
	}
	at, ok := nearest(t.lines, h.old)
	if !ok {
		return spot{}, errors.New("its old lines are not in the file, nor is anything like them")
	}
	return spot{}, fmt.Errorf("its old lines are not in the file. %s", closest(t.lines, h.old, at))
}

// windows are the lines at which whole lines begin that are the wanted ones.
func (t lineTable) windows(want []string, how tolerance) (found []int) {
	want, have := plainLines(want, how), plainLines(t.lines, how)
	for i := range have[:max(len(have)-len(want)+1, 0)] {
		if slices.Equal(have[i:i+len(want)], want) {
			found = append(found, i)
		}
	}
	return found
}

func (t lineTable) choose(h hunk, found []int) (int, bool) {
	if len(found) == 1 {
		return found[0], true
	}
	if h.line > 0 && slices.Contains(found, h.line-1) {
		return h.line - 1, true
	}
	if last := found[len(found)-1]; h.end && last+len(h.old) >= len(t.lines)-1 {
		return last, true
	}
	if below, ok := t.below(h.header); ok && h.header != "" {
		for _, at := range found {
			if at >= below {
				return at, true
			}
		}
	}
	return 0, false
}

// below is the line after the ones of a header, if there is no doubt which those are.
func (t lineTable) below(header string) (at int, ok bool) {
	for _, part := range strings.Split(header, "\n") {
		var found []int
		for i := at; i < len(t.lines); i++ {
			if strings.TrimSpace(t.lines[i]) == part {
				found = append(found, i)
			}
		}
		if len(found) != 1 {
			return 0, false
		}
		at = found[0] + 1
	}
	return at, true
}

// insertion is where a hunk goes that has new lines only.
func (t lineTable) insertion(h hunk) (spot, error) {
	end := len(t.lines)
	if t.lines[end-1] == "" {
		end--
	}
	at := end
	switch {
	case h.line > end:
		return spot{}, fmt.Errorf("it adds lines after line %d, but the file has %d", h.line, end)
	case h.line > 0:
		at = h.line
	case h.header != "":
		below, ok := t.below(h.header)
		if !ok {
			return spot{}, fmt.Errorf("it has new lines only, and %q does not stand on one line; add lines of context", h.header)
		}
		at = below
	}
	if at == len(t.lines)-1 && t.lines[at] == "" {
		at = len(t.lines) // the end of the file
	}
	return spot{hunk: h, from: at, to: at}, nil
}
