package eventlog

import (
	"errors"
	"testing"
	"time"
)

// A log whose directory has moved is opened without reading it again, so whoever wrote to
// it meanwhile must be noticed by its end.
func TestReopen(t *testing.T) {
	other := func(l *Log) string {
		line, err := AppendLine(nil, l.head.Seq, 0, counted(l.head.Seq))
		if err != nil {
			t.Fatal(err)
		}
		return string(line) + "\n"
	}
	for name, c := range map[string]struct {
		change  func(l *Log, was string) string
		damaged bool
	}{
		"as it was":         {func(_ *Log, was string) string { return was }, false},
		"a line more":       {func(l *Log, was string) string { return was + other(l) }, true},
		"part of a line":    {func(_ *Log, was string) string { return was + "{" }, true},
		"the end is gone":   {func(_ *Log, was string) string { return was[:len(was)/2] }, true},
		"another last line": {func(l *Log, was string) string { n := len(other(l)); return was[:len(was)-n] + other(l) }, true},
		"nothing":           {func(*Log, string) string { return "" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			fsys, _ := newOS(t)
			if err := errors.Join(fsys.Mkdir("c", 0o700), fsys.Mkdir("d", 0o700)); err != nil {
				t.Fatal(err)
			}
			l, err := Create(fsys, "c")
			if err != nil {
				t.Fatal(err)
			}
			for n := uint64(1); n <= 3; n++ {
				if _, err := l.Append(counted(n)); err != nil {
					t.Fatal(err)
				}
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			write(t, fsys, "d/"+FileName, c.change(l, read(t, fsys, "c/"+FileName)))
			err = l.Reopen("d")
			var damage *DamageError
			if errors.As(err, &damage) != c.damaged || !c.damaged && err != nil {
				t.Fatal(err)
			}
			if c.damaged {
				return
			}
			if _, err := l.Append(counted(4)); err != nil || l.Close() != nil {
				t.Fatal(err)
			}
			if n := len(read(t, fsys, "d/"+FileName)); n != int(l.Size()) {
				t.Errorf("%d bytes, want %d", n, l.Size())
			}
		})
	}
}

// counted is an event that tells its number.
func counted(n uint64) Draft {
	return Draft{Time: time.Unix(int64(n), 0), Type: "test", V: 1, Data: []byte(`{"n":` + string('0'+rune(n)) + `}`)}
}
