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
