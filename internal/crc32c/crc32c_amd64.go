package crc32c

import (
	"hash/crc32"

	"golang.org/x/sys/cpu"
)

const (
	stride = 256 // bytes
	least  = 64  // bytes: so wide are the reads of fold, and hash/crc32 is as quick below
)

// folds tells whether the processor and the system can run fold.
var folds = cpu.X86.HasSSE42 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW &&
	cpu.X86.HasAVX512VBMI2 && cpu.X86.HasAVX512VPCLMULQDQ

// Checksum returns the CRC-32C of p. It does not allocate.
func Checksum(p []byte) uint32 {
	if !folds || len(p) < least {
		return crc32.Checksum(p, table)
	}
	pad := -len(p) & (stride - 1)
	return ^fold(&p[0], len(p), pad, starts[pad])
}

// fold returns the register of a CRC that held start, then saw pad zero bytes
// and the n bytes at p. n is at least 64, and pad+n a multiple of 256.
//
//go:noescape
func fold(p *byte, n, pad int, start uint32) uint32

// The tables of fold. Polynomials are reflected, as they are in the message:
// the highest bit of a number is the coefficient of x^0.
var (
	// weights[i] moves a word of 64 bits by 33-i words towards the end: it is
	// x^(64·(33-i)-1) mod P. The -1 is there because the product of two
	// reflected words has its x^0 in bit 126, not 127: one x comes by itself.
	// The first two move each pair of words to the next stride. From the third
	// on there is one weight for each word of the last stride.
	weights = func() (w [2 + stride/8]uint64) {
		c := overX(1 << 31)
		for i := len(w) - 1; i >= 0; i-- {
			w[i] = uint64(c) << 32
			for range 64 {
				c = timesX(c)
			}
		}
		return w
	}()

	// starts[i] is the register that i zero bytes turn into the 32 ones that
	// a CRC begins with.
	starts = func() (s [stride]uint32) {
		c := ^uint32(0)
		for i := range s {
			s[i] = c
			for range 8 {
				c = overX(c)
			}
		}
		return s
	}()

	// positions[i] is i.
	positions = func() (p [stride]byte) {
		for i := range p {
			p[i] = byte(i)
		}
		return p
	}()
)

// timesX returns c·x mod P.
func timesX(c uint32) uint32 { return c>>1 ^ -(c&1)&crc32.Castagnoli }

// overX returns c/x mod P. P has a 1 at its end, so either c or c+P can be
// divided.
func overX(c uint32) uint32 { return (c^-(c>>31)&crc32.Castagnoli)<<1 | c>>31 }
