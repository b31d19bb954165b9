package prompt

import (
	"strings"
)

const (
	maxListed    = 300      // lines of a list
	maxListBytes = 16 << 10 // of a list
	maxTried     = 16       // levels of directories that are tried one by one
)

// fitFiles looks into as many levels of directories as have room. A directory whose
// files are not listed ends in a slash. Where not even the root has room, its rest is counted.
func fitFiles(paths []string, room int) (list []string, more int) {
	if listFits(paths, room) {
		return paths, 0
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
