package llm

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// filled sets every field of a value, so that one that was added is not forgotten.
func filled(v reflect.Value, n int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("<%d> \u2028 & \"例\"\n", n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(int64(n))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem(), n+1)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(fmt.Sprintf(`{"n": %d}`, n)))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			filled(v.Index(i), n+i+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				filled(f, n+i+1)
			}
		}
	default:
		panic(v.Type())
	}
}

// The hash that is put together from parts is that of the whole, whatever a request holds.
func TestHashIsOfCanonical(t *testing.T) {
	var whole Request
	filled(reflect.ValueOf(&whole).Elem(), 1)
	for i := range reflect.TypeFor[Request]().NumField() {
		part, without := Request{}, whole
		f := reflect.TypeFor[Request]().Field(i)
		reflect.ValueOf(&part).Elem().Field(i).Set(reflect.ValueOf(whole).Field(i))
		reflect.ValueOf(&without).Elem().Field(i).SetZero()
		for _, r := range []Request{part, without} {
			if sum := sha256.Sum256(r.Canonical()); r.Messages != nil && r.Hash() != hex.EncodeToString(sum[:]) {
				t.Errorf("%s: the hash of %s is another one", f.Name, r.Canonical())
			}
		}
	}
}

// Conversations grow, are cut, begin anew and come by turns: what is kept of the turns
// before never shows.
func TestKeptTurns(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var encodings Encodings
	encode := func(m Message) ([]byte, error) { return json.Marshal(m) }
	all := make([][]Message, mostKept+1)
	var given [][]byte // they may still be on their way to a server
	var wanted []string
	for n := range 600 {
		i := random.IntN(len(all))
		if random.IntN(3) > 0 {
			i = 0
		}
		c := &all[i]
		switch k := random.IntN(12); {
		case k == 0 && len(*c) > 3: // compacted
			*c = slices.Concat((*c)[:1], []Message{{Role: Assistant, Content: fmt.Sprint("summary ", n)}}, (*c)[3:])
		case k == 1 && len(*c) > 0: // its last turn was joined with another
			last := (*c)[len(*c)-1]
			last.Content += " and more"
			*c = append(slices.Clone((*c)[:len(*c)-1]), last)
		case k == 2:
			*c = nil
		}
		call := []ToolCall{{ID: fmt.Sprint(n), Name: "f", Arguments: "{}"}}
		*c = append(*c, Message{Role: Assistant, Content: "<a>", Calls: call, Reasoning: &Opaque{From: "m", Data: json.RawMessage(fmt.Sprint(n))}},
			Message{Role: ToolRole, CallID: fmt.Sprint(n), Content: fmt.Sprint("result of ", i)})
		r := Request{Model: fmt.Sprint("m", random.IntN(2)), Messages: *c}
		if sum := sha256.Sum256(r.Canonical()); r.Hash() != hex.EncodeToString(sum[:]) {
			t.Fatalf("step %d: another hash", n)
		}
		got, err := encodings.Of("form", nil, *c, Listed(encode))
		want, _ := json.Marshal(*c)
		if want = want[1 : len(want)-1]; err != nil || !bytes.Equal(got, want) {
			t.Fatalf("step %d: %v\n%s\nwant\n%s", n, err, got, want)
		}
		given, wanted = append(given, got), append(wanted, string(want))
	}
	for n, got := range given {
		if string(got) != wanted[n] {
			t.Fatalf("step %d: what was given away changed", n)
		}
	}
}

// A turn is encoded once, and again only in another form.
func TestTurnsAreEncodedOnce(t *testing.T) {
	var encodings Encodings
	counts := map[string]int{}
	var turns []Message
	for n := range 50 {
		turns = append(turns, Message{Role: User, Content: fmt.Sprint(n)})
		for _, form := range []string{"a", "b"} {
			if _, err := encodings.Of(form, nil, turns, Listed(func(m Message) ([]byte, error) {
				counts[form+m.Content]++
				return json.Marshal(m)
			})); err != nil {
				t.Fatal(err)
			}
		}
	}
	for turn, n := range counts {
		if n != 1 {
			t.Errorf("%s was encoded %d times", turn, n)
		}
	}
}

func BenchmarkHash(b *testing.B) {
	for _, n := range []int{50, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			text := string(bytes.Repeat([]byte("some line of code\n"), 60))
			var r Request
			for range n {
				r.Messages = append(r.Messages, Message{Role: Assistant, Content: "I look."}, Message{Role: ToolRole, Content: text})
			}
			for range 20 {
				r.Tools = append(r.Tools, Tool{Name: "read", Description: text[:300], Schema: json.RawMessage(`{"type":"object","properties":{` + strings.Repeat(`"path":{"type":"string","description":"a path below the root"},`, 10) + `"n":{}}}`)})
			}
			for i := 0; b.Loop(); i++ {
				r.Messages = append(r.Messages, Message{Role: User, Content: fmt.Sprint(i)})
				r.Hash()
			}
		})
	}
}
