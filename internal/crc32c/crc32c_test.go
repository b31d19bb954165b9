package crc32c

import (
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

// noise is the same at every call.
func noise(n int) []byte {
	p := make([]byte, n)
	for r, i := rand.New(rand.NewPCG(1, 2)), 0; i < n; i++ {
		p[i] = byte(r.Uint32())
	}
	return p
}

func check(t *testing.T, p []byte) {
	t.Helper()
	if got, want := Checksum(p), crc32.Checksum(p, table); got != want {
		t.Fatalf("%d bytes: %08x, want %08x", len(p), got, want)
	}
}

func checkLengths(t *testing.T) {
	const longest, alignments = 4096, 64
	p := noise(longest + alignments)
	for from := range alignments {
		for n := range longest + 1 {
			check(t, p[from:from+n])
		}
	}
	check(t, noise(1<<20+77))
	check(t, make([]byte, 1000))
}

func TestLengthsAndAlignments(t *testing.T) { checkLengths(t) }

// TestKnown has the examples of RFC 3720, appendix B.4, and the customary one.
func TestKnown(t *testing.T) {
	up := make([]byte, 32)
	for i := range up {
		up[i] = byte(i)
	}
	for _, c := range []struct {
		p    []byte
		want uint32
	}{
		{nil, 0},
		{[]byte("123456789"), 0xe3069283},
		{make([]byte, 32), 0x8a9136aa},
		{up, 0x46dd794e},
	} {
		if got := Checksum(c.p); got != c.want {
			t.Errorf("%x: %08x, want %08x", c.p, got, c.want)
		}
	}
}

func TestAllocatesNothing(t *testing.T) {
	p := noise(1000)
	if n := testing.AllocsPerRun(10, func() { Checksum(p) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzChecksum(f *testing.F) {
	for _, n := range []int{0, 63, 64, 255, 256, 257, 1000} {
		f.Add(noise(n), uint16(n))
	}
	f.Fuzz(func(t *testing.T, p []byte, repeat uint16) {
		check(t, p)
		// The fuzzer prefers short inputs, folding has more to do in long ones.
		long := p
		for len(p) > 0 && len(long) < int(repeat) {
			long = append(long, p...)
		}
		check(t, long)
	})
}
