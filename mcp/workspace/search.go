package workspace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"unicode/utf8"
)

const (
	maxMatches  = 100      // shown in an answer, unless limit says otherwise
	mostMatches = 1000     // that limit can say
	perFile     = 20       // shown of one file where more files match
	maxSearched = 16 << 20 // bytes of a file that is searched
	maxShown    = 300      // bytes shown of a line
	maxContext  = 20
)

type searchArgs struct {
	Pattern *string `json:"pattern"`
	Path    string  `json:"path"`
	Glob    string  `json:"glob"`
	Fold    bool    `json:"ignore_case"`
	Word    bool    `json:"word"`
	Literal bool    `json:"literal"`
	Context int     `json:"context"`
	Count   bool    `json:"count"`
	Ignored bool    `json:"ignored"`
	Offset  int     `json:"offset"`
	Limit   int     `json:"limit"`
}

// fileHits is what was found in one file.
type fileHits struct {
	name  string
	lines []hit
	count int
	err   error
}

type hit struct {
	number int
	text   string // with its context, if that is asked for
}

func (w *workspace) search(ctx context.Context, args searchArgs) (string, error) {
	if err := required(map[string]*string{"pattern": args.Pattern}); err != nil {
		return "", err
	}
	p, note, err := compilePattern(args)
	if err != nil {
		return "", err
	}
	var glob *regexp.Regexp
	if args.Glob != "" {
		if glob, err = compileGlob(args.Glob); err != nil {
			return "", err
		}
	}
	list, err := w.paths(ctx, args.Path, args.Ignored)
	if err != nil {
		return "", err
	}
	list = slices.DeleteFunc(list, func(name string) bool { return glob != nil && !glob.MatchString(below(name, args.Path)) })
	found := w.grepAll(ctx, list, p)
	if ctx.Err() != nil {
		return "", errors.New("cancelled")
	}
	text := args.answer(found, strings.ToLower(p.word))
	if note != "" {
		text += "\n" + note
	}
	if text == "no matches" && !args.Ignored {
		text += leftOut(list, args)
	}
	return text, nil
}

func leftOut(list []string, args searchArgs) string {
	if args.Glob != "" && len(list) == 0 {
		return "; glob names no file"
	}
	return ""
}

// grepAll searches files, several at once, and gives what it found in the order of the list.
func (w *workspace) grepAll(ctx context.Context, list []string, p *pattern) []fileHits {
	results := make([]fileHits, len(list))
	var next atomic.Int64
	var all sync.WaitGroup
	const batch = 64 // neighbours lie in the same directory
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			s := &searcher{w: w, p: p}
			defer s.close()
			for {
				from := int(next.Add(batch)) - batch
				if from >= len(list) || ctx.Err() != nil {
					return
				}
				for i := from; i < min(from+batch, len(list)); i++ {
					results[i] = s.file(list[i])
				}
			}
		})
	}
	all.Wait()
	return slices.DeleteFunc(results, func(f fileHits) bool { return f.count == 0 && f.err == nil })
}

// searcher searches files one after the other, with the same memory.
type searcher struct {
	w    *workspace
	p    *pattern
	buf  []byte
	low  []byte
	dir  string
	root *os.Root // of dir
}

func (s *searcher) close() {
	if s.root != nil {
		_ = s.root.Close()
	}
}

func (s *searcher) file(name string) (f fileHits) {
	f.name = name
	text, err := s.read(name)
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) && !errors.Is(err, errNoFile) {
			f.err = err
		}
		return f
	}
	s.p.grep(&f, text, &s.low)
	return f
}

// errNoFile is of what is searched by another name or not at all: links, directories, pipes.
var errNoFile = errors.New("not a regular file")

// read gives a text file's content, and nothing for a binary one.
func (s *searcher) read(name string) ([]byte, error) {
	base, err := s.enter(name)
	if err != nil {
		return nil, err
	}
	info, err := s.root.Lstat(base)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNoFile
	case info.Size() > maxSearched:
		return nil, errors.New("too large")
	}
	f, err := s.root.OpenFile(base, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size := int(info.Size()) + 1; cap(s.buf) < size {
		s.buf = make([]byte, max(size, 2*cap(s.buf)))
	}
	n, err := io.ReadFull(f, s.buf[:int(info.Size())])
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return nil, err
	}
	return asText(s.buf[:n]), nil
}

// asText is a file's content as it is read, without a byte order mark; nothing for a binary one.
func asText(data []byte) []byte {
	binary := bytes.IndexByte(data[:min(len(data), sniffing)], 0) >= 0
	if !binary && utf8.Valid(data) {
		return bytes.TrimPrefix(data, []byte(bom))
	}
	text, _, err := decodeText(data)
	switch {
	case err == nil:
		return []byte(text)
	case binary:
		return nil
	}
	return data
}

// enter opens the directory of a file, unless it is that of the file before.
func (s *searcher) enter(name string) (base string, err error) {
	dir := path.Dir(name)
	if s.root == nil || dir != s.dir {
		s.close()
		s.root = nil
		root, err := s.w.root.OpenRoot(dir)
		if err != nil {
			return "", err
		}
		s.dir, s.root = dir, root
	}
	return path.Base(name), nil
}

// grep finds the lines that match.
func (p *pattern) grep(f *fileHits, text []byte, low *[]byte) {
	haystack := text
	if p.fold && p.literals != nil {
		haystack = lowered(text, low)
	}
	number, counted := 1, 0
	for at := 0; at < len(text); {
		start, end, ok := p.next(text, haystack, at)
		if !ok {
			return
		}
		number += bytes.Count(text[counted:start], []byte("\n"))
		counted = start
		if f.count++; f.count <= mostMatches {
			f.lines = append(f.lines, hit{number, p.show(f.name, text, start, end, number)})
		}
		at = end + 1
	}
}

// next finds the line that matches, from the beginning of a line on.
func (p *pattern) next(text, haystack []byte, at int) (start, end int, ok bool) {
	for at < len(text) {
		start = at
		if p.literals != nil {
			i := p.index(haystack[at:])
			if i < 0 {
				return 0, 0, false
			}
			start = bytes.LastIndexByte(text[at:at+i], '\n') + 1 + at
		}
		end = bytes.IndexByte(text[start:], '\n') + start
		if end < start {
			end = len(text)
		}
		if p.plain || p.re.Match(bytes.TrimSuffix(text[start:end], []byte("\r"))) {
			return start, end, true
		}
		at = end + 1
	}
	return 0, 0, false
}

// show is a line as an answer has it: "path:line: text", and lines around it as "path-line- text".
func (p *pattern) show(name string, text []byte, start, end, number int) string {
	var b strings.Builder
	from, first := start, number
	for ; first > 1 && number-first < p.context; first-- {
		from = bytes.LastIndexByte(text[:from-1], '\n') + 1
	}
	for line := range bytes.Lines(text[from:start]) {
		fmt.Fprintf(&b, "%s-%d- %s\n", name, first, shorten(line))
		first++
	}
	fmt.Fprintf(&b, "%s:%d: %s", name, number, shorten(p.around(text[start:end])))
	for n := 1; n <= p.context && end < len(text)-1; n++ {
		next := bytes.IndexByte(text[end+1:], '\n') + end + 1
		if next <= end {
			next = len(text)
		}
		fmt.Fprintf(&b, "\n%s-%d- %s", name, number+n, shorten(text[end+1:next]))
		end = next
	}
	return b.String()
}

// around is a long line from shortly before what matches.
func (p *pattern) around(line []byte) []byte {
	if len(line) <= maxShown {
		return line
	}
	loc := p.re.FindIndex(line)
	if loc == nil || loc[1] <= maxShown {
		return line
	}
	from := max(0, loc[0]-40)
	for from > 0 && !utf8.RuneStart(line[from]) {
		from--
	}
	return append([]byte("…"), line[from:]...)
}

func shorten(line []byte) string {
	line = bytes.TrimRight(line, "\r\n")
	if len(line) <= maxShown {
		return shown(string(line))
	}
	return fmt.Sprintf("%s… [%d bytes]", shown(cutAt(string(line), maxShown)), len(line))
}

// answer shows the matches, the files that are likely meant first.
func (a searchArgs) answer(found []fileHits, word string) string {
	var left []string
	total := 0
	found = slices.DeleteFunc(found, func(f fileHits) bool {
		if f.err != nil {
			left = append(left, f.name)
		}
		total += f.count
		return f.err != nil
	})
	slices.SortStableFunc(found, func(x, y fileHits) int { return cmp.Compare(rank(x.name, word), rank(y.name, word)) })
	var lines []string
	if a.Count {
		lines = counts(found, total)
	} else {
		lines = a.matches(found, total)
	}
	if len(lines) == 0 {
		lines = append(lines, "no matches")
	}
	if len(left) > 0 {
		lines = append(lines, fmt.Sprintf("[not searched: %d files that are too large or cannot be read, the first is %s]", len(left), left[0]))
	}
	return strings.Join(lines, "\n")
}

func counts(found []fileHits, total int) (lines []string) {
	for i, f := range found {
		if i == maxListed {
			lines = append(lines, "[…]")
			break
		}
		lines = append(lines, fmt.Sprintf("%s: %d", f.name, f.count))
	}
	if len(found) > 0 {
		lines = append(lines, fmt.Sprintf("[%d lines in %d files]", total, len(found)))
	}
	return lines
}

func (a searchArgs) matches(found []fileHits, total int) (lines []string) {
	limit := min(cmp.Or(a.Limit, maxMatches), mostMatches)
	var all []string
	for _, f := range found {
		for i, h := range f.lines {
			if i == perFile && len(found) > 1 {
				all = append(all, fmt.Sprintf("[%d more in %s; search it with path]", f.count-perFile, f.name))
				break
			}
			all = append(all, h.text)
		}
	}
	lines = page(all, a.Offset, limit)
	if a.Context > 0 {
		lines = []string{strings.Join(lines, "\n--\n")}
	}
	if n := min(len(page(all, a.Offset, limit))+a.Offset, len(all)); n < len(all) || a.Offset > 0 {
		note := fmt.Sprintf("[%d to %d of %d lines in %d files", a.Offset+1, n, total, len(found))
		if n < len(all) {
			note += fmt.Sprintf("; go on with offset %d, or narrow it down with path, glob or pattern", n)
		}
		lines = append(lines, note+"]")
	}
	if len(all) == 0 {
		return nil
	}
	return lines
}
