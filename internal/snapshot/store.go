package snapshot

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"agent/internal/fsx"
)

// Files are the files of an object directory of our own, see contexts.Objects.
type Files interface {
	// Names lists the files in pack/; none if there is no directory.
	Names() ([]string, error)
	// Open opens one of them.
	Open(name string) (fsx.File, error)
	// Keep makes one with this content, whose bytes are durable.
	Keep(name string, data []byte) error
	// Sync makes the names durable.
	Sync() error
	// Remove removes files, those of one pack with the index first.
	Remove(names ...string) error
}

// maxIndex is how many bytes of an index of one save are read.
const maxIndex = 256 << 20

// Store is an object directory of our own. It is used by one goroutine at a time.
type Store struct {
	files Files
	where map[string][]string // object to packs
}

// OpenStore reads the indexes. A pack that is not whole was never acknowledged, or is
// damaged: what it held is missing.
func OpenStore(files Files) (*Store, error) {
	s := &Store{files, map[string][]string{}}
	names, err := files.Names()
	if err != nil {
		return nil, fmt.Errorf("saved files: %w", err)
	}
	for _, name := range names {
		base, isIndex := strings.CutSuffix(name, ".idx")
		if !isIndex || !strings.HasPrefix(base, "pack-") {
			continue
		}
		if err := s.enter(base); err != nil && !errors.Is(err, errPack) && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("saved files: %s: %w", name, err)
		}
	}
	return s, nil
}

func (s *Store) enter(base string) error {
	f, err := s.files.Open(base + ".idx")
	if err != nil {
		return err
	}
	defer f.Close()
	idx, err := io.ReadAll(io.LimitReader(f, maxIndex))
	if err != nil {
		return err
	}
	format := len(base) - len("pack-")
	p, err := openPack(format, bytes.NewReader(idx), nil, 0)
	if err != nil {
		return err
	}
	width := int64(format / 2)
	start := int64(len(indexMagic) + 256*4)
	if int64(len(idx)) < start+p.count*(width+8)+2*width {
		return errPack
	}
	h := newHash(format)
	h.Write(idx[:int64(len(idx))-width])
	if !bytes.Equal(h.Sum(nil), idx[int64(len(idx))-width:]) {
		return fmt.Errorf("%w: its checksum is wrong", errPack)
	}
	if err := s.ends(base, idx[int64(len(idx))-2*width:int64(len(idx))-width]); err != nil {
		return err
	}
	for i := range p.count {
		name := hex.EncodeToString(idx[start+i*width : start+(i+1)*width])
		s.where[name] = append(s.where[name], base)
	}
	return nil
}

// ends checks that a pack is there to its end.
func (s *Store) ends(base string, sum []byte) error {
	f, err := s.files.Open(base + ".pack")
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	end := make([]byte, len(sum))
	if _, err := f.ReadAt(end, info.Size()-int64(len(sum))); err != nil || !bytes.Equal(end, sum) {
		return errors.Join(errPack, err)
	}
	return nil
}

// Has reports whether an object is stored.
func (s *Store) Has(name string) bool { return len(s.where[name]) > 0 }

// Blob gives a stored content. ok is false if it is not stored or cannot be read.
func (s *Store) Blob(name string) (data []byte, ok bool) { return s.get(kindBlob, name) }

func (s *Store) get(kind byte, name string) (data []byte, ok bool) {
	if data, ok = s.find(kind, name); ok {
		return data, true
	}
	if now, err := OpenStore(s.files); err == nil && s.Has(name) { // packs may have been merged meanwhile
		s.where = now.where
		data, ok = s.find(kind, name)
	}
	if !ok {
		delete(s.where, name) // it is damaged: the next save stores it again
	}
	return data, ok
}

func (s *Store) find(kind byte, name string) (data []byte, ok bool) {
	for _, base := range s.where[name] {
		found, data, err := s.read(base, name)
		if err == nil && found == kind && nameOf(len(name), kind, data) == name {
			return data, true
		}
	}
	return nil, false
}

func (s *Store) read(base, name string) (kind byte, data []byte, err error) {
	idx, err := s.files.Open(base + ".idx")
	if err != nil {
		return 0, nil, err
	}
	defer idx.Close()
	f, err := s.files.Open(base + ".pack")
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, nil, err
	}
	p, err := openPack(len(name), idx, f, info.Size())
	if err != nil {
		return 0, nil, err
	}
	kind, data, ok := p.get(name, maxObject)
	if !ok {
		return 0, nil, errPack
	}
	return kind, data, nil
}

// put stores objects durably. Those that are there already are left out.
func (s *Store) put(format int, objects []object) error {
	var fresh []object
	named := map[string]bool{}
	for _, o := range objects {
		if !named[o.name] && !s.Has(o.name) {
			named[o.name] = true
			fresh = append(fresh, o)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	p, err := encodePack(format, fresh, false)
	if err == nil {
		err = s.keep(p)
	}
	if err != nil {
		return fmt.Errorf("save files: %w", err)
	}
	for _, o := range fresh {
		s.where[o.name] = []string{p.name}
	}
	return nil
}

// keep makes a pack durable. The index last: git takes a pack for there once it has one.
func (s *Store) keep(p packed) error {
	if err := s.files.Keep(p.name+".pack", p.data); err != nil {
		return err
	}
	if err := s.files.Keep(p.name+".idx", p.idx); err != nil {
		return err
	}
	return s.files.Sync()
}

// ErrMissing says that an object is stored nowhere.
var ErrMissing = errors.New("is not stored")
