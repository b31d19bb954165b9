package caches

import (
	"archive/zip"
	"bufio"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// Sums are checksums of Go modules, as go.sum writes them: "module version" and
// "module version/go.mod" → h1:….
type Sums map[string]string

// maxSums bounds a go.sum.
const maxSums = 8 << 20

// ReadSums reads the go.sum of a directory that nobody but its forge has written yet. It
// is empty if there is none.
func ReadSums(dir string) Sums {
	sums := make(Sums)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return sums
	}
	defer root.Close()
	f, err := root.Open("go.sum")
	if err != nil {
		return sums
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, maxSums))
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) == 3 && strings.HasPrefix(fields[2], "h1:") {
			sums[fields[0]+" "+fields[1]] = fields[2]
		}
	}
	return sums
}

// check reports whether a downloaded file in a new layer holds what it has to. If sums is
// nil whoever wrote it is trusted, and only damage is looked for.
type check func(layer *os.Root, name string, sums Sums) bool

// goModule checks archives against the checksum beside them, and untrusted ones and their
// go.mod files against the repository's own go.sum: the go command would find the difference
// as well, but only to stop there.
func goModule(layer *os.Root, name string, sums Sums) bool {
	dir, base := path.Split(name)
	ext := path.Ext(base)
	version := strings.TrimSuffix(base, ext)
	if path.Base(dir) != "@v" {
		return sums == nil && strings.HasPrefix(name, "go-mod/cache/download/sumdb/") // signed
	}
	module := strings.TrimPrefix(path.Dir(path.Clean(dir)), "go-mod/cache/download/")
	want := sums[unescape(module)+" "+unescape(version)]
	switch ext {
	case ".zip":
		got, err := hashZip(layer, name)
		told, readErr := readSmall(layer, dir+version+".ziphash")
		return err == nil && readErr == nil && got == strings.TrimSpace(told) && (sums == nil || got == want)
	case ".mod":
		text, err := readSmall(layer, name)
		got := h1(map[string][sha256.Size]byte{"go.mod": sha256.Sum256([]byte(text))})
		return err == nil && (sums == nil || got == sums[unescape(module)+" "+unescape(version)+"/go.mod"])
	case ".info": // the version's time, which no build depends on
		var info struct{ Version string }
		text, err := readSmall(layer, name)
		return err == nil && json.Unmarshal([]byte(text), &info) == nil && info.Version == unescape(version) && (sums == nil || want != "")
	}
	return false // .ziphash too: the go command makes it again, and so reads the archive itself
}

// unescape reads the paths of the module cache, in which !x stands for X.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '!' && i+1 < len(s) {
			i++
			b.WriteString(strings.ToUpper(s[i : i+1]))
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// h1 is the checksum of a list of the checksums of all files, by name
// (https://go.dev/ref/mod#go-sum-files).
func h1(files map[string][sha256.Size]byte) string {
	all := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(all, "%x  %s\n", files[name], name)
	}
	return "h1:" + base64.StdEncoding.EncodeToString(all.Sum(nil))
}

// maxUnpacked is how many bytes a module may have, as for the go command.
const maxUnpacked = 500 << 20

func hashZip(layer *os.Root, name string) (string, error) {
	f, err := layer.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	archive, err := zip.NewReader(f, info.Size())
	if err != nil {
		return "", err
	}
	left := int64(maxUnpacked)
	files := make(map[string][sha256.Size]byte)
	for _, entry := range archive.File {
		r, err := entry.Open()
		if err != nil {
			return "", err
		}
		h := sha256.New()
		n, err := io.Copy(h, io.LimitReader(r, left+1))
		_ = r.Close() // nothing was written
		if left -= n; err != nil || left < 0 || strings.Contains(entry.Name, "\n") {
			return "", fmt.Errorf("it cannot be read whole: %v", err)
		}
		files[entry.Name] = [sha256.Size]byte(h.Sum(nil))
	}
	return h1(files), nil
}

// npmContent checks that a file has the checksum that is its name.
func npmContent(layer *os.Root, name string, _ Sums) bool {
	algorithm, digest, ok := strings.Cut(strings.TrimPrefix(name, "npm/_cacache/content-v2/"), "/")
	var h hash.Hash
	switch algorithm {
	case "sha512":
		h = sha512.New()
	case "sha384":
		h = sha512.New384()
	case "sha256":
		h = sha256.New()
	default:
		return false // older ones can be forged
	}
	f, err := layer.Open(name)
	if err != nil || !ok {
		return false
	}
	defer f.Close()
	_, err = io.Copy(h, f)
	return err == nil && hex.EncodeToString(h.Sum(nil)) == strings.ReplaceAll(digest, "/", "")
}

const maxSmall = 4 << 20

func readSmall(layer *os.Root, name string) (string, error) {
	f, err := layer.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSmall))
	return string(text), err
}
