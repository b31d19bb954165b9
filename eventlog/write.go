package eventlog

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"agent/internal/crc32c"
)

// AppendLine appends the line of d, without a newline, to dst. prev is the hash
// of the line before it, see [Head]. It refuses what [Parse] or [CheckData]
// would refuse, and a line that would be too long (ErrTooLong); dst is then
// returned as it was.
func AppendLine(dst []byte, seq, prev uint64, d Draft) ([]byte, error) {
	if err := check(seq, d); err != nil {
		return dst, err
	}
	from := len(dst)
	b := strconv.AppendUint(append(dst, keySeq...), seq, 10)
	b = d.Time.UTC().AppendFormat(append(b, keyTime...), TimeLayout)
	b = append(append(b, keyType...), d.Type...)
	b = strconv.AppendInt(append(b, keyV...), int64(d.V), 10)
	b = strconv.AppendUint(append(b, keyCause...), d.Cause, 10)
	b = append(append(b, keyData...), d.Data...)
	b = append(b, keyPrev...)
	b = binary.LittleEndian.AppendUint64(b, hex8(uint32(prev>>32)))
	b = binary.LittleEndian.AppendUint64(b, hex8(uint32(prev)))
	b = append(b, '"')
	sum := crc32c.Checksum(b[from:])
	b = binary.LittleEndian.AppendUint64(append(b, keyCRC...), hex8(sum))
	b = append(b, `"}`...)
	if len(b)-from >= MaxLine {
		return b[:from], ErrTooLong
	}
	return b, nil
}

// check refuses a draft whose line would not be read back as it is.
func check(seq uint64, d Draft) error {
	year := d.Time.UTC().Year()
	switch {
	case seq == 0 || seq > maxNumber:
		return fmt.Errorf("%w: seq %d", ErrDraft, seq)
	case d.Type == "" || typeLen([]byte(d.Type)) != len(d.Type):
		return fmt.Errorf("%w: %w", ErrDraft, errType)
	case d.V < 1 || d.V > 1<<31-1:
		return fmt.Errorf("%w: version %d", ErrDraft, d.V)
	case d.Cause >= seq:
		return fmt.Errorf("%w: cause %d is not before seq %d", ErrDraft, d.Cause, seq)
	case year < 0 || year > 9999:
		return fmt.Errorf("%w: year %d", ErrDraft, year)
	case len(d.Data) >= MaxLine:
		return ErrTooLong
	}
	if err := CheckData(d.Data); err != nil {
		return fmt.Errorf("%w: %w", ErrDraft, err)
	}
	return nil
}

// hash is what the next line's prev must be.
func hash(line []byte) uint64 {
	sum := sha256.Sum256(line)
	return binary.BigEndian.Uint64(sum[:])
}

// When returns the time of the record, or the zero time if it was not parsed.
func (r Record) When() time.Time {
	t := r.Time
	if len(t) != timeLen || !validTime((*[timeLen]byte)(t)) {
		return time.Time{}
	}
	year := int(two(t)*100 + two(t[2:]))
	micros := int(two(t[20:])*10_000 + two(t[22:])*100 + two(t[24:]))
	return time.Date(year, time.Month(two(t[5:])), int(two(t[8:])),
		int(two(t[11:])), int(two(t[14:])), int(two(t[17:])), micros*1000, time.UTC)
}

// Clone returns a copy that stays valid when the next record is read.
func (r Record) Clone() Record {
	line := append([]byte(nil), r.Line...)
	c := r
	c.Line = line
	// The fields are slices of the line at fixed distances from both ends.
	at := len(keySeq) + digits(r.Seq) + len(keyTime)
	c.Time = line[at : at+timeLen : at+timeLen]
	at += timeLen + len(keyType)
	c.Type = line[at : at+len(r.Type) : at+len(r.Type)]
	end := len(line) - tailLen
	c.Data = line[end-len(r.Data) : end : end]
	return c
}

func digits(n uint64) int {
	i := 1
	for ; n >= 10; n /= 10 {
		i++
	}
	return i
}
