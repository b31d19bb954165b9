package snapshot

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"maps"
	"slices"
)

// Cache is what the files held when they were last read, to be remembered until the next
// process. It is worth nothing after the machine was started anew: a file may have lost
// what it held and look the same.
func (c *Copy) Cache() []byte {
	var out []byte
	if c.cache != nil {
		out = c.cache.encode(out)
	}
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
}

// SetCache takes over what [Copy.Cache] gave. What is not whole counts for nothing.
func (c *Copy) SetCache(data []byte) {
	if len(data) < 4 || crc32.ChecksumIEEE(data[:len(data)-4]) != binary.BigEndian.Uint32(data[len(data)-4:]) {
		return
	}
	cache := newCacheDir()
	if left, ok := cache.decode(data[:len(data)-4], 0); ok && len(left) == 0 {
		c.cache = cache
	}
}

func (d *cacheDir) encode(out []byte) []byte {
	text := func(s string) { out = append(binary.AppendUvarint(out, uint64(len(s))), s...) }
	out = binary.AppendUvarint(out, uint64(len(d.files)))
	for _, name := range slices.Sorted(maps.Keys(d.files)) {
		f := d.files[name]
		text(name)
		text(f.name)
		text(f.reason)
		for _, n := range []int64{int64(f.mode), f.size, f.mtime, f.ctime, int64(f.inode)} {
			out = binary.AppendVarint(out, n)
		}
	}
	out = binary.AppendUvarint(out, uint64(len(d.dirs)))
	for _, name := range slices.Sorted(maps.Keys(d.dirs)) {
		text(name)
		out = d.dirs[name].encode(out)
	}
	return out
}

func (d *cacheDir) decode(in []byte, depth int) (left []byte, ok bool) {
	r := reader{in: in}
	for n := r.uint(); n > 0 && !r.bad; n-- {
		name, f := r.text(), cached{}
		f.name, f.reason = r.text(), r.text()
		f.mode, f.size, f.mtime, f.ctime, f.inode = uint32(r.int()), r.int(), r.int(), r.int(), uint64(r.int())
		d.files[name] = f
	}
	for n := r.uint(); n > 0 && !r.bad; n-- {
		if r.in, ok = d.sub(r.text()).decode(r.in, depth+1); !ok || depth > maxDepth {
			return nil, false
		}
	}
	return r.in, !r.bad
}

type reader struct {
	in  []byte
	bad bool
}

func (r *reader) uint() uint64 {
	n, used := binary.Uvarint(r.in)
	r.skip(used)
	return n
}

func (r *reader) int() int64 {
	n, used := binary.Varint(r.in)
	r.skip(used)
	return n
}

func (r *reader) skip(used int) {
	if used <= 0 || used > len(r.in) {
		r.bad, r.in = true, nil
		return
	}
	r.in = r.in[used:]
}

func (r *reader) text() string {
	n := r.uint()
	if n > uint64(len(r.in)) {
		r.bad = true
		return ""
	}
	s := string(bytes.Clone(r.in[:n]))
	r.in = r.in[n:]
	return s
}
