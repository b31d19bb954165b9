//go:build !amd64

package crc32c

import "hash/crc32"

// Checksum returns the CRC-32C of p. It does not allocate.
func Checksum(p []byte) uint32 { return crc32.Checksum(p, table) }
