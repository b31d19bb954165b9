package workspace

import (
	"fmt"
	"regexp"
	"strings"
)

// compileGlob translates a glob with **, *, ?, [...] and {a,b}. A pattern
// without a slash is meant for file names, at any depth.
func compileGlob(glob string) (*regexp.Regexp, error) {
	if !strings.Contains(glob, "/") {
		glob = "**/" + glob
	}
	glob = strings.TrimPrefix(glob, "./")
	var re strings.Builder
	re.WriteString(`^`)
	braces := 0
	for rest := glob; rest != ""; {
		piece, size := translate(rest, &braces)
		re.WriteString(piece)
		rest = rest[size:]
	}
	re.WriteString(`$`)
	compiled, err := regexp.Compile(re.String())
	if err != nil || braces != 0 {
		return nil, fmt.Errorf("glob %q is malformed", glob)
	}
	return compiled, nil
}

// translate returns the expression for the first piece of a glob, and the piece's length.
func translate(glob string, braces *int) (string, int) {
	switch {
	case strings.HasPrefix(glob, "**/"):
		return `(?:.*/)?`, 3
	case strings.HasPrefix(glob, "**"):
		return `.*`, 2
	case glob[0] == '*':
		return `[^/]*`, 1
	case glob[0] == '?':
		return `[^/]`, 1
	case glob[0] == '[':
		if end := strings.IndexByte(glob, ']'); end > 1 {
			class := strings.ReplaceAll(glob[1:end], `\`, `\\`)
			if class[0] == '!' {
				class = "^" + class[1:]
			}
			return `[` + class + `]`, end + 1
		}
	case glob[0] == '{':
		*braces++
		return `(?:`, 1
	case glob[0] == '}' && *braces > 0:
		*braces--
		return `)`, 1
	case glob[0] == ',' && *braces > 0:
		return `|`, 1
	}
	size := len(string([]rune(glob)[:1]))
	return regexp.QuoteMeta(glob[:size]), size
}
