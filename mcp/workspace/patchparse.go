package workspace

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// filePatch is what a patch says of one file.
type filePatch struct {
	from, to string // the same unless the file is moved; "" where there is none
	hunks    []hunk
}

// hunk is one stretch of changed lines.
type hunk struct {
	header   string // a line above the place, of the *** Begin Patch form
	line     int    // where the old lines begin, as a unified diff says; 0: unknown
	old, new []string
	end      bool // the old lines end the file
	noEnd    bool // the new text has no line end at the end of the file
}

const (
	beginPatch = "*** Begin Patch"
	endPatch   = "*** End Patch"
	devNull    = "/dev/null"
)

// parsePatch reads either form of a patch. Lines of prose around it, and fences, are skipped.
func parsePatch(text string) ([]filePatch, error) {
	lines := strings.Split(strings.ReplaceAll(text, crlf, "\n"), "\n")
	if len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	p := &patchReader{lines: lines}
	marked := strings.Contains(text, "*** Update File: ") || strings.Contains(text, "*** Add File: ") || strings.Contains(text, "*** Delete File: ")
	var err error
	if marked {
		err = p.readMarked()
	} else {
		err = p.readUnified()
	}
	if err == nil && len(p.files) == 0 {
		err = errors.New(`it is neither a unified diff ("--- a/f", "+++ b/f", "@@ … @@") nor "` + beginPatch + `"`)
	}
	return p.files, err
}

type patchReader struct {
	lines []string
	next  int
	files []filePatch
}

func (p *patchReader) more() bool { return p.next < len(p.lines) }

// current is the file that is being read.
func (p *patchReader) current() *filePatch { return &p.files[len(p.files)-1] }

func (p *patchReader) readMarked() error {
	for ; p.more(); p.next++ {
		line := p.lines[p.next]
		name, ok := marker(line, "*** Update File: ")
		switch added, adds := marker(line, "*** Add File: "); {
		case adds:
			p.files = append(p.files, filePatch{to: added, hunks: []hunk{p.addedLines()}})
			continue
		case ok:
			p.files = append(p.files, filePatch{from: name, to: name})
			p.next++
			if to, ok := marker(p.line(), "*** Move to: "); ok {
				p.current().to = to
				p.next++
			}
			if err := p.markedHunks(); err != nil {
				return err
			}
			p.next--
			continue
		}
		if name, ok := marker(line, "*** Delete File: "); ok {
			p.files = append(p.files, filePatch{from: name})
		} else if strings.HasPrefix(line, "*** ") && line != beginPatch && line != endPatch {
			return fmt.Errorf("line %d: %q is not understood", p.next+1, line)
		}
	}
	return nil
}

// line is the line that is read next, or nothing at the end.
func (p *patchReader) line() string {
	if !p.more() {
		return ""
	}
	return p.lines[p.next]
}

func marker(line, mark string) (string, bool) {
	name, ok := strings.CutPrefix(line, mark)
	return strings.TrimSpace(name), ok
}

// addedLines reads the lines of a new file.
func (p *patchReader) addedLines() (h hunk) {
	for p.next+1 < len(p.lines) && strings.HasPrefix(p.lines[p.next+1], "+") {
		p.next++
		h.new = append(h.new, p.lines[p.next][1:])
	}
	return h
}

func (p *patchReader) markedHunks() error {
	var h *hunk
	file := p.current()
	for ; p.more(); p.next++ {
		line := p.lines[p.next]
		if header, ok := strings.CutPrefix(line, "@@"); ok {
			file.hunks = append(file.hunks, hunk{header: strings.TrimSpace(header)})
			h = &file.hunks[len(file.hunks)-1]
			if from, _, ok := unifiedHeader(line); ok {
				h.header, h.line = "", from
			}
			continue
		}
		if line == "*** End of File" && h != nil {
			h.end = true
			continue
		}
		if strings.HasPrefix(line, "*** ") || strings.HasPrefix(line, "```") {
			return nil
		}
		if h == nil {
			file.hunks = append(file.hunks, hunk{})
			h = &file.hunks[0]
		}
		if !h.add(line) {
			return fmt.Errorf(`line %d: %q begins with none of " ", "-", "+" and "@@"`, p.next+1, line)
		}
	}
	return nil
}

// add takes one line of a hunk. Editors take the blank off an empty line of context.
func (h *hunk) add(line string) bool {
	switch {
	case line == "":
		h.old, h.new = append(h.old, ""), append(h.new, "")
	case line[0] == ' ':
		h.old, h.new = append(h.old, line[1:]), append(h.new, line[1:])
	case line[0] == '-':
		h.old = append(h.old, line[1:])
	case line[0] == '+':
		h.new = append(h.new, line[1:])
	default:
		return false
	}
	return true
}

func (p *patchReader) readUnified() error {
	for p.more() {
		line := p.lines[p.next]
		switch {
		case strings.HasPrefix(line, "GIT binary patch"), strings.HasPrefix(line, "Binary files "):
			return fmt.Errorf("line %d: binary files cannot be patched", p.next+1)
		case strings.HasPrefix(line, "rename from ") && strings.HasPrefix(p.lineAfter(), "rename to "):
			p.files = append(p.files, filePatch{from: line[len("rename from "):], to: p.lineAfter()[len("rename to "):]})
			p.next++
		case p.atHeader():
			p.header()
			continue
		case strings.HasPrefix(line, "@@") && len(p.files) > 0:
			if err := p.unifiedHunk(); err != nil {
				return err
			}
			continue
		}
		p.next++
	}
	return nil
}

func (p *patchReader) lineAfter() string {
	if p.next+1 >= len(p.lines) {
		return ""
	}
	return p.lines[p.next+1]
}

// atHeader reports whether the two lines of a file come. A removed line that begins
// with "-- " looks like the first of them only.
func (p *patchReader) atHeader() bool {
	return strings.HasPrefix(p.line(), "--- ") && strings.HasPrefix(p.lineAfter(), "+++ ")
}

func (p *patchReader) header() {
	from, to := headerName(p.line(), "a/"), headerName(p.lineAfter(), "b/")
	p.next += 2
	if n := len(p.files); n > 0 && p.files[n-1].hunks == nil && p.files[n-1].from != p.files[n-1].to && p.files[n-1].to == to {
		return // the same file, whose renaming was said above
	}
	p.files = append(p.files, filePatch{from: from, to: to})
}

func headerName(line, prefix string) string {
	name, _, _ := strings.Cut(line[len("+++ "):], "\t")
	name = strings.TrimSpace(name)
	if unquoted, err := strconv.Unquote(name); err == nil && strings.HasPrefix(name, `"`) {
		name = unquoted
	}
	if name == devNull {
		return ""
	}
	return strings.TrimPrefix(name, prefix)
}

// unifiedHunk reads a hunk to the next header. Its counts are not trusted: models miscount.
func (p *patchReader) unifiedHunk() error {
	h := hunk{}
	h.line, h.header, _ = unifiedHeader(p.line())
	start := p.next + 1
	previous := byte(' ')
	for p.next++; p.more(); p.next++ {
		line := p.lines[p.next]
		if strings.HasPrefix(line, "@@") || strings.HasPrefix(line, "diff --git ") || p.atHeader() || strings.HasPrefix(line, "```") {
			break
		}
		if strings.HasPrefix(line, `\ `) {
			h.end = true
			h.noEnd = previous != '-'
			continue
		}
		if !h.add(line) {
			return fmt.Errorf(`line %d: %q begins with none of " ", "-", "+" and "@@"`, p.next+1, line)
		}
		if line != "" {
			previous = line[0]
		}
	}
	if p.next == start {
		return fmt.Errorf("line %d: the hunk is empty", start)
	}
	h.trim()
	file := p.current()
	file.hunks = append(file.hunks, h)
	return nil
}

// trim drops empty lines of context at the end: they stand between two files of a patch.
func (h *hunk) trim() {
	for len(h.old) > 0 && len(h.new) > 0 && h.old[len(h.old)-1] == "" && h.new[len(h.new)-1] == "" && len(h.old)+len(h.new) > 2 {
		h.old, h.new = h.old[:len(h.old)-1], h.new[:len(h.new)-1]
	}
}

// unifiedHeader reads "@@ -5,7 +5,8 @@ func f()". A header without numbers has the
// text of a line above.
func unifiedHeader(line string) (from int, text string, ok bool) {
	fields := strings.Fields(line)
	if len(fields) > 2 && strings.HasPrefix(fields[1], "-") && strings.HasPrefix(fields[2], "+") {
		first, _, _ := strings.Cut(fields[1][1:], ",")
		if from, err := strconv.Atoi(first); err == nil {
			return from, "", true
		}
	}
	return 0, strings.TrimSpace(strings.Trim(line, "@")), false
}
