package main

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"agent/internal/term"
)

// screen is what stands on a terminal: as much of an xterm as the browser uses.
type screen struct {
	cells       [][]string // "" is the second half of a wide character
	row, col    int
	top, bottom int // of the part that scrolls
	latest      string
	rest        string // a sequence that is not whole yet
	strange     []string
}

func newScreen(rows, columns int) *screen {
	s := &screen{bottom: rows - 1}
	for range rows {
		s.cells = append(s.cells, blank(columns))
	}
	return s
}

func blank(columns int) []string { return strings.Split(strings.Repeat(" ", columns), "") }

func (s *screen) String() string {
	var b strings.Builder
	for _, row := range s.cells {
		b.WriteString(strings.TrimRight(strings.Join(row, ""), " ") + "\n")
	}
	return b.String()
}

// write takes what a program wrote.
func (s *screen) write(text string) {
	for text = s.rest + text; text != ""; {
		n := s.one(text)
		if n == 0 {
			break
		}
		text = text[n:]
	}
	s.rest = text
}

// one takes a character or a sequence and gives its length, 0 if it is not whole.
func (s *screen) one(text string) int {
	switch text[0] {
	case '\r':
		s.col = 0
	case '\n':
		s.down()
	case '\b':
		s.col = max(s.col-1, 0)
	case '\a':
	case 0x1b:
		return s.escape(text)
	default:
		if !utf8.FullRuneInString(text) {
			return 0
		}
		r, n := utf8.DecodeRuneInString(text)
		s.put(string(r))
		return n
	}
	return 1
}

func (s *screen) down() {
	if s.row == s.bottom {
		s.scroll(1)
	} else {
		s.row = min(s.row+1, len(s.cells)-1)
	}
}

// scroll moves the lines of the scrolling part, and blanks what comes in.
func (s *screen) scroll(n int) {
	part, columns := s.cells[s.top:s.bottom+1], len(s.cells[0])
	for range min(max(n, -n), len(part)) {
		if n > 0 {
			copy(part, part[1:])
			part[len(part)-1] = blank(columns)
		} else {
			copy(part[1:], part)
			part[0] = blank(columns)
		}
	}
}

func (s *screen) put(c string) {
	width := term.Columns(c)
	if width == 0 {
		return
	}
	if s.col+width > len(s.cells[0]) {
		s.col = 0
		s.down()
	}
	s.cells[s.row][s.col], s.latest = c, c
	if width == 2 {
		s.cells[s.row][s.col+1] = ""
	}
	s.col += width
}

func (s *screen) escape(text string) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case ']', 'P', '_', '^', 'X': // ends with BEL or ST
		for i := 2; i < len(text); i++ {
			if text[i] == '\a' || text[i] == '\\' && text[i-1] == 0x1b {
				return i + 1
			}
		}
		return 0
	case '[':
		i := 2
		for ; i < len(text) && (text[i] < 0x40 || text[i] > 0x7e); i++ {
		}
		if i == len(text) {
			return 0
		}
		s.control(text[2:i], text[i])
		return i + 1
	case '(', ')':
		return min(3, len(text))
	case 'M':
		if s.row == s.top {
			s.scroll(-1)
		} else {
			s.row--
		}
	}
	return 2
}

func (s *screen) control(args string, final byte) {
	if strings.ContainsAny(args, "?>=<$ ") || strings.ContainsRune("mhlcntqu", rune(final)) {
		return // modes, colours, questions
	}
	numbers := strings.Split(args, ";")
	arg := func(i, otherwise int) int {
		if i < len(numbers) {
			if n, err := strconv.Atoi(numbers[i]); err == nil && n > 0 {
				return n
			}
		}
		return otherwise
	}
	line, columns := s.cells[s.row], len(s.cells[0])
	switch n := arg(0, 1); final {
	case 'A':
		s.row -= n
	case 'B', 'e':
		s.row += n
	case 'C', 'a':
		s.col += n
	case 'D':
		s.col -= n
	case 'E', 'F':
		s.row, s.col = s.row+map[byte]int{'E': n, 'F': -n}[final], 0
	case 'G', '`':
		s.col = n - 1
	case 'd':
		s.row = n - 1
	case 'H', 'f':
		s.row, s.col = n-1, arg(1, 1)-1
	case 'J':
		s.erase(arg(0, 0))
	case 'K':
		from, to := map[int]int{0: s.col}[arg(0, 0)], map[int]int{0: columns, 1: min(s.col+1, columns), 2: columns}[arg(0, 0)]
		copy(line[min(from, columns):to], blank(columns))
	case 'X':
		copy(line[min(s.col, columns):min(s.col+n, columns)], blank(columns))
	case 'P':
		s.cells[s.row] = append(append(line[:s.col:s.col], line[min(s.col+n, columns):]...), blank(columns)...)[:columns]
	case '@':
		s.cells[s.row] = append(append(line[:s.col:s.col], blank(n)...), line[s.col:]...)[:columns]
	case 'b':
		for range n {
			s.put(s.latest)
		}
	case 'I':
		s.col = (s.col/8 + n) * 8
	case 'Z':
		s.col = max((s.col+7)/8-n, 0) * 8
	case 'L', 'M', 'S', 'T':
		top := s.top
		if final == 'L' || final == 'M' {
			s.top = s.row
		}
		s.scroll(map[byte]int{'L': -n, 'M': n, 'S': n, 'T': -n}[final])
		s.top = top
	case 'r':
		s.top, s.bottom, s.row, s.col = n-1, min(arg(1, len(s.cells)), len(s.cells))-1, 0, 0
	default:
		s.strange = append(s.strange, args+string(final))
	}
	s.row, s.col = max(min(s.row, len(s.cells)-1), 0), max(min(s.col, columns), 0)
}

func (s *screen) erase(how int) {
	columns := len(s.cells[0])
	for i := range s.cells {
		switch {
		case how >= 2, how == 0 && i > s.row, how == 1 && i < s.row:
			s.cells[i] = blank(columns)
		case i == s.row && how == 0:
			copy(s.cells[i][min(s.col, columns):], blank(columns))
		case i == s.row && how == 1:
			copy(s.cells[i][:min(s.col+1, columns)], blank(columns))
		}
	}
}
