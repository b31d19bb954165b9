package eventlog

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/bits"
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

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

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
	rest, err := parseHead(r, line[:len(line)-tailLen])
	if err != nil {
		return err
	}
	if len(rest) < 2 || rest[0] != '{' || rest[len(rest)-1] != '}' {
		return errObject
	}
	r.Data, r.Line = rest, line
	return nil
}

// parseTail reads prev and crc and verifies the checksum.
func parseTail(r *Record, line []byte) error {
	covered := line[:len(line)-crcLen]
	sum := line[len(line)-crcLen:]
	r.CRC = crc32.Update(0, castagnoli, covered)
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

// parseHead reads everything before data and returns what follows.
func parseHead(r *Record, b []byte) ([]byte, error) {
	if string(b[:len(keySeq)]) != keySeq {
		return nil, errEnvelope
	}
	seq, b, ok := number(b[len(keySeq):])
	if !ok || seq == 0 {
		return nil, errNumber
	}
	if len(b) < len(keyTime)+timeLen+len(keyType) || string(b[:len(keyTime)]) != keyTime {
		return nil, errEnvelope
	}
	b = b[len(keyTime):]
	if !validTime(b) {
		return nil, errTime
	}
	r.Seq, r.Time, b = seq, b[:timeLen:timeLen], b[timeLen:]
	if string(b[:len(keyType)]) != keyType {
		return nil, errEnvelope
	}
	b = b[len(keyType):]
	n := typeLen(b)
	if n == 0 {
		return nil, errType
	}
	r.Type = b[:n:n]
	return parseNumbers(r, b[n:])
}

func parseNumbers(r *Record, b []byte) ([]byte, error) {
	if len(b) < len(keyV) || string(b[:len(keyV)]) != keyV {
		return nil, errType
	}
	v, b, ok := number(b[len(keyV):])
	if !ok || v == 0 || v > math.MaxInt32 {
		return nil, errNumber
	}
	if len(b) < len(keyCause) || string(b[:len(keyCause)]) != keyCause {
		return nil, errEnvelope
	}
	cause, b, ok := number(b[len(keyCause):])
	if !ok || cause >= r.Seq {
		return nil, errNumber
	}
	if len(b) < len(keyData) || string(b[:len(keyData)]) != keyData {
		return nil, errEnvelope
	}
	r.V, r.Cause = int(v), cause
	return b[len(keyData):], nil
}

// number reads a decimal without sign or leading zeros that fits in 64 bits.
func number(b []byte) (n uint64, rest []byte, ok bool) {
	i := 0
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		if i >= 19 { // 19 digits always fit
			hi, lo := bits.Mul64(n, 10)
			sum, carry := bits.Add64(lo, uint64(b[i]-'0'), 0)
			if hi != 0 || carry != 0 {
				return 0, b, false
			}
			n = sum
			continue
		}
		n = n*10 + uint64(b[i]-'0')
	}
	if i == 0 || (b[0] == '0' && i > 1) {
		return 0, b, false
	}
	return n, b[i:], true
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
