package search

import "bytes"

// needle is a text that is looked for in logs. Going from one place of its
// rarest byte to the next is several times as quick as comparing everywhere.
type needle struct {
	text []byte
	at   int // of its rarest byte
}

func newNeedle(text string) needle { return needle{text: []byte(text)} }

// tune finds the rarest byte by a sample of what is searched.
func (n *needle) tune(sample []byte) {
	var count [256]int
	for _, b := range sample {
		count[b]++
	}
	for i, b := range n.text {
		if count[b] < count[n.text[n.at]] {
			n.at = i
		}
	}
}

// many is how often in a row the byte may be found within a few bytes before
// it counts as frequent after all.
const (
	many = 64
	few  = 32
)

// in gives the first place of the text in b, or -1.
func (n *needle) in(b []byte) int {
	near := 0
	for from := 0; from+len(n.text) <= len(b); {
		skip := bytes.IndexByte(b[from+n.at:len(b)-len(n.text)+n.at+1], n.text[n.at])
		if skip < 0 {
			return -1
		}
		if from += skip; b[from] == n.text[0] && bytes.HasPrefix(b[from:], n.text) {
			return from
		}
		from++
		if skip > few {
			near = 0
		} else if near++; near > many {
			if at := bytes.Index(b[from:], n.text); at >= 0 {
				return from + at
			}
			return -1
		}
	}
	return -1
}
