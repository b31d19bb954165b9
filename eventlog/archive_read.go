package eventlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/klauspost/compress/zstd"

	"agent/internal/fsx"
)

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

// SalvageArchive puts a log in the place of a damaged archive, with what can be
// unpacked from its beginning, and sets the archive aside as <quarantine>-archive
// (see [Open]). A person asked for it. The log may end in damage, see [Salvage].
func SalvageArchive(fsys fsx.FS, dir, quarantine string) error {
	if err := salvageArchive(fsys, dir, quarantine); err != nil {
		return fmt.Errorf("salvage archive: %w", err)
	}
	return nil
}

func salvageArchive(fsys fsx.FS, dir, quarantine string) error {
	name := path.Join(dir, ArchiveName)
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if _, err := quarantineBytes(fsys, quarantine+"-archive", io.NewSectionReader(f, 0, info.Size())); err != nil {
		return err
	}
	whole := io.NewSectionReader(f, 0, info.Size())
	dec, err := zstd.NewReader(whole, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(16<<20))
	if err != nil {
		return err
	}
	defer dec.Close()
	// Logs do not get smaller than this; what claims to is no log.
	const mostRatio = 1000
	if err := replace(fsys, dir, io.LimitReader(beginning{dec}, mostRatio*info.Size())); err != nil {
		return err
	}
	return errors.Join(fsys.Remove(name), fsys.SyncDir(dir))
}

// beginning ends where something cannot be unpacked.
type beginning struct{ r io.Reader }

func (b beginning) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err != nil {
		err = io.EOF
	}
	return n, err
}
