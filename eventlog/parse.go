package eventlog

import (
	"encoding/binary"
	"math"

	"agent/internal/crc32c"
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

	timeLen  = len(TimeLayout)
	timeSpan = len(keyTime) + timeLen + len(keyType)
	prevLen  = len(keyPrev) + 16 + len(`"`)
	crcLen   = len(keyCRC) + 8 + len(`"}`)
	tailLen  = prevLen + crcLen
	minLine  = len(keySeq+"1"+keyTime+TimeLayout+keyType+"a"+keyV+"1"+keyCause+"0"+keyData+"{}") + tailLen
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
	return nil
}

// parseTail reads prev and crc and verifies the checksum.
func parseTail(r *Record, line []byte) error {
	covered := line[:len(line)-crcLen]
	sum := line[len(line)-crcLen:]
	r.CRC = crc32c.Checksum(covered)
	if binary.LittleEndian.Uint64(sum[len(keyCRC):]) != hex8(r.CRC) {
		return errCRC
	}
	prev := covered[len(covered)-prevLen:]
	if string(sum[:len(keyCRC)]) != keyCRC || string(sum[crcLen-2:]) != `"}` ||
		string(prev[:len(keyPrev)]) != keyPrev || prev[prevLen-1] != '"' {
		return errEnvelope
	}
	hi, ok1 := unhex8(binary.LittleEndian.Uint64(prev[len(keyPrev):]))
	lo, ok2 := unhex8(binary.LittleEndian.Uint64(prev[len(keyPrev)+8:]))
	if !ok1 || !ok2 {
		return errEnvelope
	}
	r.Prev = uint64(hi)<<32 | uint64(lo)
	return nil
}

// parseHead reads everything before data and returns where data begins. It is
// one function, and works on positions, because it is the inner loop of every
// reader. The tail is known to be there and longer than any fixed part, so no
// position runs out of the line.
func parseHead(r *Record, b []byte) (int, error) {
	var ok bool
	if string(b[:len(keySeq)]) != keySeq {
		return 0, errEnvelope
	}
	at := len(keySeq)
	if r.Seq, at, ok = number(b, at); !ok || r.Seq == 0 {
		return 0, errNumber
	}
	if len(b)-at < timeSpan {
		return 0, errEnvelope
	}
	span := (*[timeSpan]byte)(b[at:])
	if string(span[:len(keyTime)]) != keyTime || string(span[len(keyTime)+timeLen:]) != keyType {
		return 0, errEnvelope
	}
	stamp := (*[timeLen]byte)(span[len(keyTime):])
	if !validTime(stamp) {
		return 0, errTime
	}
	r.Time = stamp[:]
	at += timeSpan
	n := typeLen(b[at:])
	if r.Type = b[at : at+n : at+n]; n == 0 {
		return 0, errType
	}
	at += n
	if at+len(keyV) >= len(b) || string(b[at:at+len(keyV)]) != keyV {
		return 0, errType
	}
	var v uint64
	if v, at, ok = number(b, at+len(keyV)); !ok || v-1 >= math.MaxInt32 {
		return 0, errNumber
	}
	r.V = int(v)
	if at+len(keyCause) >= len(b) || string(b[at:at+len(keyCause)]) != keyCause {
		return 0, errEnvelope
	}
	if r.Cause, at, ok = number(b, at+len(keyCause)); !ok || r.Cause >= r.Seq {
		return 0, errNumber
	}
	if at+len(keyData) >= len(b) || string(b[at:at+len(keyData)]) != keyData {
		return 0, errEnvelope
	}
	return at + len(keyData), nil
}

// maxNumber is the largest number in an envelope: 18 digits, so that reading
// them cannot overflow.
const maxNumber = 1e18 - 1

// number reads a decimal without sign or leading zeros and returns where it ends.
func number(b []byte, from int) (n uint64, end int, ok bool) {
	end = from
	for end < len(b) && b[end]-'0' <= 9 {
		n = n*10 + uint64(b[end]-'0')
		end++
	}
	return n, end, end-from == 1 || uint(end-from-1) < 18 && b[from] != '0'
}

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
