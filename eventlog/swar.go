package eventlog

import "encoding/binary"

// The functions here work on eight bytes at once, the first byte lowest: the
// reader spends most of its time on the fixed-width fields otherwise.

const (
	ones = 0x0101010101010101
	low4 = 0x0f * ones
	top4 = 0xf0 * ones
)

// hex8 returns the eight lower-case digits of n as they stand in a line.
func hex8(n uint32) uint64 {
	// Spread the nibbles so that the highest comes first in memory.
	x := uint64(n)
	x = (x>>16 | x<<32) & 0x0000ffff0000ffff
	x = (x>>8 | x<<16) & 0x00ff00ff00ff00ff
	x = (x>>4 | x<<8) & low4
	return digits8(x)
}

// digits8 turns eight values of 0 to 15 into lower-case hex digits.
func digits8(x uint64) uint64 {
	letters := (x + 0x76*ones) >> 7 & ones // 1 where the value is over 9
	return x + 0x30*ones + letters*0x27
}

// unhex8 reads eight lower-case hex digits.
func unhex8(x uint64) (uint32, bool) {
	v := x&low4 + (x>>6&ones)*9
	if v&top4 != 0 || digits8(v) != x {
		return 0, false
	}
	v = (v<<4 | v>>8) & 0x00ff00ff00ff00ff
	v = (v<<8 | v>>16) & 0x0000ffff0000ffff
	return uint32(v<<16 | v>>32), true
}

// A time in TimeLayout has no byte below the one of timeLow and none above the
// one of timeTop. That leaves months of 0 and 13 to 19 and the like.
const (
	timeLow = "0000-00-00T00:00:00.000000Z"
	timeTop = "9999-19-39T29:59:59.999999Z"
)

// timePiece gives eight bytes of timeLow and, for each of them, what can be
// added to a byte's distance from it before the top bit says that it is too far.
func timePiece(from int) (low, room uint64) {
	low = binary.LittleEndian.Uint64([]byte(timeLow[from:]))
	top := binary.LittleEndian.Uint64([]byte(timeTop[from:]))
	return low, 0x7f*ones - (top - low)
}

var (
	low0, room0 = timePiece(0)
	low1, room1 = timePiece(8)
	low2, room2 = timePiece(16)
	low3, room3 = timePiece(19)
)

// validTime tells whether b is a time in TimeLayout. Fields are in their
// ranges, but a day is not compared with its month.
func validTime(b *[timeLen]byte) bool {
	// Digits become their values, everything else 0. XOR is a distance because
	// the lowest digit has no bit in common with the values.
	x0 := binary.LittleEndian.Uint64(b[:]) ^ low0
	x1 := binary.LittleEndian.Uint64(b[8:]) ^ low1
	x2 := binary.LittleEndian.Uint64(b[16:]) ^ low2
	x3 := binary.LittleEndian.Uint64(b[19:]) ^ low3
	far := (x0 + room0) | x0 | (x1 + room1) | x1 | (x2 + room2) | x2 | (x3 + room3) | x3
	return far&(0x80*ones) == 0 && pair(x0>>40)-1 < 12 && pair(x1)-1 < 31 && pair(x1>>24) < 24
}

// pair makes a number of the two lowest bytes of x, which are digits.
func pair(x uint64) uint64 { return x&15*10 + x>>8&15 }

// two reads two digits that are known to be digits.
func two(b []byte) uint { return uint(b[0]-'0')*10 + uint(b[1]-'0') }
