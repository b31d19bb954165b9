package search

import (
	"bytes"
	"math/rand"
	"strings"
	"testing"
)

// A needle is found where bytes.Index finds it, in text in which its bytes are rare and frequent.
func TestNeedle(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for _, letters := range []string{"ab", "aaaaaaaaaaaaaaab", "the quick brown fox", "針の中\n\"\\", "\x00\xff"} {
		for range 2000 {
			text := make([]byte, rng.Intn(300))
			for i := range text {
				text[i] = letters[rng.Intn(len(letters))]
			}
			from := rng.Intn(len(text) + 1)
			wanted := string(text[from:min(from+1+rng.Intn(6), len(text))])
			if wanted == "" || rng.Intn(3) == 0 {
				wanted = letters[:1+rng.Intn(len(letters))]
			}
			n := newNeedle(wanted)
			if rng.Intn(2) == 0 {
				n.tune(text)
			}
			if got, want := n.in(text), bytes.Index(text, []byte(wanted)); got != want {
				t.Fatalf("%q in %q: %d, want %d", wanted, text, got, want)
			}
		}
	}
	n := newNeedle("the quick fox")
	if n.tune([]byte(strings.Repeat("the quic fox ", 9) + "k")); n.text[n.at] != 'k' {
		t.Errorf("the rarest byte is %q", n.text[n.at])
	}
	if n := newNeedle("zz"); n.in([]byte(strings.Repeat("z ", 500)+"zz")) != 1000 {
		t.Error("not found where its byte is frequent")
	}
}
