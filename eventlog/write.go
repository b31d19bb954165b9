package eventlog

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strconv"
	"time"
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
	b = append(appendHex(append(b, keyPrev...), prev, 16), '"')
	sum := crc32.Checksum(b[from:], castagnoli)
	b = append(appendHex(append(b, keyCRC...), uint64(sum), 8), `"}`...)
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
	if !validTime(t) {
		return time.Time{}
	}
	return time.Date(decimal(t[:4]), time.Month(decimal(t[5:7])), decimal(t[8:10]),
		decimal(t[11:13]), decimal(t[14:16]), decimal(t[17:19]), decimal(t[20:26])*1000, time.UTC)
}

// Clone returns a copy that stays valid when the next record is read.
func (r Record) Clone() Record {
	line := append([]byte(nil), r.Line...)
	c := r
	c.Line = line
	// The fields are slices of the line at fixed distances from both ends.
	at := len(keySeq) + len(strconv.FormatUint(r.Seq, 10)) + len(keyTime)
	c.Time = line[at : at+timeLen : at+timeLen]
	at += timeLen + len(keyType)
	c.Type = line[at : at+len(r.Type) : at+len(r.Type)]
	end := len(line) - tailLen
	c.Data = line[end-len(r.Data) : end : end]
	return c
}
