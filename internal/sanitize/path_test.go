package sanitize

import "testing"

func TestPath(t *testing.T) {
	for path, want := range map[string]string{
		"a/b c.go": "a/b c.go", "日本 語/`": "日本 語/`", "<!-- a -->": "<!-- a -->", "a\nb/c": `"a\nb"/c`, "\x1b[2J": `"\x1b[2J"`, "x\u202ey": `"x\u202ey"`,
		"bad\xff": `"bad\xff"`, "a\u200db/c": `"a\u200db"/c`, " ": `" "`, "d /e": `"d "/e`, `q"`: `"q\""`, "": "",
	} {
		if got := Path(path); got != want {
			t.Errorf("%q is shown as %s, want %s", path, got, want)
		}
	}
}
