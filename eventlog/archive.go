package eventlog

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/klauspost/compress/zstd"

	"agent/internal/fsx"
)

// ArchiveName is the file that takes the place of a log that is archived.
//
// It is a zstd file that any zstd program unpacks: frames of whole lines, about
// 128 KiB each before compression, then a skippable frame that says which log
// this is, then the table of the frames in the form of zstd's seekable format.
// The lines in it are those of the log, so the chain is checked as ever.
const ArchiveName = FileName + ".zst"

const (
	frameSize  = 128 << 10           // bytes of lines from which a frame is ended
	maxFrame   = frameSize + MaxLine // of lines in a frame
	maxPacked  = maxFrame + 64<<10   // of a frame that could not be made smaller
	maxTable   = 64 << 20
	noteMagic  = 0x184D2A50
	tableMagic = 0x184D2A5E
	footMagic  = 0x8F92EAB1
	footSize   = 9
	skipHeader = 8 // of a skippable frame
)

// lostFrame stands for a frame that cannot be read. It is no valid line, so
// readers meet the damage at its place and those who go on can.
const lostFrame = "this part of the archive cannot be read\n"

// archiveNote is what the archive says of itself.
type archiveNote struct {
	Format int   `json:"format"`
	Head   Head  `json:"head"`
	Size   int64 `json:"size"`  // bytes of the log
	First  []int `json:"first"` // seq of the first event of each frame
}

// Packed says what [Pack] did.
type Packed struct {
	Head          Head
	Before, After int64 // bytes
}

// Pack puts an archive in the place of a log. The caller holds the context's
// lock. The log is removed only when the archive was read back whole; a crash
// leaves the log, the archive, or both, and then the log counts. A log that is
// damaged or torn stays as it is and is the error.
func Pack(fsys fsx.FS, dir string) (Packed, error) {
	p, err := pack(fsys, dir)
	if err != nil && !isVerdict(err) {
		err = fmt.Errorf("archive log: %w", err)
	}
	return p, err
}

func pack(fsys fsx.FS, dir string) (Packed, error) {
	log, err := open(fsys, dir, os.O_RDONLY)
	if err != nil {
		return Packed{}, err
	}
	defer log.Close()
	name := path.Join(dir, ArchiveName)
	done, err := writeArchive(fsys, name+fsx.TempSuffix, log)
	if err == nil {
		err = readBack(fsys, name+fsx.TempSuffix, done)
	}
	if err != nil {
		_ = fsys.Remove(name + fsx.TempSuffix) // best effort: the next one truncates it
		return Packed{}, err
	}
	if err := fsys.Rename(name+fsx.TempSuffix, name); err != nil {
		return Packed{}, err
	}
	if err := fsys.SyncDir(dir); err != nil {
		return Packed{}, err
	}
	if err := fsys.Remove(path.Join(dir, FileName)); err != nil {
		return Packed{}, err
	}
	return done, fsys.SyncDir(dir)
}

func writeArchive(fsys fsx.FS, name string, log io.Reader) (Packed, error) {
	f, err := fsys.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return Packed{}, err
	}
	w := packer{w: f}
	err = w.all(log)
	if err == nil {
		err = f.Sync()
	}
	return w.done, errors.Join(err, f.Close())
}

type packer struct {
	w     io.Writer
	enc   *zstd.Encoder
	lines []byte
	first int // seq of the first line in lines
	note  archiveNote
	table []byte
	done  Packed
}

func (p *packer) all(log io.Reader) (err error) {
	if p.enc, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)); err != nil {
		return err
	}
	defer p.enc.Close()
	for rec, err := range Read(log) {
		if err != nil {
			return err
		}
		if len(p.lines) == 0 {
			p.first = int(rec.Seq)
		}
		p.lines = append(append(p.lines, rec.Line...), '\n')
		p.done.Head = HeadOf(rec)
		if len(p.lines) >= frameSize {
			if err := p.flush(); err != nil {
				return err
			}
		}
	}
	if p.done.Head.Seq == 0 {
		return ErrNothingValid
	}
	if err := p.flush(); err != nil {
		return err
	}
	return p.end()
}

func (p *packer) flush() error {
	if len(p.lines) == 0 {
		return nil
	}
	frame := p.enc.EncodeAll(p.lines, nil)
	p.table = binary.LittleEndian.AppendUint32(p.table, uint32(len(frame)))
	p.table = binary.LittleEndian.AppendUint32(p.table, uint32(len(p.lines)))
	p.note.First = append(p.note.First, p.first)
	p.done.Before += int64(len(p.lines))
	p.lines = p.lines[:0]
	return p.write(frame)
}

func (p *packer) end() error {
	p.note.Format, p.note.Head, p.note.Size = 1, p.done.Head, p.done.Before
	note, err := json.Marshal(p.note)
	if err != nil {
		return err
	}
	frames := uint32(len(p.table) / 8)
	foot := binary.LittleEndian.AppendUint32(nil, frames)
	foot = binary.LittleEndian.AppendUint32(append(foot, 0), footMagic)
	return errors.Join(p.write(skippable(noteMagic, note)), p.write(skippable(tableMagic, append(p.table, foot...))))
}

func skippable(magic uint32, data []byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, magic)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(data))), data...)
}

func (p *packer) write(b []byte) error {
	n, err := p.w.Write(b)
	p.done.After += int64(n)
	if err == nil && n != len(b) {
		err = io.ErrShortWrite
	}
	return err
}

// readBack checks that an archive gives the log that it was made from.
func readBack(fsys fsx.FS, name string, want Packed) error {
	r, err := openArchive(fsys, name)
	if err != nil {
		return err
	}
	defer r.Close()
	var head Head
	for rec, err := range Read(r) {
		if err != nil {
			return err
		}
		head = HeadOf(rec)
	}
	if head != want.Head {
		return &DamageError{Seq: head.Seq + 1, Reason: "the archive does not hold what was written"}
	}
	return nil
}

// Unpack puts a log in the place of its archive again, so that it can be
// appended to. The caller holds the context's lock. Where there is a log
// nothing happens but the removal of an archive beside it.
func Unpack(fsys fsx.FS, dir string) error {
	if err := unpack(fsys, dir); err != nil {
		return fmt.Errorf("unpack log: %w", err)
	}
	return nil
}

func unpack(fsys fsx.FS, dir string) error {
	name := path.Join(dir, ArchiveName)
	_, err := fsys.Lstat(path.Join(dir, FileName))
	if errors.Is(err, fs.ErrNotExist) {
		err = unpackTo(fsys, dir, name)
	}
	if err != nil {
		return err
	}
	if err := fsys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fsys.SyncDir(dir)
}

func unpackTo(fsys fsx.FS, dir, name string) error {
	r, err := openArchive(fsys, name)
	if err != nil {
		return err
	}
	defer r.Close()
	r.strict = true
	return replace(fsys, dir, r)
}

// OpenRead opens a log for reading, archived or not. Its bytes are those of the
// log; a part of an archive that cannot be read is a line that is no record, and
// counted by the reader's method Lost() int. A
// file that is not there at all is fs.ErrNotExist.
func OpenRead(fsys fsx.FS, dir string) (io.ReadCloser, error) {
	f, err := open(fsys, dir, os.O_RDONLY)
	if !errors.Is(err, fs.ErrNotExist) {
		if err != nil {
			return nil, err
		}
		return f, nil
	}
	r, archiveErr := openArchive(fsys, path.Join(dir, ArchiveName))
	if errors.Is(archiveErr, fs.ErrNotExist) {
		return nil, err
	}
	if archiveErr != nil {
		return nil, archiveErr
	}
	return r, nil
}

// archive reads the lines of an archive, one frame in memory at a time.
type archive struct {
	f      fsx.File
	dec    *zstd.Decoder
	table  []byte // what is left of it
	at     int64  // of the next frame
	buf    []byte
	packed []byte
	rest   []byte // of buf, not given yet
	lost   int    // frames
	strict bool   // a frame that cannot be read is an error instead of a line
}

func (a *archive) Close() error {
	a.dec.Close()
	return a.f.Close()
}

func openArchive(fsys fsx.FS, name string) (*archive, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if errors.Is(err, fsx.ErrNotRegular) {
		return nil, &DamageError{Seq: 1, Reason: "its archive is not a regular file"}
	}
	if err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	a := &archive{f: f}
	if err := a.readTable(); err != nil {
		f.Close()
		return nil, err
	}
	a.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxFrame))
	if err != nil {
		f.Close()
		return nil, err
	}
	return a, nil
}

func badArchive(format string, args ...any) error {
	return &DamageError{Seq: 1, Reason: "its archive " + fmt.Sprintf(format, args...)}
}

// readTable finds the frames. Their sizes add up to the file, so that nothing of
// it can be missing.
func (a *archive) readTable() error {
	info, err := a.f.Stat()
	if err != nil {
		return err
	}
	foot := make([]byte, footSize)
	if info.Size() < footSize+skipHeader {
		return badArchive("is cut")
	}
	if err := a.read(foot, info.Size()-footSize); err != nil {
		return err
	}
	frames := int64(binary.LittleEndian.Uint32(foot))
	size := frames*8 + footSize
	if binary.LittleEndian.Uint32(foot[5:]) != footMagic || foot[4] != 0 {
		return badArchive("is cut or has no table")
	}
	if size > maxTable || size+skipHeader > info.Size() {
		return badArchive("has a table that cannot be")
	}
	table := make([]byte, skipHeader+size)
	tableAt := info.Size() - int64(len(table))
	if err := a.read(table, tableAt); err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(table) != tableMagic || int64(binary.LittleEndian.Uint32(table[4:])) != size {
		return badArchive("has a table that cannot be")
	}
	a.table = table[skipHeader : skipHeader+frames*8]
	return a.checkNote(tableAt)
}

// checkNote wants the note between the frames and the table.
func (a *archive) checkNote(tableAt int64) error {
	end := int64(0)
	for t := a.table; len(t) > 0; t = t[8:] {
		packed, lines := binary.LittleEndian.Uint32(t), binary.LittleEndian.Uint32(t[4:])
		if packed > maxPacked || lines > maxFrame {
			return badArchive("has a frame that is too large")
		}
		end += int64(packed)
	}
	head := make([]byte, skipHeader)
	if end+skipHeader > tableAt {
		return badArchive("has a table that does not fit it")
	}
	if err := a.read(head, end); err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(head) != noteMagic || end+skipHeader+int64(binary.LittleEndian.Uint32(head[4:])) != tableAt {
		return badArchive("has a table that does not fit it")
	}
	return nil
}

func (a *archive) read(b []byte, at int64) error {
	n, err := a.f.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case errors.Is(err, io.EOF):
		return badArchive("is cut")
	}
	return err
}

// Lost is how many frames could not be read so far.
func (a *archive) Lost() int { return a.lost }

// Read gives the next bytes of the log.
func (a *archive) Read(into []byte) (int, error) {
	for len(a.rest) == 0 {
		if len(a.table) == 0 {
			return 0, io.EOF
		}
		if err := a.frame(); err != nil {
			if !isVerdict(err) || a.strict {
				return 0, err
			}
			a.rest, a.lost = []byte(lostFrame), a.lost+1
		}
	}
	n := copy(into, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

func (a *archive) frame() (err error) {
	packed, lines := int(binary.LittleEndian.Uint32(a.table)), int(binary.LittleEndian.Uint32(a.table[4:]))
	a.table = a.table[8:]
	if cap(a.packed) < packed {
		a.packed = make([]byte, packed)
	}
	b := a.packed[:packed]
	at := a.at
	a.at += int64(packed)
	if err := a.read(b, at); err != nil {
		return err
	}
	// The memory of the decoder is bounded, whatever a frame says of itself.
	if a.buf, err = a.dec.DecodeAll(b, a.buf[:0]); err != nil || len(a.buf) != lines {
		a.buf = a.buf[:0]
		return badArchive("has a frame that cannot be read (byte %d)", at)
	}
	a.rest = a.buf
	return nil
}
