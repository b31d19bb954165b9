package snapshot

import "bytes"

// maxEdits bounds the search for the shortest edit. Beyond it lines count as changed that
// occur more often on one side.
const maxEdits = 2000

// binaryStart is how many bytes are looked at to tell text from what is none, as git does.
const binaryStart = 8000

// Lines counts the lines that were added and removed between two contents.
func Lines(before, now []byte) (added, removed int, binary bool) {
	for _, data := range [][]byte{before, now} {
		if bytes.IndexByte(data[:min(len(data), binaryStart)], 0) >= 0 {
			return 0, 0, true
		}
	}
	ids := map[string]int{}
	a, b := numbered(before, ids), numbered(now, ids)
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	edits := shortest(a, b)
	if edits < 0 {
		return unordered(a, b)
	}
	// edits = added + removed, and the lengths differ by added - removed
	added = (edits + len(b) - len(a)) / 2
	return added, edits - added, false
}

func numbered(data []byte, ids map[string]int) (lines []int) {
	for line := range bytes.Lines(data) {
		id, known := ids[string(line)]
		if !known {
			id = len(ids)
			ids[string(line)] = id
		}
		lines = append(lines, id)
	}
	return lines
}

// shortest is the length of the shortest edit (E. Myers, An O(ND) Difference Algorithm),
// -1 if it is beyond the bound.
func shortest(a, b []int) int {
	if len(a) == 0 || len(b) == 0 {
		return len(a) + len(b)
	}
	most := min(len(a)+len(b), maxEdits)
	far := make([]int, 2*most+3)
	mid := most + 1
	for edits := 0; edits <= most; edits++ {
		for k := -edits; k <= edits; k += 2 {
			x := far[mid+k-1] + 1
			if k == -edits || k != edits && far[mid+k-1] < far[mid+k+1] {
				x = far[mid+k+1]
			}
			y := x - k
			for x < len(a) && y < len(b) && x >= 0 && y >= 0 && a[x] == b[y] {
				x, y = x+1, y+1
			}
			far[mid+k] = x
			if x >= len(a) && y >= len(b) {
				return edits
			}
		}
	}
	return -1
}

func unordered(a, b []int) (added, removed int, binary bool) {
	count := map[int]int{}
	for _, id := range b {
		count[id]++
	}
	for _, id := range a {
		count[id]--
	}
	for _, n := range count {
		added, removed = added+max(n, 0), removed+max(-n, 0)
	}
	return added, removed, false
}
