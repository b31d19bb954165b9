// Package crc32c computes the checksum of log lines: CRC-32 with Castagnoli's
// polynomial P, the same number as hash/crc32 gives for every input.
//
// The standard library uses the CRC32 instruction, eight bytes a cycle at
// best and less on the few kilobytes of a line. On amd64 with AVX-512 and
// VPCLMULQDQ, [Checksum] works by folding, which multiplies 64 bytes at once.
// Short inputs, other processors and other architectures go to hash/crc32.
//
// # Folding
//
// A message is a polynomial over GF(2): its first bit is the coefficient of
// the highest power of x. Its CRC is its remainder modulo P. (Two details: 32
// zero bits are appended, and the first and the last 32 bits are inverted.)
// Anything may therefore be replaced by something else of the same remainder,
// and an XOR is a sum. So a piece that stands d bits before another one may be
// taken away, and the piece times x^d mod P added to the other one instead.
// A product without carries of 64 by 32 bits has less than 128 bits: it fits.
//
// Four registers of 64 bytes hold a stride of 256 bytes. For each further
// stride, every word of 64 bits is multiplied to where the next stride stands,
// which is added. At the end every word of the last stride is multiplied to
// the last 16 bytes, and two CRC32 instructions take the remainder of those.
//
// The message is cut into strides from its end. What is missing before its
// beginning counts as zeros, which change nothing, and is not read.
package crc32c

import "hash/crc32"

var table = crc32.MakeTable(crc32.Castagnoli)
