package snapshot

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Merge makes one small pack of those that saves have left, where each tree that differs
// little from another is a delta. The old ones go once the new one is durable and was
// read back. Packs that are damaged or very large stay as they are.
func (s *Store) Merge() error {
	var merged []string
	var objects []object
	room, format := group, 0
	all := s.byPack()
	for _, base := range slices.Sorted(maps.Keys(all)) {
		var own []object
		size := 0
		s.readable(base, all[base], func(o object) { own = append(own, o); size += len(o.data) })
		if len(own) < len(all[base]) || size > room || format != 0 && format != len(own[0].name) {
			continue
		}
		room, format = room-size, len(own[0].name)
		merged, objects = append(merged, base), append(objects, own...)
	}
	if len(merged) < 2 {
		return nil
	}
	slices.SortFunc(objects, byName)
	objects = slices.CompactFunc(objects, func(a, b object) bool { return a.name == b.name })
	p, err := encodePack(format, objects, true)
	if err == nil {
		err = p.check(format, objects)
	}
	if err == nil {
		err = s.keep(p)
	}
	if err != nil {
		return fmt.Errorf("merge saved files: %w", err)
	}
	for _, o := range objects {
		s.where[o.name] = []string{p.name}
	}
	for _, base := range merged {
		if base == p.name {
			continue
		}
		if err := s.files.Remove(base+".idx", base+".pack"); err != nil {
			return fmt.Errorf("merge saved files: %w", err)
		}
	}
	return nil
}

// check reads every object back.
func (p packed) check(format int, objects []object) error {
	r, err := openPack(format, bytes.NewReader(p.idx), bytes.NewReader(p.data), int64(len(p.data)))
	if err != nil {
		return err
	}
	for _, o := range objects {
		kind, data, ok := r.get(o.name, maxObject)
		if !ok || kind != o.kind || !bytes.Equal(data, o.data) {
			return errors.New("the new pack does not hold " + o.name)
		}
	}
	return nil
}

// byLikeness puts objects beside each other that may differ little: versions of one
// directory have about the same size.
func byLikeness(a, b object) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(len(a.data), len(b.data)), byName(a, b))
}

// Bounds of the search for deltas.
const (
	deltaWindow = 32
	deltaDepth  = 20
)

// bestDelta finds the object before o that o differs least from; nil if none is worth it.
func bestDelta(before []entry, o object) (base int, delta []byte) {
	most := len(o.data) / 2
	for i := len(before) - 1; i >= max(0, len(before)-deltaWindow); i-- {
		if before[i].kind != o.kind || before[i].depth >= deltaDepth {
			continue
		}
		if d := encodeDelta(before[i].data, o.data, most); d != nil {
			base, delta, most = i, d, len(d)-1
		}
	}
	return base, delta
}

// encodeDelta says what to copy from the beginning and the end of source, and what stands
// between. It is nil if that takes more than most bytes.
func encodeDelta(source, target []byte, most int) []byte {
	head := 0
	for head < min(len(source), len(target)) && source[head] == target[head] {
		head++
	}
	tail := 0
	for tail < min(len(source), len(target))-head && source[len(source)-1-tail] == target[len(target)-1-tail] {
		tail++
	}
	if len(target)-head-tail > most {
		return nil
	}
	out := appendSize(appendSize(nil, len(source)), len(target))
	out = appendCopy(out, 0, head)
	for middle := target[head : len(target)-tail]; len(middle) > 0; {
		n := min(len(middle), 127)
		out = append(append(out, byte(n)), middle[:n]...)
		middle = middle[n:]
	}
	if out = appendCopy(out, len(source)-tail, tail); len(out) > most {
		return nil
	}
	return out
}

func appendSize(out []byte, n int) []byte {
	for ; n >= 0x80; n >>= 7 {
		out = append(out, byte(n)|0x80)
	}
	return append(out, byte(n))
}

// appendCopy copies n bytes of the source, at most 64 KiB at a time.
func appendCopy(out []byte, at, n int) []byte {
	for n > 0 {
		part := min(n, 0xffff)
		op := len(out)
		out = append(out, 0x80)
		for i := range 4 {
			if b := byte(at >> (8 * i)); b != 0 {
				out[op] |= 1 << i
				out = append(out, b)
			}
		}
		for i := range 2 {
			if b := byte(part >> (8 * i)); b != 0 {
				out[op] |= 1 << (4 + i)
				out = append(out, b)
			}
		}
		at, n = at+part, n-part
	}
	return out
}

// writeBack is how far before a delta its base lies, as readBack reads it.
func writeBack(back int64) []byte {
	out := []byte{byte(back & 0x7f)}
	for back >>= 7; back > 0; back >>= 7 {
		back--
		out = append(out, byte(back&0x7f)|0x80)
	}
	slices.Reverse(out)
	return out
}
