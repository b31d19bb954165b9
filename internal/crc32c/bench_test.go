package crc32c

import (
	"fmt"
	"hash/crc32"
	"testing"
)

var sink uint32

func BenchmarkChecksum(b *testing.B) {
	for _, n := range []int{48, 64, 256, 1000, 4000} {
		p := noise(n)
		b.Run(fmt.Sprintf("ours-%d", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				sink += Checksum(p)
			}
		})
		b.Run(fmt.Sprintf("standard-%d", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				sink += crc32.Checksum(p, table)
			}
		})
	}
}
