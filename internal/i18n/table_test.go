package i18n

import (
	"regexp"
	"slices"
	"testing"
)

var verb = regexp.MustCompile(`%(\[\d+\])?[-+# 0]*\d*(\.\d+)?[a-zA-Z]`)

// Both languages exist, and take the same values in the same order.
func TestTableIsWhole(t *testing.T) {
	for id, p := range table() {
		en, ja := verb.FindAllString(p.en, -1), verb.FindAllString(p.ja, -1)
		if p.en == "" || p.ja == "" || !slices.Equal(en, ja) {
			t.Errorf("%s: %q and %q", id, p.en, p.ja)
		}
	}
	whole := 0
	for _, part := range parts {
		whole += len(part)
	}
	if n := len(table()); n != whole {
		t.Errorf("%d texts have an id that another table uses, too", whole-n)
	}
	if !Has("done.head") || Has("no.such.text") {
		t.Error("Has does not know the table")
	}
}
