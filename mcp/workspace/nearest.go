package workspace

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	maxNearest  = 20  // lines of the closest text that an error shows
	maxDiffers  = 160 // bytes shown of a line that differs
	leastShared = 3   // pairs of letters that a line must share to be close
)

// notFound says that a text is not in a file, and shows what comes closest.
func notFound(path, text, old, new string) error {
	why := fmt.Sprintf("old_text is not in %q", path)
	if found := exact(text, new); len(found) == 1 && strings.TrimSpace(new) != "" {
		return fmt.Errorf("%s, but new_text is, at line %d: the edit seems to be made already", why, found[0].line)
	}
	lines, want := strings.Split(strings.TrimSuffix(text, "\n"), "\n"), strings.Split(strings.TrimSuffix(old, "\n"), "\n")
	at, ok := nearest(lines, want)
	if !ok {
		return fmt.Errorf("%s, nor is anything like it", why)
	}
	return fmt.Errorf("%s. %s", why, closest(lines, want, at))
}

// closest shows the lines of a file that a text comes closest to, and the first difference.
func closest(lines, want []string, at int) string {
	end := min(at+len(want), len(lines))
	shownTo := min(end, at+maxNearest)
	var b strings.Builder
	fmt.Fprintf(&b, "The closest text is lines %d to %d:\n", at+1, end)
	for i := at; i < shownTo; i++ {
		fmt.Fprintf(&b, "%d\t%s\n", i+1, shorten([]byte(trimReturn(lines[i]))))
	}
	if shownTo < end {
		fmt.Fprintf(&b, "[%d more lines]\n", end-shownTo)
	}
	for i, line := range want {
		switch {
		case at+i >= len(lines):
			fmt.Fprintf(&b, "The file ends there, but old_text goes on with %s", quoted(line, 0))
			return b.String()
		case trimReturn(line) != trimReturn(lines[at+i]):
			b.WriteString(difference(at+i+1, trimReturn(lines[at+i]), trimReturn(line)))
			return b.String()
		}
	}
	b.WriteString("Its lines are there, but not as a whole line each")
	return b.String()
}

// difference says how a line of the file and one of old_text differ.
func difference(number int, have, want string) string {
	from := 0
	for from < min(len(have), len(want)) && have[from] == want[from] {
		from++
	}
	for from > 0 && (from < len(have) && !utf8.RuneStart(have[from]) || from < len(want) && !utf8.RuneStart(want[from])) {
		from--
	}
	kind := ""
	if strings.Join(strings.Fields(have), " ") == strings.Join(strings.Fields(want), " ") {
		kind = " in white space"
	}
	return fmt.Sprintf("Line %d differs%s from character %d on: the file has %s, old_text has %s",
		number, kind, utf8.RuneCountInString(have[:from])+1, quoted(have, from), quoted(want, from))
}

// quoted is a line around a place.
func quoted(line string, at int) string {
	from := max(0, at-maxDiffers/4)
	to := min(len(line), at+maxDiffers)
	return fmt.Sprintf("%q", strings.ToValidUTF8(line[from:to], ""))
}

// nearest finds the first line of the stretch that has most lines in common with
// want, white space aside; if none has any, the line that is most like want's longest.
func nearest(lines, want []string) (at int, ok bool) {
	wanted := make(map[string][]int, len(want))
	for j, line := range want {
		if key := folded(line); key != "" {
			wanted[key] = append(wanted[key], j)
		}
	}
	votes, best := map[int]int{}, 0
	for i, line := range lines {
		key := folded(line)
		for _, j := range wanted[key] {
			if start := i - j; start >= 0 {
				votes[start] += len(key)
				if v := votes[start]; v > best || v == best && start < at {
					best, at = v, start
				}
			}
		}
	}
	if best > 0 {
		return at, true
	}
	return alike(lines, want)
}

func folded(line string) string { return strings.Join(strings.Fields(line), " ") }

func alike(lines, want []string) (at int, ok bool) {
	longest := 0
	for j := range want {
		if len(folded(want[j])) > len(folded(want[longest])) {
			longest = j
		}
	}
	pairs := pairsOf(folded(want[longest]))
	best := 0.0
	for i, line := range lines {
		key := folded(line)
		if len(key) > 4*len(want[longest])+40 {
			continue
		}
		have, shared := pairsOf(key), 0
		for pair := range have {
			if pairs[pair] {
				shared++
			}
		}
		score := 2 * float64(shared) / float64(len(have)+len(pairs)+1)
		if shared >= leastShared && score > best {
			best, at = score, max(i-longest, 0)
		}
	}
	return at, best > 0.3
}

func pairsOf(text string) map[string]bool {
	pairs := make(map[string]bool, len(text))
	for i := range len(text) - 1 {
		pairs[text[i:i+2]] = true
	}
	return pairs
}
