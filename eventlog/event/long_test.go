package event

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// hard are texts whose quotation is not the text itself.
var hard = []string{"", `"`, `\`, `\\"`, "\n\t\x01", "例", "\u2028", "😀", `","raw":"x`, `{"a":[1,"}"]}`, "plain"}

// Long texts are decoded apart from the rest: the result is that of encoding/json.
func TestLongTextsAreThoseOfJSON(t *testing.T) {
	for _, kind := range Types() {
		for _, text := range hard {
			long := strings.Repeat("x", longFrom) + strings.Repeat(text, 3)
			b := New(kind)
			for range longTexts[kind] {
				fill(reflect.ValueOf(b).Elem(), kind)
			}
			for _, at := range longTexts[kind] {
				*at.of(b) = T(long)
			}
			data, err := Encode(b, false)
			if err != nil {
				t.Fatal(err)
			}
			sameAsJSON(t, kind, string(data))
		}
	}
}

// Data of other writers: valid JSON of any form, and what is no JSON.
func TestLongTextsInOddData(t *testing.T) {
	long := strings.Repeat("y", longFrom)
	for name, data := range map[string]string{
		"spaces":            `{ "text" : "` + long + "\" ,\t\"raw\" : \"" + long + `" }`,
		"a key twice":       `{"text":"a` + long + `","text":"b` + long + `"}`,
		"in an object":      `{"calls":[{"args":"` + long + `","text":"` + long + `"}],"text":"` + long + `"}`,
		"a blob":            `{"raw":{"blob":"00","size":1,"head":"` + long + `","tail":"}"},"text":"` + long + `"}`,
		"numbers and words": `{"duration_ms":12,"cost_usd":1.5e3,"calls":null,"text":"` + long + `","unknown":true,"more":[[],{}]}`,
		"a quoted key":      `{"te\"xt":"` + long + `","text":"` + long + `"}`,
		"no end":            `{"text":"` + long,
		"a control byte":    "{\"text\":\"\x02" + long + `"}`,
		"invalid UTF-8":     "{\"text\":\"\xff" + long + `"}`,
		"half a character":  `{"text":"\ud800` + long + `"}`,
		"another type":      `{"text":"` + long + `","finish":{"a":"` + long + `"}}`,
	} {
		t.Run(name, func(t *testing.T) { sameAsJSON(t, "llm.replied", data) })
	}
}

func sameAsJSON(t *testing.T, kind, data string) {
	t.Helper()
	want := New(kind)
	wantErr := json.Unmarshal([]byte(data), want)
	got := New(kind)
	err := unmarshal(kind, []byte(data), got, false, true)
	if (err != nil) != (wantErr != nil) || err == nil && !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %+v, %v; encoding/json gives %+v, %v", kind, got, err, want, wantErr)
	}
}

// What a model thought is left out for folds, but where it counts: it goes back to the model.
func TestDecodeToFold(t *testing.T) {
	for _, from := range []string{"", "anthropic m"} {
		b := &LLMReplied{Text: T("words"), Reasoning: T(strings.Repeat("r", longFrom)), Raw: T(strings.Repeat("w", longFrom)), From: from}
		data, err := Encode(b, false)
		if err != nil {
			t.Fatal(err)
		}
		body, _, err := decodeBody(b.Type(), 1, data, false, false)
		if err != nil {
			t.Fatal(err)
		}
		got := body.(*LLMReplied)
		if got.Text != b.Text || (got.Reasoning == b.Reasoning) != (from != "") || from == "" && !got.Raw.IsZero() {
			t.Errorf("from %q: %+v", from, got)
		}
	}
}
