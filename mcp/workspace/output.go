package workspace

import (
	"fmt"
	"strings"
)

// maxOutput bounds what is kept of a program's output, in bytes, unless it is a command of the model.
const maxOutput = 256 << 10

// output keeps the beginning and the end of what is written to it.
type output struct {
	most  int // bytes of each end; 0: half of maxOutput
	head  []byte
	tail  []byte // a ring once it is full
	next  int    // where the ring continues
	total int
}

func (o *output) Write(p []byte) (int, error) {
	if o.most == 0 {
		o.most = maxOutput / 2
	}
	size := len(p)
	o.total += size
	if room := o.most - len(o.head); room > 0 {
		n := min(room, len(p))
		o.head = append(o.head, p[:n]...)
		p = p[n:]
	}
	if room := o.most - len(o.tail); room > 0 {
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

// left is how many bytes are not kept.
func (o *output) left() int { return o.total - len(o.head) - len(o.tail) }

// parts are the beginning and the end. Where something is left out between them they
// are whole lines, if there are any.
func (o *output) parts() (head, tail string) {
	head = string(o.head)
	tail = string(o.tail[o.next:]) + string(o.tail[:o.next])
	if o.left() == 0 {
		return head + tail, ""
	}
	if i := strings.LastIndexByte(head, '\n'); i >= 0 {
		head = head[:i+1]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < len(tail)-1 {
		tail = tail[i+1:]
	}
	return head, tail
}

// String returns valid text, with a note where something is left out.
func (o *output) String() string {
	head, tail := o.parts()
	if left := o.total - len(head) - len(tail); left > 0 {
		head = fmt.Sprintf("%s\n[%d bytes left out]\n", strings.TrimSuffix(head, "\n"), left)
	}
	return shown(head + tail)
}
