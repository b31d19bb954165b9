package event

import (
	"bytes"
	"errors"
	"maps"
	"reflect"
	"slices"
	"testing"

	"agent/eventlog"
	"agent/internal/fsx"
)

// A line of each type, filled and empty, redacted or not, through a real log.
func TestRoundTripThroughLog(t *testing.T) {
	m := fsx.NewMem()
	log, err := eventlog.Create(m, ".")
	if err != nil {
		t.Fatal(err)
	}
	var want []Event
	for _, kind := range Types() {
		for i, b := range []Body{sample(kind), New(kind)} {
			e := Event{Time: sampleTime, Cause: uint64(len(want)), Redacted: i == 0, Body: b}
			fillRaw(b)
			draft, err := Draft(e)
			if err != nil {
				t.Fatal(err)
			}
			rec, err := log.Append(draft)
			if err != nil {
				t.Fatal(kind, err)
			}
			e.Seq = rec.Seq
			want = append(want, e)
		}
	}
	i := 0
	for rec, err := range eventlog.ReadFile(m, ".") {
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(rec)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Draft(got)
		if err != nil || !bytes.Equal(again.Data, rec.Data) || again.V != rec.V || again.Type != string(rec.Type) {
			t.Errorf("%s is encoded again as\n%s\nwas\n%s (%v)", rec.Type, again.Data, rec.Data, err)
		}
		if w := want[i]; got.Redacted != w.Redacted || got.Seq != w.Seq || got.Cause != w.Cause || got.Time != w.Time {
			t.Errorf("got %+v, want %+v", got, w)
		}
		i++
	}
	if i != len(want) {
		t.Errorf("%d events of %d", i, len(want))
	}
}

// fillRaw gives an empty body's raw JSON a value: a nil one is stored as null.
func fillRaw(b Body) {
	v := reflect.ValueOf(b).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.CanSet() && f.Type().String() == "json.RawMessage" && f.Len() == 0 {
			f.SetBytes([]byte("null"))
		}
	}
}

// A decoded event shares no memory with the record.
func TestDecodeKeepsNothing(t *testing.T) {
	for _, kind := range []string{"plan.made", "some.future", "tool.replied"} {
		data := []byte(`{"plan":{"a":1},"content":"text"}`)
		rec := eventlog.Record{Seq: 3, Time: []byte("2026-11-27T20:41:48.123456Z"), Type: []byte(kind), V: 1, Data: data}
		e, err := Decode(rec)
		if err != nil {
			t.Fatal(err)
		}
		before := string(encode(t, e.Body, false))
		for i := range data {
			data[i] = 'x'
		}
		copy(rec.Type, "xxxxxxxxxxxx")
		if after := string(encode(t, e.Body, false)); after != before || e.Body.Type() != kind {
			t.Errorf("%s became %s", before, after)
		}
	}
}

func TestUnknownTypeIsKept(t *testing.T) {
	data := []byte(`{"new":[1,2],"n":9007199254740993,"redacted":true}`)
	b, _, err := DecodeBody("brand.new", 7, data)
	if err != nil {
		t.Fatal(err)
	}
	if u, ok := b.(*Unknown); !ok || u.Type() != "brand.new" || RoleOf(b) != Input {
		t.Fatalf("got %+v", b)
	}
	if again := encode(t, b, false); !bytes.Equal(again, data) {
		t.Errorf("became %s", again)
	}
	if New("brand.new") != nil {
		t.Error("New knows it")
	}
}

// A field that a later release added without a new version is ignored.
func TestUnknownFieldIsIgnored(t *testing.T) {
	b, _, err := DecodeBody("context.stopped", 1, []byte(`{"reason":"r","later":{"x":1}}`))
	if err != nil || b.(*ContextStopped).Reason != "r" {
		t.Errorf("got %+v, %v", b, err)
	}
}

func TestNewerVersion(t *testing.T) {
	for _, kind := range Types() {
		_, _, err := DecodeBody(kind, registry[kind].version+1, []byte(`{"not":"even looked at"}`))
		if !errors.Is(err, ErrNewer) {
			t.Errorf("%s: %v", kind, err)
		}
	}
	rec := eventlog.Record{Seq: 17, Time: []byte("2026-11-27T20:41:48.123456Z"), Type: []byte("context.failed"), V: 99, Data: []byte(`{}`)}
	if _, err := Decode(rec); !errors.Is(err, ErrNewer) || err.Error() != "seq 17: context.failed version 99: written by a newer release" {
		t.Errorf("got %v", err)
	}
}

func TestDecodeErrors(t *testing.T) {
	good := eventlog.Record{Seq: 1, Time: []byte("2026-11-27T20:41:48.123456Z"), Type: []byte("limit.reached"), V: 1, Data: []byte(`{"max":1}`)}
	if _, err := Decode(good); err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{`{"max":"1"}`, `{"max":1e999}`, `{"limit":7}`, `[]`, `{`} {
		bad := good
		bad.Data = []byte(data)
		if e, err := Decode(bad); err == nil || errors.Is(err, ErrNewer) {
			t.Errorf("%s became %+v", data, e.Body)
		}
	}
	bad := good
	bad.Time = []byte("2026-11-27 20:41:48")
	if _, err := Decode(bad); err == nil {
		t.Error("a wrong time was taken")
	}
}

func TestRedactedMark(t *testing.T) {
	for _, kind := range Types() {
		for _, b := range []Body{sample(kind), New(kind)} {
			for _, redacted := range []bool{false, true} {
				data := encode(t, b, redacted)
				if err := eventlog.CheckData(data); err != nil {
					t.Fatalf("%s: %v: %s", kind, err, data)
				}
				back, got, err := DecodeBody(kind, Version(b), data)
				if err != nil || got != redacted || back.Type() != kind {
					t.Errorf("%s: redacted %v, want %v, %v", kind, got, redacted, err)
				}
			}
		}
	}
	// Texts that look like the mark are none.
	for _, b := range []Body{
		&ToolsListed{Servers: []Server{{Tools: []Tool{{Schema: []byte(`{"redacted":true}`)}}}}}, &ContextStopped{Reason: `"redacted":true}`},
	} {
		if _, got, err := DecodeBody(b.Type(), 1, encode(t, b, false)); got || err != nil {
			t.Errorf("%s: %v, %v", b.Type(), got, err)
		}
	}
}

func TestRegistry(t *testing.T) {
	if !slices.IsSorted(Types()) || len(Types()) != len(registry) {
		t.Errorf("types %v", Types())
	}
	for _, kind := range Types() {
		if b := New(kind); b.Type() != kind || Version(b) != registry[kind].version || New(kind) == b && reflect.TypeOf(b).Elem().Size() > 0 {
			t.Errorf("%s makes a %s of version %d", kind, b.Type(), Version(b))
		}
	}
}

// Every intent has outcomes and the other way round.
func TestIntentsAndOutcomes(t *testing.T) {
	outcomes := map[string][]string{
		"llm.requested":     {"llm.failed", "llm.replied"},
		"tool.requested":    {"tool.failed", "tool.interrupted", "tool.replied"},
		"comment.requested": {"comment.failed", "comment.posted"},
		"labels.requested":  {"labels.changed", "labels.failed"},
		"change.requested":  {"change.failed", "change.opened"},

		"reaction.requested": {"reaction.added", "reaction.failed"},
	}
	byRole := map[Role][]string{}
	for _, kind := range Types() {
		byRole[RoleOf(New(kind))] = append(byRole[RoleOf(New(kind))], kind)
	}
	if want := slices.Sorted(maps.Keys(outcomes)); !slices.Equal(byRole[Intent], want) {
		t.Errorf("intents %v, want %v", byRole[Intent], want)
	}
	if want := slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Values(outcomes))...))); !slices.Equal(byRole[Outcome], want) {
		t.Errorf("outcomes %v, want %v", byRole[Outcome], want)
	}
	if len(byRole[Input]) == 0 || len(byRole[Mark]) == 0 {
		t.Errorf("roles %v", byRole)
	}
}
