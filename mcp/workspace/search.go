package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	maxMatches  = 200
	maxSearched = 16 << 20 // bytes of a file that is searched
	maxShown    = 500      // bytes shown of a line
)

type searchArgs struct {
	Pattern *string `json:"pattern"`
	Path    string  `json:"path"`
}

func (w *workspace) search(ctx context.Context, args searchArgs) (string, error) {
	if err := required(map[string]*string{"pattern": args.Pattern}); err != nil {
		return "", err
	}
	pattern, err := regexp.Compile(*args.Pattern)
	if err != nil {
		return "", fmt.Errorf("pattern: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	var found, left []string
	err = w.walk(ctx, args.Path, func(name, _ string, entry fs.DirEntry) error {
		if !entry.Type().IsRegular() {
			return nil
		}
		text, err := w.searchable(name)
		if err != nil {
			left = append(left, name)
			return nil
		}
		found = grep(found, pattern, name, text)
		if len(found) > maxMatches {
			return errEnough
		}
		return nil
	})
	switch {
	case errors.Is(err, errEnough):
		found = append(found[:maxMatches], fmt.Sprintf("[more than %d matches; narrow it down with path or pattern]", maxMatches))
	case err != nil:
		return "", err
	case len(found) == 0:
		found = append(found, "no matches")
	}
	if len(left) > 0 {
		found = append(found, fmt.Sprintf("[not searched: %d files that are too large or cannot be read, the first is %s]", len(left), left[0]))
	}
	return strings.Join(found, "\n"), nil
}

// searchable returns a text file's content, and nothing for a binary one.
func (w *workspace) searchable(name string) ([]byte, error) {
	f, info, err := w.openFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > maxSearched {
		return nil, errors.New("too large")
	}
	text, err := io.ReadAll(io.LimitReader(f, maxSearched))
	if err != nil || bytes.IndexByte(text[:min(len(text), sniffing)], 0) >= 0 {
		return nil, err
	}
	return text, nil
}

// grep appends the matching lines, one more than maxMatches at most.
func grep(found []string, pattern *regexp.Regexp, name string, text []byte) []string {
	number := 0
	for line := range bytes.Lines(text) {
		number++
		line = bytes.TrimRight(line, "\r\n")
		if pattern.Match(line) {
			found = append(found, fmt.Sprintf("%s:%d: %s", name, number, shorten(line)))
		}
		if len(found) > maxMatches {
			break
		}
	}
	return found
}

func shorten(line []byte) string {
	if len(line) <= maxShown {
		return string(line)
	}
	keep := maxShown
	for keep > 0 && !utf8.RuneStart(line[keep]) {
		keep--
	}
	return fmt.Sprintf("%s… [%d bytes]", line[:keep], len(line))
}
