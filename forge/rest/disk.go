package rest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"agent/internal/lazyregexp"
)

const (
	diskForm  = 1
	diskBytes = 64 << 20
	touched   = 24 * time.Hour // a file's time says to the day when it was used last
)

// Disk keeps what is worth knowing in the next process: answers, one file for each URL,
// and used-up rate limits. All of it may be deleted at any time. What cannot be read or
// written is as good as absent. A nil Disk keeps nothing.
type Disk struct {
	dir    string
	secret func(string) bool
	limit  int64 // bytes of all files

	mu    sync.Mutex
	bytes int64 // about; -1: not counted yet
}

// NewDisk keeps files in dir, which is made when it is needed; "" gives nil. No body
// for which secret is true is written.
func NewDisk(dir string, secret func(string) bool) *Disk {
	if dir == "" {
		return nil
	}
	return &Disk{dir: dir, secret: secret, limit: diskBytes, bytes: -1}
}

// stored is the first line of a file; the body follows.
type stored struct {
	Form   int         `json:"form"`
	URL    string      `json:"url"`
	Tag    string      `json:"tag"`
	Header http.Header `json:"header"`
	Sum    string      `json:"sha256"` // of the body
}

// tokens are fields like temp_clone_token of a repository and runners_token of a
// project. Nothing here reads them, and they let others in.
var tokens = lazyregexp.New(`("[a-z_]*token"\s*:\s*)"[^"]*"`)

// Headers that are of use in an answer's next life. Others are of that one exchange.
var lasting = []string{"Etag", "Link", "Content-Type", "X-Next-Page", "X-Page", "X-Per-Page", "X-Prev-Page", "X-Total", "X-Total-Pages"}

func (d *Disk) path(name string) string { return filepath.Join(d.dir, sum([]byte(name))) }

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

func (d *Disk) read(url string) *kept {
	if d == nil {
		return nil
	}
	data, err := d.load(d.path(url))
	if err != nil {
		return nil
	}
	var s stored
	line, body, _ := bytes.Cut(data, []byte("\n"))
	if json.Unmarshal(line, &s) != nil || s.Form != diskForm || s.URL != url || s.Tag == "" || s.Sum != sum(body) {
		d.remove(url)
		return nil
	}
	return &kept{url: url, tag: s.Tag, header: s.Header, body: body}
}

// load reads a file and notes that it is in use.
func (d *Disk) load(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if now := time.Now(); now.Sub(info.ModTime()) > touched {
		_ = os.Chtimes(path, now, now) // it is removed too early, and read once more
	}
	return io.ReadAll(io.LimitReader(f, MaxBody+1<<20))
}

func (d *Disk) write(k *kept) {
	if d == nil {
		return
	}
	if d.secret != nil && d.secret(string(k.body)) {
		d.remove(k.url) // an older answer would be asked about for nothing
		return
	}
	body := tokens.ReplaceAll(k.body, []byte(`$1""`))
	line, err := json.Marshal(stored{diskForm, k.url, k.tag, k.header, sum(body)})
	if err == nil {
		d.save(d.path(k.url), append(append(line, '\n'), body...))
	}
}

// save replaces a file in one step, without waiting for the disk: what a power cut
// spoils fails its checksum.
func (d *Disk) save(path string, data []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if os.MkdirAll(d.dir, 0o700) != nil || !d.room(int64(len(data))) {
		return
	}
	f, err := os.CreateTemp(d.dir, ".new-*") // 0600
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
}

// room removes files, in the order of their names, which is a random one, until there is room for more.
func (d *Disk) room(more int64) bool {
	if d.bytes >= 0 && d.bytes+more <= d.limit {
		d.bytes += more
		return true
	}
	files, err := os.ReadDir(d.dir)
	if err != nil {
		return false
	}
	sizes := make([]int64, len(files))
	d.bytes = 0
	for i, f := range files {
		if info, err := f.Info(); err == nil {
			sizes[i] = info.Size()
			d.bytes += sizes[i]
		}
	}
	most := d.limit
	if d.bytes+more > most {
		most = d.limit * 7 / 8 // lest each write lists all files
	}
	for i, f := range files {
		if d.bytes+more <= most {
			break
		}
		if os.Remove(filepath.Join(d.dir, f.Name())) == nil {
			d.bytes -= sizes[i]
		}
	}
	d.bytes += more
	return d.bytes <= d.limit
}

// Note gives what was kept under a name by [Disk.KeepNote]; nil if there is nothing.
func (d *Disk) Note(name string) []byte {
	if d == nil {
		return nil
	}
	data, err := d.load(d.path("note " + name))
	if err != nil {
		return nil
	}
	return data
}

// KeepNote keeps what holds no secret.
func (d *Disk) KeepNote(name string, data []byte) {
	if d != nil {
		d.save(d.path("note "+name), data)
	}
}

func (d *Disk) remove(url string) {
	if d != nil {
		_ = os.Remove(d.path(url))
	}
}
