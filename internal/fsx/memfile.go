package fsx

import (
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"
)

// block is the unit in which unsynced bytes reach the disk or do not.
const block = 512

// memFile is an open file of a Mem.
type memFile struct {
	m      *Mem
	n      *node
	name   string
	flag   int
	off    int64
	closed bool
}

// ready locks the file system; the caller unlocks it if there is no error.
func (f *memFile) ready(op string) error {
	f.m.mu.Lock()
	err := f.m.alive()
	if f.closed {
		err = fs.ErrClosed
	}
	if err != nil {
		f.m.mu.Unlock()
		return &fs.PathError{Op: op, Path: f.name, Err: err}
	}
	return nil
}

func (f *memFile) Read(p []byte) (int, error) {
	if err := f.ready("read"); err != nil {
		return 0, err
	}
	defer f.m.mu.Unlock()
	n, err := f.n.readAt(p, f.off)
	f.off += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.ready("read"); err != nil {
		return 0, err
	}
	defer f.m.mu.Unlock()
	return f.n.readAt(p, off)
}

func (n *node) readAt(p []byte, off int64) (int, error) {
	if off >= int64(len(n.data)) && len(p) > 0 {
		return 0, io.EOF
	}
	c := copy(p, n.data[min(off, int64(len(n.data))):])
	if c < len(p) {
		return c, io.EOF
	}
	return c, nil
}

// Write is one counted operation.
func (f *memFile) Write(p []byte) (int, error) {
	if err := f.ready("write"); err != nil {
		return 0, err
	}
	defer f.m.mu.Unlock()
	if f.flag&(os.O_WRONLY|os.O_RDWR) == 0 {
		return 0, &fs.PathError{Op: "write", Path: f.name, Err: syscall.EBADF}
	}
	do, err := f.m.step()
	switch do {
	case nothing:
		p = nil
	case half:
		p = p[:len(p)/2]
	default: // all of it
	}
	if f.flag&os.O_APPEND != 0 {
		f.off = int64(len(f.n.data))
	}
	f.n.writeAt(p, int(f.off))
	f.n.modified = f.m.clock()
	f.off += int64(len(p))
	if err != nil {
		err = &fs.PathError{Op: "write", Path: f.name, Err: err}
	}
	return len(p), err
}

func (n *node) writeAt(p []byte, off int) {
	if len(p) == 0 {
		return
	}
	n.extend(off + len(p))
	copy(n.data[off:], p)
	for b := off / block; b*block < off+len(p); b++ {
		n.dirty[b] = true
	}
}

// extend makes the file at least size bytes long.
func (n *node) extend(size int) {
	if grow := size - len(n.data); grow > 0 {
		n.data = append(n.data, make([]byte, grow)...)
	}
}

// Truncate is one counted operation.
func (f *memFile) Truncate(size int64) error {
	if err := f.ready("truncate"); err != nil {
		return err
	}
	defer f.m.mu.Unlock()
	return f.m.change("truncate", f.name, func() { f.n.truncate(int(size)) })
}

func (n *node) truncate(size int) {
	if from := len(n.data); size > from {
		n.writeAt(make([]byte, size-from), from)
		return
	}
	n.data = n.data[:size:size] // never reuse what a later write must not see
	for b := range n.dirty {
		if b*block >= size {
			delete(n.dirty, b)
		}
	}
}

// Sync makes the content durable; it is one counted operation. If it fails,
// the unsynced bytes are never synced any more, although they are still read:
// this is what real kernels do, and why an error of Sync is final.
func (f *memFile) Sync() error {
	if err := f.ready("sync"); err != nil {
		return err
	}
	defer f.m.mu.Unlock()
	do, err := f.m.step()
	if do != nothing {
		f.n.flush()
	}
	if err != nil {
		if !f.m.dead {
			clear(f.n.dirty)
		}
		return &fs.PathError{Op: "sync", Path: f.name, Err: err}
	}
	return nil
}

func (n *node) flush() {
	if len(n.disk) > len(n.data) {
		n.disk = n.disk[:len(n.data)]
	}
	for len(n.disk) < len(n.data) {
		n.disk = append(n.disk, make([]byte, len(n.data)-len(n.disk))...)
	}
	for b := range n.dirty {
		copy(n.disk[b*block:], n.data[b*block:min((b+1)*block, len(n.data))])
	}
	clear(n.dirty)
}

func (f *memFile) Stat() (fs.FileInfo, error) {
	if err := f.ready("stat"); err != nil {
		return nil, err
	}
	defer f.m.mu.Unlock()
	return f.n.info(f.name), nil
}

func (f *memFile) Close() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.closed {
		return fs.ErrClosed
	}
	f.closed = true
	return nil
}

// SyncDir makes the names in a directory durable; it is one counted operation.
func (m *Mem) SyncDir(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, err := m.dir("sync", name)
	if err != nil {
		return err
	}
	return m.change("sync", name, func() { m.flush(d) })
}

// flush makes durable what changed in d, and whatever those names did before.
func (m *Mem) flush(d *node) {
	taken := make([]bool, len(m.pending))
	keys := map[key]bool{}
	for i := len(m.pending) - 1; i >= 0; i-- {
		for _, s := range m.pending[i] {
			taken[i] = taken[i] || s.key.dir == d || keys[s.key]
		}
		if taken[i] {
			for _, s := range m.pending[i] {
				keys[s.key] = true
			}
		}
	}
	var rest []change
	for i, c := range m.pending {
		if !taken[i] {
			rest = append(rest, c)
			continue
		}
		for _, s := range c {
			set(s.key.dir.durable, s.key.name, s.to)
		}
	}
	m.pending = rest
}

func set(names map[string]*node, name string, n *node) {
	if n == nil {
		delete(names, name)
	} else {
		names[name] = n
	}
}

// memInfo describes a node at one moment.
type memInfo struct {
	name     string
	size     int64
	mode     fs.FileMode
	modified time.Time
}

func (n *node) info(name string) fs.FileInfo {
	return memInfo{path.Base(name), int64(len(n.data)), n.mode, n.modified}
}

func (i memInfo) Name() string       { return i.name }
func (i memInfo) Size() int64        { return i.size }
func (i memInfo) Mode() fs.FileMode  { return i.mode }
func (i memInfo) ModTime() time.Time { return i.modified }
func (i memInfo) IsDir() bool        { return i.mode.IsDir() }
func (i memInfo) Sys() any           { return nil }
