package eventlog

import "hash/crc32"

// castagnoli is the polynomial of the checksums.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const hexDigits = "0123456789abcdef"

// appendHex appends the lowest digits of n as lower-case hex.
func appendHex(b []byte, n uint64, digits int) []byte {
	for i := digits - 1; i >= 0; i-- {
		b = append(b, hexDigits[n>>(4*i)&15])
	}
	return b
}

// hexValue gives the value of a lower-case hex digit, and 16 for any other byte.
var hexValue = func() (t [256]byte) {
	for i := range t {
		t[i] = 16
	}
	for i, c := range []byte(hexDigits) {
		t[c] = byte(i)
	}
	return t
}()

// unhex reads at most 16 lower-case hex digits.
func unhex(digits []byte) (n uint64, ok bool) {
	all := byte(0)
	for _, c := range digits {
		v := hexValue[c]
		all |= v
		n = n<<4 | uint64(v)
	}
	return n, all < 16
}

// validTime tells whether b is a time in TimeLayout. Fields are in their
// ranges, but a day is not compared with its month.
func validTime(b []byte) bool {
	if len(b) != timeLen || b[4] != '-' || b[7] != '-' || b[10] != 'T' || b[13] != ':' || b[16] != ':' || b[19] != '.' || b[26] != 'Z' {
		return false
	}
	month, day := decimal(b[5:7]), decimal(b[8:10])
	return decimal(b[:4]) <= 9999 && 1 <= month && month <= 12 && 1 <= day && day <= 31 &&
		decimal(b[11:13]) <= 23 && decimal(b[14:16]) <= 59 && decimal(b[17:19]) <= 59 && decimal(b[20:26]) <= 999_999
}

// decimal reads at most six digits. Anything else gives a larger number than six digits can.
func decimal(digits []byte) (n int) {
	for _, c := range digits {
		if !isDigit(c) {
			return 1_000_000
		}
		n = n*10 + int(c-'0')
	}
	return n
}
