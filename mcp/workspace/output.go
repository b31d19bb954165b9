package workspace

import (
	"fmt"
	"strings"
)

// maxOutput bounds what is kept of a program's output, in bytes.
const maxOutput = 256 << 10

// output keeps the beginning and the end of what is written to it.
type output struct {
	head  []byte
	tail  []byte // a ring once it is full
	next  int    // where the ring continues
	total int
}

func (o *output) Write(p []byte) (int, error) {
	size := len(p)
	o.total += size
	if room := maxOutput/2 - len(o.head); room > 0 {
		n := min(room, len(p))
		o.head = append(o.head, p[:n]...)
		p = p[n:]
	}
	if room := maxOutput/2 - len(o.tail); room > 0 {
		n := min(room, len(p))
		o.tail = append(o.tail, p[:n]...)
		p = p[n:]
	}
	for len(p) > 0 {
		n := copy(o.tail[o.next:], p)
		o.next = (o.next + n) % len(o.tail)
		p = p[n:]
	}
	return size, nil
}

// String returns valid text, with a note where something is left out.
func (o *output) String() string {
	var b strings.Builder
	b.Write(o.head)
	if left := o.total - len(o.head) - len(o.tail); left > 0 {
		fmt.Fprintf(&b, "\n[%d bytes left out]\n", left)
	}
	b.Write(o.tail[o.next:])
	b.Write(o.tail[:o.next])
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}
