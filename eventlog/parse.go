package eventlog

import (
	"hash/crc32"
	"math"
)

// The fixed parts of a line. Everything after data has a fixed width, so data
// needs no scanning: it is what lies between head and tail.
const (
	keySeq   = `{"seq":`
	keyTime  = `,"time":"`
	keyType  = `","type":"`
	keyV     = `","v":`
	keyCause = `,"cause":`
	keyData  = `,"data":`
	keyPrev  = `,"prev":"`
	keyCRC   = `,"crc":"`

	timeLen = len(TimeLayout)
	prevLen = len(keyPrev) + 16 + len(`"`)
	crcLen  = len(keyCRC) + 8 + len(`"}`)
	tailLen = prevLen + crcLen
	minLine = len(keySeq+"1"+keyTime+TimeLayout+keyType+"a"+keyV+"1"+keyCause+"0"+keyData+"{}") + tailLen
)

// Why a line is not a record. They are values so that parsing allocates nothing.
const (
	errShort    = lineError("line is too short")
	errLong     = lineError("line is longer than allowed")
	errCRC      = lineError("checksum does not match")
	errEnvelope = lineError("envelope is not in the fixed form")
	errTime     = lineError("time is not in the fixed form")
	errType     = lineError("type has other characters than a-z 0-9 . _")
	errNumber   = lineError("number is not a canonical unsigned integer")
	errObject   = lineError("data is not an object")
)

type lineError string

func (e lineError) Error() string { return string(e) }

// Parse reads one line without its newline: it checks the CRC and the exact
// form of the envelope (order, case and set of keys, no spaces, canonical
// numbers). It does not look into data, see [CheckData], and knows nothing of
// the line's neighbours. The record's slices point into line. It does not allocate.
func Parse(line []byte) (Record, error) {
	var r Record
	err := parse(&r, line)
	return r, err
}

func parse(r *Record, line []byte) error {
	if len(line) < minLine {
		return errShort
	}
	if len(line) >= MaxLine {
		return errLong
	}
	if err := parseTail(r, line); err != nil {
		return err
	}
	at, err := parseHead(r, line)
	if err != nil {
		return err
	}
	end := len(line) - tailLen
	if end-at < 2 || line[at] != '{' || line[end-1] != '}' {
		return errObject
	}
	r.Data, r.Line = line[at:end:end], line
	r.hashed, r.checked = false, false
	return nil
}

// parseTail reads prev and crc and verifies the checksum.
func parseTail(r *Record, line []byte) error {
	covered := line[:len(line)-crcLen]
	sum := line[len(line)-crcLen:]
	r.CRC = crc32.Checksum(covered, castagnoli)
	if got, ok := unhex(sum[len(keyCRC) : len(keyCRC)+8]); !ok || got != uint64(r.CRC) {
		return errCRC
	}
	prev := covered[len(covered)-prevLen:]
	if string(sum[:len(keyCRC)]) != keyCRC || string(sum[crcLen-2:]) != `"}` ||
		string(prev[:len(keyPrev)]) != keyPrev || prev[prevLen-1] != '"' {
		return errEnvelope
	}
	var ok bool
	if r.Prev, ok = unhex(prev[len(keyPrev) : prevLen-1]); !ok {
		return errEnvelope
	}
	return nil
}

// parseHead reads everything before data and returns where data begins.
func parseHead(r *Record, line []byte) (int, error) {
	c := cursor{rest: line}
	if !c.literal(keySeq) {
		return 0, errEnvelope
	}
	var ok bool
	if r.Seq, ok = c.number(); !ok || r.Seq == 0 {
		return 0, errNumber
	}
	if !c.literal(keyTime) {
		return 0, errEnvelope
	}
	if r.Time = c.take(timeLen); !validTime(r.Time) {
		return 0, errTime
	}
	if !c.literal(keyType) {
		return 0, errEnvelope
	}
	if r.Type = c.take(typeLen(c.rest)); len(r.Type) == 0 || !c.literal(keyV) {
		return 0, errType
	}
	v, ok := c.number()
	if !ok || v == 0 || v > math.MaxInt32 {
		return 0, errNumber
	}
	r.V = int(v)
	if !c.literal(keyCause) {
		return 0, errEnvelope
	}
	if r.Cause, ok = c.number(); !ok || r.Cause >= r.Seq {
		return 0, errNumber
	}
	if !c.literal(keyData) {
		return 0, errEnvelope
	}
	return len(line) - len(c.rest), nil
}

// cursor walks over the head of a line. A method consumes what it returns.
type cursor struct{ rest []byte }

func (c *cursor) literal(s string) bool {
	if len(c.rest) < len(s) || string(c.rest[:len(s)]) != s {
		return false
	}
	c.rest = c.rest[len(s):]
	return true
}

// take returns the next n bytes, or fewer at the end of the line.
func (c *cursor) take(n int) []byte {
	n = min(n, len(c.rest))
	b := c.rest[:n:n]
	c.rest = c.rest[n:]
	return b
}

// maxNumber is the largest number in an envelope: 18 digits, so that reading
// them cannot overflow.
const maxNumber = 1e18 - 1

// number reads a decimal without sign or leading zeros.
func (c *cursor) number() (n uint64, ok bool) {
	digits := 0
	for digits < len(c.rest) && isDigit(c.rest[digits]) {
		n = n*10 + uint64(c.rest[digits]-'0')
		digits++
	}
	ok = digits == 1 || digits > 1 && digits <= 18 && c.rest[0] != '0'
	c.rest = c.rest[digits:]
	return n, ok
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// typeLen counts the leading bytes that a type may consist of.
func typeLen(b []byte) int {
	for i, c := range b {
		if !typeByte[c] {
			return i
		}
	}
	return len(b)
}

var typeByte = func() (t [256]bool) {
	for _, c := range "abcdefghijklmnopqrstuvwxyz0123456789._" {
		t[c] = true
	}
	return t
}()
