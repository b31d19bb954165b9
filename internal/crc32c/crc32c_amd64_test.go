package crc32c

import (
	"hash/crc32"
	"math/big"
	"math/bits"
	"testing"
)

func TestWithoutFolding(t *testing.T) {
	defer func(was bool) { folds = was }(folds)
	folds = false
	checkLengths(t)
}

// TestWeights computes the powers of x by dividing polynomials on paper:
// numbers of any length, the highest power in the highest bit.
func TestWeights(t *testing.T) {
	p := new(big.Int).SetUint64(1<<32 | uint64(bits.Reverse32(crc32.Castagnoli)))
	for i, w := range weights {
		// The weight lacks one x: see there.
		got := new(big.Int).SetUint64(bits.Reverse64(w))
		got = mod(got.Lsh(got, 1), p)
		want := mod(new(big.Int).Lsh(big.NewInt(1), uint(64*(len(weights)-1-i))), p)
		if got.Cmp(want) != 0 {
			t.Errorf("weight %d is %x, want %x", i, got, want)
		}
	}
}

func mod(n, p *big.Int) *big.Int {
	for d := n.BitLen() - p.BitLen(); d >= 0; d = n.BitLen() - p.BitLen() {
		n = n.Xor(n, new(big.Int).Lsh(p, uint(d)))
	}
	return n
}

func TestStarts(t *testing.T) {
	for n, start := range starts {
		// Update inverts the register before and after.
		if got := ^crc32.Update(^start, table, make([]byte, n)); got != ^uint32(0) {
			t.Errorf("after %d zeros the register is %08x", n, got)
		}
	}
}

func TestTimesOver(t *testing.T) {
	for c := uint32(1); c != 0; c <<= 1 {
		for _, c := range []uint32{c, ^c, c | 1, c | 1<<31} {
			if got := overX(timesX(c)); got != c {
				t.Errorf("%08x becomes %08x", c, got)
			}
		}
	}
}
