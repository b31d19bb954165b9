package eventlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCheckData(t *testing.T) {
	nested := func(n int) string { return strings.Repeat(`{"a":`, n-1) + `{}` + strings.Repeat(`}`, n-1) }
	for text, want := range map[string]error{
		`{}`:            nil,
		`{ "a" : [ ] }`: nil,
		`{"a":[1,-0.5e+7,0,"x\"\\\/\b\f\n\r\t\u00e9",true,false,null,{"b":{}}]}`: nil,
		`{"a":"漢字 é 😀 abcdefghijklmnop"}`:                                        nil,
		`{"a":"\ud83d\ude00"}`:                                                   nil,
		nested(MaxDepth):                                                         nil,
		nested(MaxDepth + 1):                                                     errDepth,
		`{"a":` + strings.Repeat("[", 100_000):                                   errDepth,
		``:                                                                       errObject,
		`[]`:                                                                     errObject,
		`1`:                                                                      errObject,
		` {}`:                                                                    errObject,
		`{} `:                                                                    errJSON,
		`{}{}`:                                                                   errJSON,
		`{`:                                                                      errObject,
		`{"a"`:                                                                   errJSON,
		`{"a":`:                                                                  errJSON,
		`{"a":1`:                                                                 errJSON,
		`{"a":1,`:                                                                errJSON,
		`{"a":1,}`:                                                               errJSON,
		`{"a":[1,]}`:                                                             errJSON,
		`{"a":[1}}`:                                                              errJSON,
		`{"a" 1}`:                                                                errJSON,
		`{a:1}`:                                                                  errJSON,
		`{"a":01}`:                                                               errJSON,
		`{"a":+1}`:                                                               errJSON,
		`{"a":1.}`:                                                               errJSON,
		`{"a":.5}`:                                                               errJSON,
		`{"a":1e}`:                                                               errJSON,
		`{"a":-}`:                                                                errJSON,
		`{"a":NaN}`:                                                              errJSON,
		`{"a":tru}`:                                                              errJSON,
		`{"a":nul`:                                                               errJSON,
		"{\"a\":\"\x01\"}":                                                       errJSON,
		"{\"a\":\"tab\there\"}":                                                  errJSON,
		"{\"a\":\n1}":                                                            errJSON,
		"{\"a\":\r1}":                                                            errJSON,
		`{"a":"\x"}`:                                                             errJSON,
		`{"a":"\u12g4"}`:                                                         errJSON,
		`{"a":"\u12`:                                                             errJSON,
		`{"a":"\`:                                                                errJSON,
		`{"a":"\ud83d"}`:                                                         errSurrogate,
		`{"a":"\ud83dx"}`:                                                        errSurrogate,
		`{"a":"\ud83d\u0041"}`:                                                   errSurrogate,
		`{"a":"\ude00\ud83d"}`:                                                   errSurrogate,
		"{\"a\":\"\xff\"}":                                                       errUTF8,
		"{\"a\":\"\xed\xa0\x80\"}":                                               errUTF8,
		"{\"a\":\"\xc0\x80\"}":                                                   errUTF8,
		"{\"\xff\":1}":                                                           errUTF8,
		"{\"a\":\"cut \xe6\xbc":                                                  errUTF8,
	} {
		if err := CheckData([]byte(text)); !errors.Is(err, want) {
			t.Errorf("%.40q: %v, want %v", text, err, want)
		}
	}
}

// FuzzCheckData: what it takes, encoding/json takes; what it refuses and
// encoding/json takes, is refused for one of the reasons it has beyond JSON.
func FuzzCheckData(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":[1,-0.5e+7,"x\"\u00e9",true,null,{"b":{}}]}`, `{"a":"\ud83d\ude00漢"}`, `{"aaaaaaaaaaaaaaaaaaaaaaaaa": "b"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := CheckData(data)
		valid := json.Valid(data)
		if err == nil && (!valid || data[0] != '{' || !utf8.Valid(data)) {
			t.Fatalf("took %q", data)
		}
		if err == errJSON && valid && !bytes.ContainsAny(data, "\r\n") && !bytes.HasSuffix(data, []byte(" ")) && !bytes.HasSuffix(data, []byte("\t")) {
			t.Fatalf("refused %q", data)
		}
		if err == errUTF8 && utf8.Valid(data) {
			t.Fatalf("%q is valid UTF-8", data)
		}
	})
}
