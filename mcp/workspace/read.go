package workspace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

const (
	maxRead  = 1 << 20 // bytes of a file in one answer
	sniffing = 8 << 10 // bytes in which a NUL makes a file binary
)

type readArgs struct {
	Path  *string `json:"path"`
	Start *int    `json:"start_line"`
	End   *int    `json:"end_line"`
}

func (w *workspace) readFile(_ context.Context, args readArgs) (string, error) {
	if err := required(map[string]*string{"path": args.Path}); err != nil {
		return "", err
	}
	f, info, err := w.openFile(*args.Path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 64<<10)
	head, _ := in.Peek(sniffing)
	binary := fmt.Errorf("%q is a binary file of %d bytes", *args.Path, info.Size())
	var text []byte
	switch {
	case bytes.IndexByte(head, 0) >= 0:
		return "", binary
	case args.Start != nil || args.End != nil:
		text, err = readLines(in, args)
	case info.Size() > maxRead:
		return "", fmt.Errorf("%q has %d bytes; read a part of it with start_line and end_line", *args.Path, info.Size())
	default:
		text, err = io.ReadAll(io.LimitReader(in, maxRead))
	}
	if err != nil {
		return "", plain(*args.Path, err)
	}
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return "", binary
	}
	return string(text), nil
}

// readLines returns the lines asked for, under a heading if those are not all.
func readLines(in *bufio.Reader, args readArgs) ([]byte, error) {
	first, last := 1, int(^uint(0)>>1)
	if args.Start != nil {
		first = *args.Start
	}
	if args.End != nil {
		last = *args.End
	}
	if first < 1 || last < first {
		return nil, fmt.Errorf("lines %d to %d are no range", first, last)
	}
	text, shown, total, err := scanLines(in, first, last)
	switch {
	case err != nil:
		return nil, err
	case total < first:
		return nil, fmt.Errorf("it has %d lines only", total)
	case shown < first:
		return nil, fmt.Errorf("line %d is longer than %d bytes", first, maxRead)
	case first == 1 && shown == total:
		return text, nil
	}
	return append(fmt.Appendf(nil, "[lines %d to %d of %d]\n", first, shown, total), text...), nil
}

// scanLines reads all lines and keeps whole ones of the range, up to maxRead bytes.
func scanLines(in *bufio.Reader, first, last int) (text []byte, shown, total int, err error) {
	begin, full := true, false
	for {
		part, err := in.ReadSlice('\n')
		if len(part) > 0 {
			if begin {
				total++
			}
			if total >= first && total <= last && !full {
				text = append(text, part...)
			}
			begin = part[len(part)-1] == '\n'
			if len(text) > maxRead && !full {
				full = true
				text = text[:bytes.LastIndexByte(text[:maxRead], '\n')+1]
			}
			if !full {
				shown = min(total, last)
			}
		}
		switch {
		case err == io.EOF:
			if full {
				shown = first - 1 + bytes.Count(text, []byte("\n"))
			}
			return text, shown, total, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return nil, 0, 0, err
		}
	}
}
