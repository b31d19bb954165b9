package eventlog

import (
	"encoding/json"
	"testing"
	"time"
)

var start = time.Date(2026, 11, 27, 20, 41, 48, 123456789, time.UTC)

// envelope is a line as encoding/json sees it.
type envelope struct {
	Seq   uint64          `json:"seq"`
	Time  string          `json:"time"`
	Type  string          `json:"type"`
	V     int             `json:"v"`
	Cause uint64          `json:"cause"`
	Data  json.RawMessage `json:"data"`
	Prev  string          `json:"prev"`
	CRC   string          `json:"crc"`
}

func draft(typ, data string) Draft {
	return Draft{Time: start, Type: typ, V: 1, Data: []byte(data)}
}

// makeLog returns the bytes of a valid log; data says what the n-th event holds.
func makeLog(t testing.TB, lines int, data func(n int) string) []byte {
	t.Helper()
	var log []byte
	var prev uint64
	for n := range lines {
		d := draft("tool.replied", data(n))
		d.Cause = uint64(n)
		from := len(log)
		var err error
		if log, err = AppendLine(log, uint64(n)+1, prev, d); err != nil {
			t.Fatal(err)
		}
		prev = hash(log[from:])
		log = append(log, '\n')
	}
	return log
}
