package llm

import (
	"encoding/json"
	"testing"
)

// TestFitSchema: the shapes that strict servers refuse, and those that they take.
func TestFitSchema(t *testing.T) {
	const empty = `{"type":"object","properties":{}}`
	for name, c := range map[string]struct{ in, want string }{
		"fits":                  {`{"properties": {"b":{"type":"string"},"a":{"type":["string","null"]}}, "type":"object","additionalProperties":false}`, ""},
		"fits, large number":    {`{"type":"object","properties":{"a":{"type":"integer","maximum":9007199254740993}}}`, ""},
		"none":                  {``, empty},
		"null":                  {`null`, empty},
		"true":                  {`true`, empty},
		"a list":                {`[]`, empty},
		"cut off":               {`{"type":`, empty},
		"nothing in it":         {`{}`, `{"properties":{},"type":"object"}`},
		"no properties":         {`{"type":"object"}`, `{"properties":{},"type":"object"}`},
		"properties are null":   {`{"type":"object","properties":null}`, `{"properties":{},"type":"object"}`},
		"properties are a list": {`{"type":"object","properties":[]}`, `{"properties":{},"type":"object"}`},
		"no type":               {`{"properties":{"a":{}}}`, `{"properties":{"a":{}},"type":"object"}`},
		"object or null":        {`{"type":["object","null"],"properties":{"a":{}}}`, `{"properties":{"a":{}},"type":"object"}`},
		"another type":          {`{"type":"string"}`, `{"properties":{},"type":"object"}`},
		"anyOf":                 {`{"anyOf":[{"properties":{"a":{},"c":{}},"required":["a","c"]},{"properties":{"b":{},"c":{}},"required":["c"]}]}`, `{"properties":{"a":{},"b":{},"c":{}},"required":["c"],"type":"object"}`},
		"oneOf with null":       {`{"type":"object","oneOf":[{"type":"object","properties":{"a":{}},"required":["a"]},{"type":"null"}]}`, `{"properties":{"a":{}},"type":"object"}`},
		"allOf":                 {`{"properties":{"z":{}},"required":["z"],"allOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}},"required":["b","z",1]}]}`, `{"properties":{"a":{},"b":{},"z":{}},"required":["z","a","b"],"type":"object"}`},
		"required only":         {`{"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{"properties":{"a":{},"b":{}},"type":"object"}`},
		"branches of no kind":   {`{"anyOf":[1,null,"x",{"properties":{"a":true},"required":[[1],{"x":1}]}]}`, `{"properties":{"a":true},"type":"object"}`},
		"anyOf below the root":  {`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, ""},
		"enum and not":          {`{"type":"object","properties":{},"enum":[{}],"not":{"required":["x"]}}`, empty2},
		"array without items":   {`{"type":"object","properties":{"a":{"type":"array"},"b":{"type":"array","items":{"type":"array"}}}}`, `{"properties":{"a":{"items":{},"type":"array"},"b":{"items":{"items":{},"type":"array"},"type":"array"}},"type":"object"}`},
		"array in definitions":  {`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"array"}}}`, `{"$defs":{"x":{"items":{},"type":"array"}},"properties":{"a":{"$ref":"#/$defs/x"}},"type":"object"}`},
	} {
		want := c.want
		if want == "" {
			want = c.in
		}
		got := FitSchema(json.RawMessage(c.in))
		if string(got) != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if again := FitSchema(got); string(again) != string(got) {
			t.Errorf("%s: a schema that fits became %s", name, again)
		}
	}
}

const empty2 = `{"properties":{},"type":"object"}`
