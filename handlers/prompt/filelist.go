package prompt

import (
	"slices"
	"strconv"
	"strings"

	"agent/eventlog/event"
	"agent/internal/sanitize"
)

const (
	maxListed    = 300      // lines of a list
	maxListBytes = 16 << 10 // of a list
	maxTried     = 16       // levels of directories that are tried one by one
)

// FileList makes the list of a repository's files that the configuration has
// room for: sorted, one entry a line, with as many levels of directories as fit.
// A directory whose files are not listed ends in a slash. more counts what is
// not even covered by such a directory. paths are as the file system has them.
func FileList(c *event.ConfigPinned, paths []string) (list []string, more int) {
	quoted := make([]string, len(paths))
	for i, p := range paths {
		quoted[i] = quotePath(p)
	}
	slices.Sort(quoted)
	return fitFiles(slices.Compact(quoted), c.Project.MaxDepth, projectRoom(c)/2)
}

// fitFiles looks into as many levels of directories as have room, at most depth
// if that is not negative. Where not even the root has room, its rest is counted.
func fitFiles(paths []string, depth, room int) (list []string, more int) {
	if list = upTo(paths, depth); listFits(list, room) {
		return list, 0
	}
	list = upTo(paths, 0)
	for d := 1; d < maxTried && listFits(list, room); d++ {
		deeper := upTo(paths, d)
		if !listFits(deeper, room) {
			break
		}
		list = deeper
	}
	all := len(list)
	for len(list) > 0 && !listFits(list, room) {
		list = list[:min(len(list)*3/4, maxListed)]
	}
	return list, all - len(list)
}

func listFits(list []string, room int) bool {
	if len(list) > maxListed {
		return false
	}
	text := strings.Join(list, "\n")
	return len(text) <= maxListBytes && weigh(text) <= room
}

// upTo puts a directory in the place of everything that lies deeper than
// depth. Equal entries are neighbours, because the paths are sorted.
func upTo(paths []string, depth int) []string {
	if depth < 0 {
		return paths
	}
	list := make([]string, 0, min(len(paths), maxListed))
	for _, p := range paths {
		end := 0
		for level := 0; level <= depth; level++ {
			slash := strings.IndexByte(p[end:], '/')
			if slash < 0 {
				end = len(p)
				break
			}
			end += slash + 1
		}
		if p = p[:end]; len(list) == 0 || list[len(list)-1] != p {
			list = append(list, p)
		}
	}
	return list
}

// quotePath quotes those parts of a path that hold what a reader would not see
// as it is.
func quotePath(path string) string {
	if !strange(path) {
		return path
	}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if strange(part) {
			parts[i] = strconv.QuoteToASCII(part)
		}
	}
	return strings.Join(parts, "/")
}

func strange(s string) bool {
	return sanitize.Terminal(s) != s || strings.ContainsAny(s, "\n\t\"\u200d\ufe0f") || strings.TrimSpace(s) != s
}
