package event

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestTextForms(t *testing.T) {
	blob := strings.Repeat("ab", 32)
	for _, c := range []struct {
		text         Text
		stored, view string
	}{
		{T(""), `""`, ""},
		{T("a<b>&\n\"例\""), `"a<b>&\n\"例\""`, "a<b>&\n\"例\""},
		{Text{Inline: "head", Blob: blob, Size: 100, Tail: "tail"},
			`{"blob":"` + blob + `","size":100,"head":"head","tail":"tail"}`, "head\n[… 92 bytes omitted …]\ntail"},
	} {
		data, err := json.Marshal(c.text)
		if stored := unescape(data); err != nil || stored != c.stored {
			t.Errorf("stored as %s, want %s, %v", stored, c.stored, err)
		}
		back := T("something else")
		if err := json.Unmarshal([]byte(c.stored), &back); err != nil || back != c.text {
			t.Errorf("read back as %+v, %v", back, err)
		}
		if c.text.View() != c.view || c.text.Spilled() != (c.text.Blob != "") || c.text.IsZero() != (c.stored == `""`) {
			t.Errorf("view %q", c.text.View())
		}
	}
	for _, bad := range []string{`7`, `["a"]`, `true`, `{"blob":1}`} {
		var text Text
		if err := json.Unmarshal([]byte(bad), &text); err == nil {
			t.Errorf("%s became %+v", bad, text)
		}
	}
}

// unescape takes back what json.Marshal, unlike Encode, escapes for HTML.
func unescape(data []byte) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(data))
}

// blobs collects what is put.
type blobs map[string]string

func (b blobs) put(data []byte) (string, error) {
	sum := sha256.Sum256(data)
	hash := hex.EncodeToString(sum[:])
	b[hash] = string(data)
	return hash, nil
}

// whole checks a spilled text against its blob.
func (b blobs) whole(t fataler, text Text) string {
	t.Helper()
	if !text.Spilled() {
		return text.Inline
	}
	whole, ok := b[text.Blob]
	switch {
	case !ok:
		t.Fatalf("blob %s was not put", text.Blob)
	case int64(len(whole)) != text.Size:
		t.Fatalf("size %d, want %d", text.Size, len(whole))
	case !strings.HasPrefix(whole, text.Inline), !strings.HasSuffix(whole, text.Tail), len(text.Inline)+len(text.Tail) > len(whole):
		t.Fatalf("head and tail are not those of the whole")
	case utf8.ValidString(whole) && !(utf8.ValidString(text.Inline) && utf8.ValidString(text.Tail)):
		t.Fatalf("cut in the middle of a character")
	}
	return whole
}

type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

func TestSpillOverLimit(t *testing.T) {
	for _, c := range []struct {
		name      string
		body      func(string) (Body, *Text)
		max, view int
	}{
		{"tool result", func(s string) (Body, *Text) { b := &ToolReplied{Content: T(s)}; return b, &b.Content }, MaxResult, MaxResult},
		{"message", func(s string) (Body, *Text) { b := &MessageAdded{Content: T(s)}; return b, &b.Content }, MaxText, 128 << 10},
		{"summary", func(s string) (Body, *Text) { b := &SummaryAdded{Text: T(s)}; return b, &b.Text }, MaxText, 16 << 10},
		{"comment", func(s string) (Body, *Text) { b := &CommentRequested{Body: T(s)}; return b, &b.Body }, MaxText, 16 << 10},
		{"arguments", func(s string) (Body, *Text) { b := &ToolRequested{Args: T(s)}; return b, &b.Args }, MaxText, 16 << 10},
		{"raw reply", func(s string) (Body, *Text) { b := &LLMReplied{Raw: T(s)}; return b, &b.Raw }, MaxText, 1 << 10},
		{"comment read", func(s string) (Body, *Text) {
			b := &CommentsFetched{Comments: []Comment{{}, {Body: T(s)}}}
			return b, &b.Comments[1].Body
		}, MaxText, 16 << 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			stored := blobs{}
			b, text := c.body(strings.Repeat("x", c.max))
			if err := Spill(b, stored.put); err != nil || text.Spilled() || len(stored) != 0 {
				t.Fatalf("at the limit: %d blobs, %v", len(stored), err)
			}
			for _, pad := range []string{"", "a", "ab"} { // every way that the limit can fall into 語
				s := pad + strings.Repeat("語", c.max/3+1)
				b, text = c.body(s)
				if err := Spill(b, stored.put); err != nil || !text.Spilled() {
					t.Fatalf("over the limit: %v", err)
				}
				if got := stored.whole(t, *text); got != s {
					t.Errorf("the blob holds %d bytes of %d", len(got), len(s))
				}
				if n := len(text.Inline) + len(text.Tail); n > c.view || n < c.view-8 {
					t.Errorf("%d bytes stay, want %d", n, c.view)
				}
				once := *text
				if err := Spill(b, stored.put); err != nil || *text != once {
					t.Errorf("a second time changes it: %v", err)
				}
			}
		})
	}
}

// Texts that are each below the limit and together too large for a line.
func TestSpillUntilItFits(t *testing.T) {
	b := &LLMReplied{Text: T(strings.Repeat("t", 200<<10)), Reasoning: T(strings.Repeat("r", 250<<10)), Raw: T("raw")}
	for _, size := range []int{10, 120 << 10, 220 << 10, 210 << 10, 230 << 10} {
		b.Calls = append(b.Calls, ToolCall{Args: T(strings.Repeat("c", size))})
	}
	stored := blobs{}
	if err := Spill(b, stored.put); err != nil {
		t.Fatal(err)
	}
	if !b.Reasoning.Spilled() || b.Text.Spilled() || b.Raw.Spilled() || b.Calls[0].Args.Spilled() || b.Calls[1].Args.Spilled() || len(stored) != 1 {
		t.Errorf("not the largest went to a blob: %d blobs", len(stored))
	}
	stored.whole(t, b.Reasoning)
}

// What is stored as escapes is six times as long as it looks.
func TestSpillCountsEncodedBytes(t *testing.T) {
	b := &MessageAdded{Content: T(strings.Repeat("\x01", MaxText))}
	stored := blobs{}
	if err := Spill(b, stored.put); err != nil || !b.Content.Spilled() {
		t.Errorf("spilled %v, %v", b.Content.Spilled(), err)
	}
	if data := encode(t, b, true); len(data) > lineBudget {
		t.Errorf("%d bytes", len(data))
	}
}

func TestSpillErrors(t *testing.T) {
	full := errors.New("full")
	put := func([]byte) (string, error) { return "", full }
	b := &MessageAdded{Content: T(strings.Repeat("x", MaxText+1))}
	if err := Spill(b, put); !errors.Is(err, full) || b.Content.Spilled() {
		t.Errorf("got %v", err)
	}
	many := &CommentsFetched{Comments: make([]Comment, 2000)}
	for i := range many.Comments {
		many.Comments[i].Body = T(strings.Repeat("x", 1000))
	}
	if err := Spill(many, blobs{}.put); err == nil {
		t.Error("2,000 comments fit a line")
	}
	if err := Spill(&ContextResumed{}, put); err != nil {
		t.Errorf("a body without texts: %v", err)
	}
}

// Whatever the texts are: the line fits, nothing is lost, no character is cut.
func TestSpillProperty(t *testing.T) {
	pieces := rapid.SampledFrom([]string{"a", "é", "語", "😀", "\n", "\"", "\x01", "\u2028", "<", "e\u0301"})
	rapid.Check(t, func(t *rapid.T) {
		b := &LLMReplied{}
		texts := []*Text{&b.Text, &b.Reasoning, &b.Raw}
		b.Calls = make([]ToolCall, rapid.IntRange(0, 4).Draw(t, "calls"))
		for i := range b.Calls {
			texts = append(texts, &b.Calls[i].Args)
		}
		var want []string
		for _, text := range texts {
			unit := strings.Join(rapid.SliceOfN(pieces, 1, 7).Draw(t, "unit"), "")
			text.Inline = strings.Repeat(unit, rapid.IntRange(0, 60_000).Draw(t, "times"))
			want = append(want, text.Inline)
		}
		stored := blobs{}
		if err := Spill(b, stored.put); err != nil {
			t.Fatalf("spill: %v", err)
		}
		if data, err := Encode(b, true); err != nil || len(data) > lineBudget {
			t.Fatalf("%d bytes, %v", len(data), err)
		}
		for i, text := range texts {
			if got := stored.whole(t, *text); got != want[i] {
				t.Fatalf("text %d is not what it was", i)
			}
		}
	})
}

// An event is encoded once: what is written of it is what would be encoded after its long
// texts have moved, for every kind, with texts short and long, redacted or not.
func TestEncodedOnce(t *testing.T) {
	stored := blobs{}
	for _, kind := range Types() {
		for _, long := range []bool{false, true} {
			b := sample(kind)
			if p, ok := b.(payloads); ok && long {
				for _, long := range p.payloads() {
					*long.text = T(strings.Repeat("long \" text\n", MaxText/12+9))
				}
			}
			data, err := SpillEncoded(b, encode(t, b, false), stored.put)
			if err != nil {
				t.Fatal(kind, err)
			}
			for _, redacted := range []bool{false, true} {
				e := Event{Body: b, Redacted: redacted}
				want, err := Draft(e)
				if err != nil {
					t.Fatal(kind, err)
				}
				if got, err := DraftEncoded(e, bytes.Clone(data)); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %v\n%s\nwant\n%s", kind, err, got.Data, want.Data)
				}
			}
		}
	}
}
