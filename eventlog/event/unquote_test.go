package event

import (
	"encoding/json"
	"strings"
	"testing"
)

func FuzzUnquote(f *testing.F) {
	for _, s := range []string{"", "plain", `"\/`, "\b\f\n\r\t", "\x00\x1b[1m", "日本語\u2028", "<&>", "ab\xff", "\\\\\\n"} {
		data, err := marshal(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	for _, data := range []string{`"\/\u00e4\ud83d\ude00\ud800\n"`, "\"ab\xff\xc0\"", `"\u005c\"`, `"a`, `"\"`, `"\x"`, `""`} {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data string) {
		var want string
		if json.Unmarshal([]byte(data), &want) != nil || !strings.HasPrefix(data, `"`) || !strings.HasSuffix(data, `"`) {
			return // spaces around a value do not reach UnmarshalJSON
		}
		got, err := unquote([]byte(data))
		if err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", data, got, err, want)
		}
		var text Text
		if err := json.Unmarshal([]byte(data), &text); err != nil || text != T(want) {
			t.Errorf("%s: %+v, %v", data, text, err)
		}
	})
}

func BenchmarkDecodeText(b *testing.B) {
	data, err := json.Marshal(map[string]Text{"text": T(strings.Repeat("a line of code\twith \"words\"\n", 2000))})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		var m struct{ Text Text }
		if err := json.Unmarshal(data, &m); err != nil {
			b.Fatal(err)
		}
	}
}
