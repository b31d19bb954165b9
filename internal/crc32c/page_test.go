//go:build unix

package crc32c

import (
	"syscall"
	"testing"
)

// TestReadsNothingElse places inputs at both ends of memory whose neighbours
// must not be touched.
func TestReadsNothingElse(t *testing.T) {
	page := syscall.Getpagesize()
	all, err := syscall.Mmap(-1, 0, 4*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(all)
	for _, guard := range [][]byte{all[:page], all[3*page:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	inner := all[page : 3*page]
	copy(inner, noise(len(inner)))
	for n := range 1500 {
		check(t, inner[:n])
		check(t, inner[len(inner)-n:])
	}
}
