package redact

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf8"
)

// A run is what a text and a configured value have in common.
const (
	minRun       = 16 // characters of a run that is replaced
	minDifferent = 8  // different characters in it
	minHalf      = 12 // characters of each of two runs from different parts of a value
	halfDiffers  = 6  // different characters in each
	gram         = 8  // bytes that are looked up at once
	stride       = minHalf - gram + 1
	maxAlike     = 8 // occurrences of one gram that are tried; bounds the time
)

// fragments finds runs. It looks up every fifth gram of a text in the set of all
// grams of the values (each run of 12 bytes holds one) and extends a hit both ways.
type fragments struct {
	values []byte             // the folded pieces, each after a separator
	ends   []int32            // where the pieces of each value end in values, rising
	grams  map[uint64][]int32 // gram → where it is in values
	filter [1 << 10]uint64    // hashes of grams: most texts end here
}

// part is a run: view[from:to], equal to values[at:at+to-from] of the owner-th value.
type part struct{ from, to, at, owner int }

// newFragments returns nil if no value is long enough.
func newFragments(secrets []string) *fragments {
	f := &fragments{grams: map[uint64][]int32{}}
	longest := slices.Clone(secrets)
	slices.SortFunc(longest, func(a, b string) int { return len(b) - len(a) })
	for _, s := range longest {
		for _, piece := range pieces(s) {
			f.add(piece)
		}
		if end := int32(len(f.values)); len(f.ends) == 0 && end > 0 || len(f.ends) > 0 && end > f.ends[len(f.ends)-1] {
			f.ends = append(f.ends, end)
		}
	}
	if len(f.grams) == 0 {
		return nil
	}
	return f
}

func (f *fragments) add(piece []byte) {
	if utf8.RuneCount(piece) < minHalf || bytes.Contains(f.values, piece) {
		return
	}
	start := len(f.values) + 1
	f.values = append(append(f.values, separator), piece...)
	for i := start; i+gram <= len(f.values); i++ {
		g := binary.LittleEndian.Uint64(f.values[i:])
		if len(f.grams[g]) < maxAlike {
			f.grams[g] = append(f.grams[g], int32(i))
		}
		word, bit := slot(g)
		f.filter[word] |= bit
	}
}

func slot(g uint64) (word int, bit uint64) {
	h := g * 0x9e3779b97f4a7c15 >> 48
	return int(h >> 6), 1 << (h & 63)
}

// replace returns s without fragments of values, and whether there were any.
func (f *fragments) replace(s string) (string, bool) {
	if f == nil || len(s) < minHalf {
		return s, false
	}
	view := fold(s)
	found := f.secret(view, f.runs(view))
	if len(found) == 0 {
		return s, false
	}
	offsets := foldOffsets(s)
	var out strings.Builder
	copied := 0
	for _, r := range found {
		start, end := int(offsets[r.from]), int(offsets[r.to-1])
		_, size := utf8.DecodeRuneInString(s[end:])
		if start >= copied { // else it overlaps the one before, whose marker serves both
			out.WriteString(s[copied:start])
			out.WriteString(markerStart + kindSecret + "]")
		}
		copied = max(copied, end+size)
	}
	out.WriteString(s[copied:])
	return out.String(), true
}

// runs are all that are long enough for a half, in the order of the text.
func (f *fragments) runs(view []byte) (all []part) {
	for i := 0; i+gram <= len(view); {
		g := binary.LittleEndian.Uint64(view[i:])
		i += stride
		if word, bit := slot(g); f.filter[word]&bit == 0 {
			continue
		}
		if r := f.longest(view, i-stride, g); utf8.RuneCount(view[r.from:r.to]) >= minHalf {
			all = append(all, r)
			i = max(i, r.to-gram+1)
		}
	}
	return all
}

// longest is the longest run around the gram g at view[i:].
func (f *fragments) longest(view []byte, i int, g uint64) (best part) {
	for _, at := range f.grams[g] {
		r := part{from: i, to: i + gram, at: int(at)}
		for r.from > max(0, i-minRun) && f.values[r.at-1] != separator && view[r.from-1] == f.values[r.at-1] {
			r.from--
			r.at--
		}
		for r.to < len(view) && r.at+r.to-r.from < len(f.values) && view[r.to] != separator && view[r.to] == f.values[r.at+r.to-r.from] {
			r.to++
		}
		if r.to-r.from > best.to-best.from {
			best = r
		}
	}
	best.owner, _ = slices.BinarySearch(f.ends, int32(best.at+1))
	return best
}

// secret leaves the runs that are replaced.
func (f *fragments) secret(view []byte, all []part) (found []part) {
	first, last := make(map[int]int), make(map[int]int) // of each value: where its earliest run ends and its latest begins
	for _, r := range all {
		end := r.at + r.to - r.from
		if known, ok := first[r.owner]; !ok || end < known {
			first[r.owner] = end
		}
		last[r.owner] = max(last[r.owner], r.at)
	}
	for _, r := range all {
		text := view[r.from:r.to]
		other := first[r.owner] <= r.at || last[r.owner] >= r.at+r.to-r.from
		if utf8.RuneCount(text) >= minRun && differs(text, minDifferent) || other && differs(text, halfDiffers) {
			found = append(found, r)
		}
	}
	return found
}

// differs tells whether text has at least n different characters.
func differs(text []byte, n int) bool {
	seen := make(map[rune]bool, n)
	for _, r := range string(text) {
		if seen[r] = true; len(seen) >= n {
			return true
		}
	}
	return false
}
