package contexts

import (
	"bytes"
	"encoding/binary"
)

// part is a sorted part of the index: n entries that begin with what they are sorted by.
type part struct {
	at, n int64
	size  int64
	valid func(entry []byte) bool
}

const (
	seekBlock = 4 << 10 // bytes that are read at once
	guesses   = 4       // after them halves are taken, so that no content makes it slow
)

// seek gives the number of the first entry that is not less than want. UUIDs
// and hashes lie evenly, so where one is can be guessed: that takes some two or
// three reads for any number of contexts.
func (x *snapshot) seek(p part, want []byte) (int64, error) {
	block := make([]byte, seekBlock)
	most := seekBlock / p.size
	lo, hi := int64(0), p.n
	low, high := uint64(0), ^uint64(0) // what the entries around are about
	for try := 0; lo < hi; try++ {
		n := min(most, hi-lo)
		from := lo + (hi-lo-n)/2
		if try < guesses {
			from = lo + int64(share(binary.BigEndian.Uint64(want), low, high)*float64(hi-lo)) - n/2
			from = min(max(from, lo), hi-n)
		}
		b := block[:n*p.size]
		if err := x.at(b, p.at+from*p.size); err != nil {
			return 0, err
		}
		in, err := p.within(b, want)
		if err != nil {
			return 0, err
		}
		switch {
		case in == 0 && from > lo:
			hi, high = from, binary.BigEndian.Uint64(b)
		case in == n && from+n < hi:
			lo, low = from+n, binary.BigEndian.Uint64(b[(n-1)*p.size:])
		default:
			return from + in, nil
		}
	}
	return lo, nil
}

// share tells where between two values a third one is, from 0 to 1.
func share(v, low, high uint64) float64 {
	if v <= low || high <= low {
		return 0
	}
	return min(float64(v-low)/float64(high-low), 1)
}

// within is the number of entries of a block that are less than want. Those
// that it is decided by are checked.
func (p *part) within(block, want []byte) (int64, error) {
	lo, hi := int64(0), int64(len(block))/p.size
	for lo < hi {
		mid := (lo + hi) / 2
		e := block[mid*p.size:][:p.size]
		if !p.valid(e) {
			return 0, errIndex
		}
		if bytes.Compare(e[:len(want)], want) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, nil
}
