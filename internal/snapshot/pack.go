package snapshot

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/klauspost/compress/zlib"
)

// packed is a pack with its index, as files.
type packed struct {
	name      string // pack-HASH
	data, idx []byte
}

// encodePack makes a pack of objects with different names, as they are or as small as possible.
func encodePack(format int, objects []object, small bool) (packed, error) {
	level, order := zlib.BestSpeed, byName
	if small {
		level, order = zlib.DefaultCompression, byLikeness
	}
	slices.SortFunc(objects, order)
	var out bytes.Buffer
	out.WriteString("PACK")
	out.Write(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 2), uint32(len(objects))))
	z, err := zlib.NewWriterLevel(&out, level)
	if err != nil {
		return packed{}, err
	}
	all := make([]entry, len(objects))
	for i, o := range objects {
		start := out.Len()
		all[i] = entry{object: o, offset: uint32(start)}
		data := o.data
		if base, delta := bestDelta(all[:i], o); small && delta != nil {
			all[i].depth = all[base].depth + 1
			data = delta
			out.Write(packHeader(kindOffsetDelta, len(delta)))
			out.Write(writeBack(int64(start) - int64(all[base].offset)))
		} else {
			out.Write(packHeader(o.kind, len(o.data)))
		}
		z.Reset(&out)
		_, err := z.Write(data)
		if err = errors.Join(err, z.Close()); err != nil {
			return packed{}, err
		}
		all[i].sum = crc32.ChecksumIEEE(out.Bytes()[start:])
	}
	if out.Len() >= 1<<31 {
		return packed{}, errors.New("more than 2 GiB were to be saved at once")
	}
	h := newHash(format)
	h.Write(out.Bytes())
	sum := h.Sum(nil)
	out.Write(sum)
	idx, err := encodeIndex(format, all, sum)
	return packed{"pack-" + hex.EncodeToString(sum), out.Bytes(), idx}, err
}

// entry is an object in a pack that is being made.
type entry struct {
	object
	offset, sum uint32
	depth       int // of deltas
}

func byName(a, b object) int { return strings.Compare(a.name, b.name) }

func packHeader(kind byte, size int) []byte {
	b := kind<<4 | byte(size&15)
	var out []byte
	for size >>= 4; size > 0; size >>= 7 {
		out = append(out, b|0x80)
		b = byte(size & 0x7f)
	}
	return append(out, b)
}

var indexMagic = []byte("\377tOc\x00\x00\x00\x02")

func encodeIndex(format int, objects []entry, pack []byte) ([]byte, error) {
	slices.SortFunc(objects, func(a, b entry) int { return byName(a.object, b.object) })
	out := bytes.Clone(indexMagic)
	var fan [256]uint32
	for _, o := range objects {
		name, err := raw(o.name)
		if err != nil {
			return nil, err
		}
		for b := int(name[0]); b < 256; b++ {
			fan[b]++
		}
	}
	for _, n := range fan {
		out = binary.BigEndian.AppendUint32(out, n)
	}
	for _, o := range objects {
		name, _ := raw(o.name)
		out = append(out, name...)
	}
	for _, o := range objects {
		out = binary.BigEndian.AppendUint32(out, o.sum)
	}
	for _, o := range objects {
		out = binary.BigEndian.AppendUint32(out, o.offset)
	}
	out = append(out, pack...)
	h := newHash(format)
	h.Write(out)
	return h.Sum(out), nil
}

// pack reads a pack. Neither it nor its index is trusted: whoever takes an object out
// of it checks the name.
type pack struct {
	format int
	idx    io.ReaderAt
	data   io.ReaderAt
	size   int64 // of data
	count  int64
	fan    [256]uint32
}

var errPack = errors.New("not a pack of git")

const (
	maxDeltas = 128
	maxObject = 256 << 20 // bytes of an object that is read
)

func openPack(format int, idx, data io.ReaderAt, size int64) (*pack, error) {
	p := &pack{format: format, idx: idx, data: data, size: size}
	head := make([]byte, 8+256*4)
	if _, err := idx.ReadAt(head, 0); err != nil || !bytes.HasPrefix(head, indexMagic) {
		return nil, errors.Join(errPack, err)
	}
	for i := range p.fan {
		p.fan[i] = binary.BigEndian.Uint32(head[8+4*i:])
		if i > 0 && p.fan[i] < p.fan[i-1] {
			return nil, errPack
		}
	}
	p.count = int64(p.fan[255])
	return p, nil
}

// offset is where an object of that name begins.
func (p *pack) offset(name []byte) (int64, bool) {
	low, high := int64(0), int64(p.fan[name[0]])
	if name[0] > 0 {
		low = int64(p.fan[name[0]-1])
	}
	width := int64(len(name))
	names := int64(len(indexMagic) + 256*4)
	at := make([]byte, width)
	var failed error
	i := low + int64(sort.Search(int(high-low), func(i int) bool {
		if _, err := p.idx.ReadAt(at, names+(low+int64(i))*width); err != nil {
			failed = err
		}
		return bytes.Compare(at, name) >= 0
	}))
	if i >= high || failed != nil {
		return 0, false
	}
	if _, err := p.idx.ReadAt(at, names+i*width); err != nil || !bytes.Equal(at, name) {
		return 0, false
	}
	offsets := names + p.count*(width+4)
	four := make([]byte, 8)
	if _, err := p.idx.ReadAt(four[:4], offsets+i*4); err != nil {
		return 0, false
	}
	n := binary.BigEndian.Uint32(four)
	if n < 1<<31 {
		return int64(n), true
	}
	if _, err := p.idx.ReadAt(four, offsets+p.count*4+int64(n&(1<<31-1))*8); err != nil {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(four)), true
}

// get gives an object of at most most bytes; ok is false if it is not there.
func (p *pack) get(name string, most int64) (kind byte, data []byte, ok bool) {
	key, err := raw(name)
	if err != nil || len(name) != p.format {
		return 0, nil, false
	}
	at, ok := p.offset(key)
	if !ok {
		return 0, nil, false
	}
	kind, data, err = p.at(at, most, maxDeltas)
	return kind, data, err == nil
}

// at reads the object at an offset, deltas applied.
func (p *pack) at(offset, most int64, deltas int) (kind byte, data []byte, err error) {
	if offset < 12 || offset >= p.size || deltas < 0 {
		return 0, nil, errPack
	}
	head := make([]byte, 64)
	n, _ := p.data.ReadAt(head, offset)
	head = head[:n]
	kind, size, used, err := readHeader(head)
	if err != nil || size > most {
		return 0, nil, errors.Join(errPack, err)
	}
	body := offset + int64(used)
	base := int64(0)
	switch kind {
	case kindCommit, kindTree, kindBlob, kindTag:
		data, err = p.inflate(body, size)
		return kind, data, err
	case kindOffsetDelta:
		back, n := readBack(head[used:])
		if n == 0 {
			return 0, nil, errPack
		}
		base, body = offset-back, body+int64(n)
	case kindNameDelta:
		width := p.format / 2
		if len(head) < used+width {
			return 0, nil, errPack
		}
		var ok bool
		if base, ok = p.offset(head[used : used+width]); !ok {
			return 0, nil, errPack
		}
		body += int64(width)
	default:
		return 0, nil, errPack
	}
	delta, err := p.inflate(body, size)
	if err != nil {
		return 0, nil, err
	}
	kind, source, err := p.at(base, most, deltas-1)
	if err != nil {
		return 0, nil, err
	}
	data, err = patch(source, delta, most)
	return kind, data, err
}

func (p *pack) inflate(at, size int64) ([]byte, error) {
	z, err := zlib.NewReader(io.NewSectionReader(p.data, at, p.size-at))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	data, err := io.ReadAll(io.LimitReader(z, size+1))
	if err != nil || int64(len(data)) != size {
		return nil, errors.Join(errPack, err)
	}
	return data, nil
}

func readHeader(b []byte) (kind byte, size int64, used int, err error) {
	if len(b) == 0 {
		return 0, 0, 0, errPack
	}
	kind, size = b[0]>>4&7, int64(b[0]&15)
	shift := 4
	for used = 1; b[used-1]&0x80 != 0; used++ {
		if used >= len(b) || shift > 55 {
			return 0, 0, 0, errPack
		}
		size |= int64(b[used]&0x7f) << shift
		shift += 7
	}
	return kind, size, used, nil
}

// readBack reads how far before it the base of a delta lies.
func readBack(b []byte) (back int64, used int) {
	for used < len(b) && used < 9 {
		c := b[used]
		used++
		back |= int64(c & 0x7f)
		if c&0x80 == 0 {
			return back, used
		}
		back = (back + 1) << 7
	}
	return 0, 0
}

// patch applies a delta.
func patch(source, delta []byte, most int64) ([]byte, error) {
	from, delta := readSize(delta)
	to, delta := readSize(delta)
	if from != int64(len(source)) || to > most || to < 0 {
		return nil, errPack
	}
	out := make([]byte, 0, to)
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		if op&0x80 == 0 {
			if op == 0 || int(op) > len(delta) {
				return nil, errPack
			}
			out, delta = append(out, delta[:op]...), delta[op:]
			continue
		}
		var at, n int64
		for i := range 7 {
			if op&(1<<i) == 0 {
				continue
			}
			if len(delta) == 0 {
				return nil, errPack
			}
			if i < 4 {
				at |= int64(delta[0]) << (8 * i)
			} else {
				n |= int64(delta[0]) << (8 * (i - 4))
			}
			delta = delta[1:]
		}
		if n == 0 {
			n = 1 << 16
		}
		if at+n > from || int64(len(out))+n > to {
			return nil, errPack
		}
		out = append(out, source[at:at+n]...)
	}
	if int64(len(out)) != to {
		return nil, fmt.Errorf("%w: a delta makes another size", errPack)
	}
	return out, nil
}

func readSize(b []byte) (size int64, left []byte) {
	for shift := 0; len(b) > 0 && shift < 63; shift += 7 {
		c := b[0]
		b = b[1:]
		size |= int64(c&0x7f) << shift
		if c&0x80 == 0 {
			return size, b
		}
	}
	return -1, nil
}
