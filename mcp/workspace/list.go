package workspace

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxListed bounds the files in one answer.
const maxListed = 1000

type listArgs struct {
	Path    string `json:"path"`
	Glob    string `json:"glob"`
	Ignored bool   `json:"ignored"`
	Offset  int    `json:"offset"`
	Limit   int    `json:"limit"`
}

func (w *workspace) listFiles(ctx context.Context, args listArgs) (string, error) {
	var glob *regexp.Regexp
	if args.Glob != "" {
		var err error
		if glob, err = compileGlob(args.Glob); err != nil {
			return "", err
		}
	}
	all, err := w.paths(ctx, args.Path, args.Ignored)
	if err != nil {
		return "", err
	}
	list := slices.DeleteFunc(all, func(name string) bool { return glob != nil && !glob.MatchString(below(name, args.Path)) })
	if len(list) == 0 {
		if !args.Ignored && args.Glob != "" {
			return "no files; ignored=true looks into what .gitignore names, too", nil
		}
		return "no files", nil
	}
	shown := page(list, args.Offset, cmp.Or(args.Limit, maxListed))
	if len(shown) == len(list) {
		return strings.Join(list, "\n"), nil
	}
	text := strings.Join(shown, "\n") + fmt.Sprintf("\n[files %d to %d of %d; go on with offset %d, or narrow it down with path or glob]",
		args.Offset+1, args.Offset+len(shown), len(list), args.Offset+len(shown))
	if args.Offset == 0 {
		text = counted(list, args.Path) + text
	}
	return text, nil
}

// page is as much of a list as is asked for and fits an answer.
func page(list []string, offset, limit int) []string {
	list = list[min(max(offset, 0), len(list)):]
	size := 0
	for i, line := range list {
		if size += len(line) + 1; i == limit || i == maxListed || size > maxAnswer-4<<10 {
			return list[:i]
		}
	}
	return list
}

// counted says how many files each directory has, where not all can be named.
func counted(list []string, top string) string {
	counts := map[string]int{}
	var dirs []string
	for _, name := range list {
		dir, _, ok := strings.Cut(below(name, cmp.Or(top, ".")), "/")
		if !ok {
			dir = "."
		}
		if counts[dir]++; counts[dir] == 1 {
			dirs = append(dirs, dir)
		}
	}
	var all []string
	for _, dir := range dirs {
		if all = append(all, fmt.Sprintf("%s/ %d", path.Clean(dir), counts[dir])); len(all) == 60 {
			break
		}
	}
	return "[by directory: " + strings.Join(all, ", ") + "]\n"
}
