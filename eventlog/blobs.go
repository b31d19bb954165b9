package eventlog

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"agent/internal/fsx"
)

// BlobDir is the directory of the blobs in a context's directory.
const BlobDir = "blobs"

// MaxBlob is the size of the largest blob in bytes.
const MaxBlob = 1 << 30

var (
	// ErrBlobMissing says that a payload that an event names is not there.
	ErrBlobMissing = errors.New("blob is missing")
	// ErrBlobDamaged says that a payload is not the one that an event names.
	ErrBlobDamaged = errors.New("blob is damaged")
)

// Blobs holds payloads that are too large for a line, each in a file named by
// the SHA-256 of its content. The writer holds the context's lock.
type Blobs struct {
	fsys fsx.FS
	dir  string // of the blobs
}

// NewBlobs returns the blobs of the context in dir. It touches nothing.
func NewBlobs(fsys fsx.FS, dir string) Blobs {
	return Blobs{fsys: fsys, dir: path.Join(dir, BlobDir)}
}

// Put stores data and returns its SHA-256 in hex. When it returns, the blob is
// durable, so an event that names it may be appended.
func (b Blobs) Put(data []byte) (string, error) {
	sum := sha256.Sum256(data)
	name := hex.EncodeToString(sum[:])
	if err := b.put(name, data); err != nil {
		return "", fmt.Errorf("store blob: %w", err)
	}
	return name, nil
}

func (b Blobs) put(name string, data []byte) error {
	if len(data) > MaxBlob {
		return fsx.ErrTooLarge
	}
	// Not MkdirAll: a context that was taken away must not come back by its blobs.
	if err := b.fsys.Mkdir(b.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := b.fsys.SyncDir(path.Dir(b.dir)); err != nil {
		return err
	}
	info, err := b.fsys.Lstat(path.Join(b.dir, name))
	if err == nil && info.Mode().IsRegular() && info.Size() == int64(len(data)) {
		// It was renamed into place after its sync; only the name may be younger.
		return b.fsys.SyncDir(b.dir)
	}
	return fsx.WriteFile(b.fsys, path.Join(b.dir, name), data)
}

// Get returns the blob with this SHA-256, or ErrBlobMissing, or ErrBlobDamaged
// if its content has another hash.
func (b Blobs) Get(hash string) ([]byte, error) {
	if raw, err := hex.DecodeString(hash); err != nil || len(raw) != sha256.Size || hex.EncodeToString(raw) != hash {
		return nil, fmt.Errorf("%w: its name is not a hash", ErrBlobDamaged)
	}
	data, err := fsx.ReadFile(b.fsys, path.Join(b.dir, hash), MaxBlob)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: %s", ErrBlobMissing, hash)
	case errors.Is(err, fsx.ErrNotRegular), errors.Is(err, fsx.ErrTooLarge):
		return nil, fmt.Errorf("%w: %s: %w", ErrBlobDamaged, hash, err)
	case err != nil:
		return nil, fmt.Errorf("read blob: %w", err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != hash {
		return nil, fmt.Errorf("%w: %s", ErrBlobDamaged, hash)
	}
	return data, nil
}
