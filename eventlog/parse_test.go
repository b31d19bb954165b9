package eventlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// seal gives a line the checksum it should have.
func seal(line string) []byte {
	covered := line[:strings.LastIndex(line, keyCRC)]
	return fmt.Appendf(nil, `%s%s%08x"}`, covered, keyCRC, crc32.Checksum([]byte(covered), castagnoli))
}

const goodLine = `{"seq":17,"time":"2026-11-27T20:41:48.123456Z","type":"llm.replied","v":1,"cause":16,` +
	`"data":{"a":1},"prev":"0123456789abcdef","crc":"00000000"}`

func TestParseReadsEveryField(t *testing.T) {
	line := seal(goodLine)
	r, err := Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	if r.Seq != 17 || string(r.Type) != "llm.replied" || r.V != 1 || r.Cause != 16 || string(r.Data) != `{"a":1}` ||
		r.Prev != 0x0123456789abcdef || r.CRC != crc32.Checksum(line[:len(line)-crcLen], castagnoli) ||
		string(r.Time) != "2026-11-27T20:41:48.123456Z" || !bytes.Equal(r.Line, line) {
		t.Errorf("%+v", r)
	}
	if want := time.Date(2026, 11, 27, 20, 41, 48, 123456000, time.UTC); !r.When().Equal(want) {
		t.Errorf("time %v", r.When())
	}
	if !(Record{}).When().IsZero() {
		t.Error("no record has a time")
	}
	c := r.Clone()
	for i := range line {
		line[i] = 'X'
	}
	if string(c.Time) != "2026-11-27T20:41:48.123456Z" || string(c.Type) != "llm.replied" || string(c.Data) != `{"a":1}` {
		t.Errorf("clone changed: %s %s %s", c.Time, c.Type, c.Data)
	}
}

// TestParseRefuses: all of these have a right checksum, so a foreign writer made them.
func TestParseRefuses(t *testing.T) {
	for name, change := range map[string][2]string{
		"key case":          {`"seq"`, `"Seq"`},
		"duplicate key":     {`"v":1`, `"v":1,"v":1`},
		"unknown key":       {`"v":1`, `"v":1,"x":1`},
		"order":             {`"v":1,"cause":16`, `"cause":16,"v":1`},
		"space":             {`"v":1`, `"v": 1`},
		"leading space":     {`{"seq"`, ` {"seq"`},
		"seq 0":             {`"seq":17`, `"seq":0`},
		"seq leading zero":  {`"seq":17`, `"seq":017`},
		"seq sign":          {`"seq":17`, `"seq":+17`},
		"seq negative":      {`"seq":17`, `"seq":-17`},
		"seq fraction":      {`"seq":17`, `"seq":17.0`},
		"seq exponent":      {`"seq":17`, `"seq":17e0`},
		"seq string":        {`"seq":17`, `"seq":"17"`},
		"seq empty":         {`"seq":17`, `"seq":`},
		"seq 1e18":          {`"seq":17`, `"seq":1000000000000000000`},
		"seq wraps":         {`"seq":17`, `"seq":18446744073709551633`},
		"v 0":               {`"v":1`, `"v":0`},
		"v too large":       {`"v":1`, `"v":2147483648`},
		"cause own seq":     {`"cause":16`, `"cause":17`},
		"cause later":       {`"cause":16`, `"cause":99`},
		"cause -0":          {`"cause":16`, `"cause":-0`},
		"cause empty":       {`"cause":16`, `"cause":`},
		"v empty":           {`"v":1`, `"v":`},
		"time zone":         {`123456Z`, `123456+`},
		"time short":        {`.123456Z`, `.12345Z`},
		"time letter":       {`2026`, `2O26`},
		"time colon":        {`20:41`, `20-41`},
		"time after 9":      {`2026`, `202:`},
		"month 0":           {`2026-11`, `2026-00`},
		"month 13":          {`2026-11`, `2026-13`},
		"day 32":            {`-27T`, `-32T`},
		"hour 24":           {`T20`, `T24`},
		"second 60":         {`:48.`, `:60.`},
		"type empty":        {`"llm.replied"`, `""`},
		"type upper":        {`"llm.replied"`, `"LLM"`},
		"type escape":       {`"llm.replied"`, `"llm\u002e"`},
		"data array":        {`{"a":1}`, `["a",1]`},
		"data null":         {`{"a":1}`, `null`},
		"data empty":        {`{"a":1}`, ``},
		"data open":         {`{"a":1}`, `{`},
		"prev upper":        {`abcdef`, `ABCDEF`},
		"prev letter g":     {`abcdef`, `abcdeg`},
		"prev short":        {`0123456789abcdef`, `123456789abcdef`},
		"prev key":          {`"prev"`, `"Prev"`},
		"object unfinished": {`{"seq"`, `["seq"`},
	} {
		if !strings.Contains(goodLine, change[0]) {
			t.Fatalf("%s changes nothing", name)
		}
		line := seal(strings.Replace(goodLine, change[0], change[1], 1))
		if r, err := Parse(line); err == nil {
			t.Errorf("%s: taken as %+v", name, r)
		}
		if res := readAll(bytes.NewReader(append(line, '\n'))); res.end != "damage" {
			t.Errorf("%s: %+v", name, res)
		}
	}
	for name, line := range map[string][]byte{
		"CRC":       []byte(goodLine),
		"upper CRC": bytes.Replace(seal(goodLine), seal(goodLine)[len(goodLine)-10:], bytes.ToUpper(seal(goodLine)[len(goodLine)-10:]), 1),
		"CRC key":   bytes.Replace(seal(goodLine), []byte(`"crc"`), []byte(`"CRC"`), 1),
		"end":       append(seal(goodLine), ' '),
		"CR":        append(seal(goodLine), '\r'),
		"short":     []byte(`{}`),
		"none":      nil,
	} {
		if r, err := Parse(line); err == nil {
			t.Errorf("%s: taken as %+v", name, r)
		}
	}
}

func TestHex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64().Draw(t, "n")
		b := appendHex(nil, n, 16)
		if want := fmt.Sprintf("%016x", n); string(b) != want {
			t.Fatalf("%s, want %s", b, want)
		}
		if got, ok := unhex(b); !ok || got != n {
			t.Fatalf("%s read as %x", b, got)
		}
	})
	for c := range 256 {
		want := strings.IndexByte("0123456789abcdef", byte(c))
		got, ok := unhex([]byte{'1', byte(c)})
		if ok != (want >= 0) || ok && got != uint64(16+want) {
			t.Errorf("%#x: %x, %v", c, got, ok)
		}
	}
}

func TestTimeFields(t *testing.T) {
	check := func(b []byte) {
		at, err := time.Parse(TimeLayout, string(b)) // takes some other forms too
		want := err == nil && at.Format(TimeLayout) == string(b)
		if got := validTime(b); got != want {
			t.Errorf("%q: %v, want %v", b, got, want)
		}
	}
	const stamp = "2026-10-11T11:11:11.123456Z"
	for i := range timeLen {
		for c := range 256 {
			b := []byte(stamp)
			b[i] = byte(c)
			check(b)
		}
	}
	for _, i := range []int{0, 2, 5, 8, 11, 14, 17, 20, 22, 24} {
		for n := range 100 {
			check(fmt.Appendf(nil, "%s%02d%s", stamp[:i], n, stamp[i+2:]))
		}
	}
}

func genDraft(t *rapid.T) Draft {
	value := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) any { return rapid.String().Draw(t, "s") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.Float64().Draw(t, "f") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.Bool().Draw(t, "b") }),
		rapid.Just[any](nil), rapid.Just[any]([]any{}), rapid.Just[any](map[string]any{"prev": []any{1, "x"}}),
	)
	data, err := json.Marshal(rapid.MapOf(rapid.String(), value).Draw(t, "data"))
	if err != nil {
		t.Fatal(err)
	}
	return Draft{
		Time:  time.UnixMicro(rapid.Int64Range(-62_167_219_200_000_000, 253_402_300_799_999_999).Draw(t, "time")),
		Type:  rapid.StringMatching(`[a-z0-9._]{1,20}`).Draw(t, "type"),
		V:     rapid.IntRange(1, 1<<31-1).Draw(t, "v"),
		Cause: rapid.Uint64Range(0, 1000).Draw(t, "cause"),
		Data:  data,
	}
}

// TestWrittenLineIsReadBack: by Parse and by encoding/json alike.
func TestWrittenLineIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := genDraft(t)
		seq := rapid.Uint64Range(1001, maxNumber).Draw(t, "seq")
		prev := rapid.Uint64().Draw(t, "prev")
		line, err := AppendLine([]byte("before"), seq, prev, d)
		if err != nil {
			t.Fatal(err)
		}
		line = line[len("before"):]
		r, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if r.Seq != seq || r.Prev != prev || string(r.Type) != d.Type || r.V != d.V || r.Cause != d.Cause ||
			!bytes.Equal(r.Data, d.Data) || !r.When().Equal(d.Time) {
			t.Fatalf("%+v read as %+v", d, r)
		}
		sameAsJSON(t, line, r)
	})
}

// fatal is what rapid.T, testing.T and testing.F have in common.
type fatal interface{ Fatalf(string, ...any) }

func sameAsJSON(t fatal, line []byte, r Record) {
	var e envelope
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		t.Fatalf("encoding/json refuses %q: %v", line, err)
	}
	if e.Seq != r.Seq || e.Time != string(r.Time) || e.Type != string(r.Type) || e.V != r.V || e.Cause != r.Cause ||
		!bytes.Equal(e.Data, r.Data) || e.Prev != fmt.Sprintf("%016x", r.Prev) || e.CRC != fmt.Sprintf("%08x", r.CRC) {
		t.Fatalf("%q is %+v, encoding/json says %+v", line, r, e)
	}
}

func TestDraftsRefused(t *testing.T) {
	good := draft("a.b_0", `{}`)
	if _, err := AppendLine(nil, 1, 0, good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(d *Draft){
		"no type":       func(d *Draft) { d.Type = "" },
		"upper case":    func(d *Draft) { d.Type = "A" },
		"quote in type": func(d *Draft) { d.Type = `a"` },
		"version":       func(d *Draft) { d.V = 0 },
		"cause":         func(d *Draft) { d.Cause = 1 },
		"year":          func(d *Draft) { d.Time = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
		"no data":       func(d *Draft) { d.Data = nil },
		"two objects":   func(d *Draft) { d.Data = []byte(`{}{}`) },
		"line break":    func(d *Draft) { d.Data = []byte("{\n}") },
		"bad UTF-8":     func(d *Draft) { d.Data = []byte("{\"a\":\"\xff\"}") },
	} {
		d := good
		change(&d)
		got, err := AppendLine([]byte("x"), 1, 0, d)
		if !errors.Is(err, ErrDraft) || string(got) != "x" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := AppendLine(nil, 0, 0, good); !errors.Is(err, ErrDraft) {
		t.Errorf("seq 0: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(seal(goodLine), true)
	f.Add([]byte(goodLine), false)
	for _, l := range bytes.Split(fifty(f), []byte("\n"))[:3] {
		f.Add(l, true)
	}
	f.Fuzz(func(t *testing.T, line []byte, fix bool) {
		line = slices.Clone(line)
		if fix && bytes.Contains(line, []byte(keyCRC)) {
			line = seal(string(line)) // or nearly nothing would get beyond the checksum
		}
		r, err := Parse(line)
		if err != nil || CheckData(r.Data) != nil {
			return
		}
		sameAsJSON(t, line, r)
		again, err := AppendLine(nil, r.Seq, r.Prev, Draft{Time: r.When(), Type: string(r.Type), V: r.V, Cause: r.Cause, Data: r.Data})
		if err != nil || !bytes.Equal(again, line) && r.When().Format(TimeLayout) == string(r.Time) {
			t.Fatalf("%q written again is %q, %v", line, again, err)
		}
	})
}
