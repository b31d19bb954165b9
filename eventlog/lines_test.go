package eventlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// endless is a line that never ends; it counts what was taken of it.
type endless struct {
	left  int64
	taken *int64
}

func (e *endless) Read(p []byte) (int, error) {
	n := min(int64(len(p)), e.left)
	if n == 0 {
		return 0, io.EOF
	}
	for i := range p[:n] {
		p[i] = 'a'
	}
	e.left -= n
	*e.taken += n
	return int(n), nil
}

func TestHugeLineIsNotRead(t *testing.T) {
	log := fifty(t)
	var taken int64
	res := readAll(io.MultiReader(bytes.NewReader(log), &endless{300 << 20, &taken}))
	if res.records != 50 || res.end != "damage" || taken > 2*MaxLine {
		t.Errorf("%+v after %d bytes", res, taken)
	}
}

func TestLineLimit(t *testing.T) {
	longest := strings.Repeat("x", MaxLine-minLine-30)
	for n := MaxLine - 3; n <= MaxLine+3; n++ {
		d := draft("a", `{"t":"`+longest+`"}`)
		line, err := AppendLine(nil, 1, 0, d)
		if err != nil {
			t.Fatal(err)
		}
		d.Data = []byte(`{"t":"` + longest + strings.Repeat("y", n-len(line)-1) + `"}`)
		line, err = AppendLine(nil, 1, 0, d)
		if n > MaxLine {
			if !errors.Is(err, ErrTooLong) || len(line) != 0 {
				t.Errorf("line of %d: %v", n, err)
			}
			continue
		}
		if err != nil || len(line)+1 != n {
			t.Fatalf("line of %d has %d, %v", n, len(line)+1, err)
		}
		if res := readAll(iotest.HalfReader(bytes.NewReader(append(line, '\n')))); res.records != 1 || res.err != nil {
			t.Errorf("line of %d: %+v", n, res)
		}
	}
}

func TestReadAllGoesOnBehindDamage(t *testing.T) {
	log := fifty(t)
	at := ends(log)
	bent := slices.Clone(log)
	bent[at[10]+50] ^= 1
	bent = slices.Concat(bent[:at[20]], bytes.Repeat([]byte("z"), 3*MaxLine), []byte("\n"), bent[at[20]:at[30]], bent[at[31]:], []byte("to"))
	var kinds []string
	var next int64
	good := 0
	for line, err := range ReadAll(bytes.NewReader(bent)) {
		if err != nil {
			t.Fatal(err)
		}
		if line.Offset != next {
			t.Fatalf("line at %d, want %d", line.Offset, next)
		}
		next += line.Size
		if line.Err != nil {
			kinds = append(kinds, fmt.Sprintf("%s %v %v", ending(line.Err), line.Raw != nil, line.Record.Line != nil))
		} else {
			good++
		}
	}
	want := []string{
		"damage true false", "damage true true", // the flipped line and the one that cannot be held against it
		"damage false false", "damage true true", // the huge one and the one behind it
		"damage true true", // the one behind the gap
		"torn true false",
	}
	if next != int64(len(bent)) || good != 50-5 {
		t.Errorf("%d bytes of %d, %d good", next, len(bent), good)
	}
	if !slices.Equal(kinds, want) {
		t.Errorf("%q", kinds)
	}
}

func TestReadAllocatesNothingPerRecord(t *testing.T) {
	log := fifty(t)
	allocs := testing.AllocsPerRun(20, func() { readAll(bytes.NewReader(log)) })
	if allocs > 20 {
		t.Errorf("%v allocations for 50 records", allocs)
	}
	line := log[:bytes.IndexByte(log, '\n')]
	if n := testing.AllocsPerRun(20, func() { Parse(line) }); n != 0 {
		t.Errorf("Parse: %v allocations", n)
	}
	rec, _ := Parse(line)
	if n := testing.AllocsPerRun(20, func() { CheckData(rec.Data) }); n != 0 {
		t.Errorf("CheckData: %v allocations", n)
	}
}
