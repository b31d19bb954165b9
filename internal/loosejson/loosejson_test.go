package loosejson

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestObjects(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"none":             {"say [1, 2]", nil},
		"alone":            {` {"a":1} `, []string{`{"a":1}`}},
		"in prose":         {`I do {"a":1}, then {"b":2}.`, []string{`{"a":1}`, `{"b":2}`}},
		"outer first":      {`{"a":{"b":{}}}`, []string{`{"a":{"b":{}}}`, `{"b":{}}`, `{}`}},
		"fence":            {"```json\n{\"a\":1}\n```", []string{`{"a":1}`}},
		"braces in string": {`{"a":"}\"{"}`, []string{`{"a":"}\"{"}`}},
		"no JSON before":   {`func() {x} {"a":1}`, []string{`{"a":1}`}},
		"cut":              {`{"a":{"b":1}`, []string{`{"b":1}`}},
		"cut in a string":  {`{"a":"x`, nil},
		"bad JSON":         {`{a:1}`, nil},
		"too many braces":  {strings.Repeat("{", maxStarts) + `{"a":1}`, nil},
	} {
		var got []string
		for data := range Objects(c.text) {
			got = append(got, string(data))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestObjectsStops(t *testing.T) {
	n := 0
	for range Objects(`{} {} {}`) {
		n++
		break
	}
	if n != 1 {
		t.Fatalf("%d objects", n)
	}
}

func TestOutermost(t *testing.T) {
	var got []string
	for data := range Outermost(`{x {"a":{"b":{}}} {"c":{"d":1}} {"e":{"f":2}`) {
		got = append(got, string(data))
	}
	if diff := cmp.Diff([]string{`{"a":{"b":{}}}`, `{"c":{"d":1}}`, `{"f":2}`}, got); diff != "" {
		t.Error(diff)
	}
}

func TestStripThinking(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                             "plain",
		"<think>a</think>b":                 "b",
		"a<think>b</think>c<think></think>": "ac",
		"thought</think>said":               "said",
		" <think>never ends":                "",
		"said <think>never ends":            "said <think>never ends",

		"<thinking>a</thinking>b":                      "b",
		"<thought>\na\n</thought>\n\nb":                "\n\nb",
		"<reasoning>a</reasoning>b":                    "b",
		"<seed:think>a</seed:think>b":                  "b",
		"<think>a <reasoning> b</think>c":              "c",
		"I removed the `</think>` tag.":                "I removed the `</think>` tag.",
		"I removed the </think> tag, and <think> too.": "I removed the </think> tag, and <think> too.",
		"Both `<think>` and `</think>` are gone.":      "Both `<think>` and `</think>` are gone.",
		"The tag <thinking>, once more.":               "The tag <thinking>, once more.",
	} {
		if got := StripThinking(text); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}

func FuzzObjects(f *testing.F) {
	f.Add(`x {"a":{"b":"}"}} <think>{`)
	f.Fuzz(func(t *testing.T, text string) {
		for data := range Objects(StripThinking(text)) {
			var object map[string]any
			if err := json.Unmarshal(data, &object); err != nil || !strings.Contains(text, string(data)) && !strings.Contains(text, "think>") {
				t.Fatalf("%q is no object of the text: %v", data, err)
			}
		}
	})
}
