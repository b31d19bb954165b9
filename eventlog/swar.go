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

// digits marks the bytes of an eight-byte piece of TimeLayout that are digits.
func timeMask(layout string) (mask, fixed uint64) {
	for i := range 8 {
		if c := layout[i]; c >= '0' && c <= '9' {
			mask |= 0xff << (8 * i)
		} else {
			fixed |= uint64(c) << (8 * i)
		}
	}
	return mask, fixed
}

var (
	mask0, fixed0 = timeMask(TimeLayout[0:8])
	mask1, fixed1 = timeMask(TimeLayout[8:16])
	mask2, fixed2 = timeMask(TimeLayout[16:24])
	mask3, fixed3 = timeMask(TimeLayout[19:27])
)

// validTime tells whether b starts with a time in TimeLayout. Fields are in
// their ranges, but a day is not compared with its month.
func validTime(b []byte) bool {
	_ = b[timeLen-1]
	return timePiece(b, mask0, fixed0) && timePiece(b[8:], mask1, fixed1) &&
		timePiece(b[16:], mask2, fixed2) && timePiece(b[19:], mask3, fixed3) &&
		two(b[5:])-1 < 12 && two(b[8:])-1 < 31 && two(b[11:]) < 24 && two(b[14:]) < 60 && two(b[17:]) < 60
}

func timePiece(b []byte, mask, fixed uint64) bool {
	x := binary.LittleEndian.Uint64(b)
	digits := x & mask
	return x&^mask == fixed && digits&top4 == 0x30*ones&mask && (digits+0x06*ones&mask)&top4 == 0x30*ones&mask
}

// two reads two digits that are known to be digits.
func two(b []byte) uint { return uint(b[0]-'0')*10 + uint(b[1]-'0') }
