package workspace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

const (
	// maxAnswer bounds the text of an answer, in bytes. The log keeps a little more of
	// a result whole (event.MaxResult): what we cut, we cut at a border and say where.
	maxAnswer   = 44 << 10
	longestLine = 2000     // bytes shown of a line, unless it is the only one asked for
	sniffing    = 8 << 10  // bytes in which a NUL makes a file binary
	maxDecoded  = 16 << 20 // bytes of a file whose encoding is looked for; larger ones are read as UTF-8
)

type readArgs struct {
	Path   *string `json:"path"`
	Start  *int    `json:"start_line"`
	End    *int    `json:"end_line"`
	Column *int    `json:"column"`
	Limit  *int    `json:"limit"`      // of lines; other tools have it in place of end_line
	Range  []int   `json:"view_range"` // likewise; the second is -1 for the end
}

// window is what of a file is asked for: lines from 1, both inclusive.
type window struct{ first, last, column int }

func (a readArgs) window() (window, error) {
	w := window{1, int(^uint(0) >> 1), 1}
	if len(a.Range) == 2 {
		w.first, w.last = a.Range[0], a.Range[1]
		if w.last == -1 {
			w.last = int(^uint(0) >> 1)
		}
	}
	if a.Start != nil {
		w.first = *a.Start
	}
	switch {
	case a.End != nil:
		w.last = *a.End
	case a.Limit != nil && *a.Limit > 0:
		w.last = w.first + *a.Limit - 1
	}
	if a.Column != nil {
		w.column, w.last = *a.Column, w.first
	}
	if w.first < 1 || w.last < w.first || w.column < 1 {
		return w, fmt.Errorf("lines %d to %d are no range", w.first, w.last)
	}
	return w, nil
}

func (w *workspace) readFile(_ context.Context, args readArgs) (string, error) {
	if err := required(map[string]*string{"path": args.Path}); err != nil {
		return "", err
	}
	asked, err := args.window()
	if err != nil {
		return "", err
	}
	f, info, err := w.openFile(*args.Path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	binary := fmt.Errorf("%q is a binary file of %d bytes", *args.Path, info.Size())
	v := view{asked: asked}
	var in io.Reader = f
	if info.Size() <= maxDecoded {
		data, err := io.ReadAll(io.LimitReader(f, maxDecoded))
		if err != nil {
			return "", plain(*args.Path, err)
		}
		text, c, err := decodeText(data)
		if err != nil {
			return "", binary
		}
		v.notes, in = append(v.notes, c.notes(text)...), strings.NewReader(text)
	}
	switch err := v.read(in); {
	case errors.Is(err, errBinary):
		return "", binary
	case err != nil:
		return "", plain(*args.Path, err)
	}
	return v.answer()
}

func (v *view) read(in io.Reader) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	if head, _ := lines.Peek(sniffing); bytes.IndexByte(head, 0) >= 0 {
		return errBinary
	}
	return v.scan(lines)
}

// notes say what an answer does not show of a text.
func (c charset) notes(text string) (notes []string) {
	if c.name != "" {
		notes = append(notes, c.name)
	}
	if ends := strings.Count(text, crlf); ends > 0 && ends == strings.Count(text, "\n") {
		notes = append(notes, "CRLF line ends")
	} else if ends > 0 {
		notes = append(notes, fmt.Sprintf("CRLF at the end of %d lines", ends))
	}
	return notes
}

// view is the part of a file that an answer shows, with the number of each line.
type view struct {
	asked window
	notes []string
	text  strings.Builder
	shown int // the last line shown
	total int
	full  bool
	cut   []int // lines of which a part is shown
	rest  int   // column at which the part ends
}

// scan counts all lines and keeps whole ones of the range, as many as an answer holds.
func (v *view) scan(in *bufio.Reader) error {
	var line []byte
	size, begin := 0, true
	for {
		part, err := in.ReadSlice('\n')
		if len(part) > 0 {
			if begin {
				v.total++
				line, size = line[:0], 0
			}
			begin = part[len(part)-1] == '\n'
			size += len(part)
			if v.wanted() && len(line) < v.asked.column*utf8.UTFMax+maxAnswer {
				line = append(line, part...)
			}
			if begin || err == io.EOF {
				v.add(line, size)
			}
		} else if !begin && err == io.EOF {
			v.add(line, size)
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

func (v *view) wanted() bool { return v.total >= v.asked.first && v.total <= v.asked.last && !v.full }

// add takes the line that was read, of which line may be the beginning only.
func (v *view) add(line []byte, size int) {
	if !v.wanted() || v.shown == v.total {
		return
	}
	whole := size == len(line)
	text := shown(strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r"))
	most := longestLine
	if v.asked.first == v.asked.last {
		most = maxAnswer - 200 // with the head
	}
	if skip := v.asked.column - 1; skip > 0 {
		runes := []rune(text)
		text = string(runes[min(skip, len(runes)):])
	}
	if len(text) > most || !whole {
		text = cutAt(text, most)
		v.cut, v.rest = append(v.cut, v.total), v.asked.column+utf8.RuneCountInString(text)
		text += fmt.Sprintf("… [line of %d bytes]", size)
	}
	row := fmt.Sprintf("%d\t%s\n", v.total, text)
	if v.text.Len()+len(row) > maxAnswer && v.shown > 0 {
		v.full = true
		return
	}
	v.text.WriteString(row)
	v.shown = v.total
}

// cutAt is the beginning of a text, of whole characters.
func cutAt(text string, most int) string {
	for most = min(most, len(text)); most > 0 && most < len(text) && !utf8.RuneStart(text[most]); most-- {
	}
	return text[:most]
}

// answer puts a heading above the lines, unless they are all there is to say.
func (v *view) answer() (string, error) {
	switch {
	case v.total == 0 && v.asked.first == 1:
		return "[the file is empty]", nil
	case v.total < v.asked.first:
		return "", fmt.Errorf("it has %d lines only", v.total)
	}
	notes := v.notes
	if v.full {
		notes = append(notes, fmt.Sprintf("read on with start_line %d", v.shown+1))
	}
	if len(v.cut) > 0 {
		notes = append(notes, fmt.Sprintf("not whole: line %s; read on with start_line %d and column %d", listed(v.cut), v.cut[len(v.cut)-1], v.rest))
	}
	text := strings.TrimSuffix(v.text.String(), "\n")
	if v.asked.first == 1 && v.shown == v.total && len(notes) == 0 {
		return text, nil
	}
	head := fmt.Sprintf("[lines %d to %d of %d", v.asked.first, v.shown, v.total)
	for _, note := range notes {
		head += "; " + note
	}
	return head + "]\n" + text, nil
}
