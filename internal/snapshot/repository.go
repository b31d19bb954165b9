package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zlib"
	"golang.org/x/sys/unix"
)

// Repository reads objects of a working copy's .git, as a process that a model drives may
// have left it. It follows no link and no alternates, and gives no object whose content
// has another name.
type Repository struct {
	objects directory
	packs   []*pack
	open    []*os.File
}

// OpenRepository opens the objects of the working copy in dir.
func OpenRepository(dir string) (*Repository, error) {
	root, err := openRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("read objects: %w", err)
	}
	defer root.close()
	own, err := root.sub(".git")
	if err != nil {
		return nil, fmt.Errorf("read objects: %w", err)
	}
	defer own.close()
	r := &Repository{}
	if r.objects, err = own.sub("objects"); err != nil {
		return nil, fmt.Errorf("read objects: %w", err)
	}
	if err := r.openPacks(); err != nil {
		r.Close()
		return nil, fmt.Errorf("read objects: %w", err)
	}
	return r, nil
}

// maxPacks bounds the packs that are open.
const maxPacks = 100

func (r *Repository) openPacks() error {
	d, err := r.objects.sub("pack")
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.close()
	names, err := d.names()
	if err != nil {
		return err
	}
	for _, name := range names {
		base, isIndex := strings.CutSuffix(name, ".idx")
		format := len(base) - len("pack-")
		if !isIndex || format != SHA1 && format != SHA256 || len(r.packs) >= maxPacks {
			continue
		}
		idx, err := d.plain(name)
		if err != nil {
			continue // what is not there is looked for elsewhere
		}
		r.open = append(r.open, idx)
		data, err := d.plain(base + ".pack")
		if err != nil {
			continue
		}
		r.open = append(r.open, data)
		info, err := data.Stat()
		if err != nil {
			return err
		}
		if p, err := openPack(format, idx, data, info.Size()); err == nil {
			r.packs = append(r.packs, p)
		}
	}
	return nil
}

// plain opens a regular file.
func (d directory) plain(name string) (*os.File, error) {
	f, err := open(d.fd(), name, unix.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, errors.Join(errors.New("not a plain file"), err)
	}
	return f, nil
}

// Close closes all files.
func (r *Repository) Close() {
	for _, f := range r.open {
		_ = f.Close()
	}
	r.objects.close()
}

// Blobs gives those of these contents to each that are there and have at most largest bytes.
func (r *Repository) Blobs(ctx context.Context, names []string, largest int64, each func(name string, data []byte)) error {
	for _, name := range names {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if data, ok := r.get(kindBlob, name, largest); ok {
			each(name, data)
		}
	}
	return nil
}

// get reads an object of this kind. It has the content that its name says.
func (r *Repository) get(kind byte, name string, largest int64) ([]byte, bool) {
	if _, err := raw(name); err != nil {
		return nil, false
	}
	found, data, ok := r.loose(name, largest)
	for i := 0; !ok && i < len(r.packs); i++ {
		found, data, ok = r.packs[i].get(name, largest)
	}
	return data, ok && found == kind && nameOf(len(name), kind, data) == name
}

func (r *Repository) loose(name string, largest int64) (kind byte, data []byte, ok bool) {
	d, err := r.objects.sub(name[:2])
	if err != nil {
		return 0, nil, false
	}
	defer d.close()
	f, err := d.plain(name[2:])
	if err != nil {
		return 0, nil, false
	}
	defer f.Close()
	z, err := zlib.NewReader(f)
	if err != nil {
		return 0, nil, false
	}
	defer z.Close()
	all, err := io.ReadAll(io.LimitReader(z, largest+64))
	if err != nil {
		return 0, nil, false
	}
	head, data, ok := bytes.Cut(all, []byte{0})
	word, size, isHead := strings.Cut(string(head), " ")
	if n, err := strconv.ParseInt(size, 10, 64); !ok || !isHead || err != nil || n != int64(len(data)) || n > largest {
		return 0, nil, false
	}
	for kind, name := range kindNames {
		if name == word {
			return kind, data, true
		}
	}
	return 0, nil, false
}

// maxRef is how many bytes of a reference are read, and maxRefs of the packed ones.
const (
	maxRef  = 4096
	maxRefs = 64 << 20
)

// Head is the commit that is checked out in the working copy in dir, empty if there is
// none or it cannot be told.
func Head(dir string) string {
	root, err := openRoot(dir)
	if err != nil {
		return ""
	}
	defer root.close()
	ref, err := root.text(".git/HEAD", maxRef)
	if err != nil {
		return ""
	}
	name, symbolic := strings.CutPrefix(ref, "ref: ")
	if !symbolic {
		return commitName(ref)
	}
	if commit, err := root.text(".git/"+name, maxRef); err == nil {
		return commitName(commit)
	}
	packed, _ := root.text(".git/packed-refs", maxRefs)
	for line := range strings.Lines(packed) {
		if commit, ref, _ := strings.Cut(strings.TrimSpace(line), " "); ref == name {
			return commitName(commit)
		}
	}
	return ""
}

func commitName(text string) string {
	if _, err := raw(text); err != nil {
		return ""
	}
	return text
}

// text reads a small file of .git.
func (d directory) text(path string, most int64) (string, error) {
	at := d
	for {
		dir, left, below := strings.Cut(path, "/")
		if !below {
			break
		}
		next, err := at.sub(dir)
		if err != nil || dir == ".." {
			return "", errors.Join(err, errChanged)
		}
		defer next.close()
		at, path = next, left
	}
	f, err := at.plain(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most))
	return strings.TrimSpace(string(data)), err
}

// Tree reads the whole tree of a commit.
func (r *Repository) Tree(commit string) (*Tree, error) {
	data, ok := r.get(kindCommit, commit, maxCommit)
	if !ok {
		return nil, fmt.Errorf("the commit %s %w", commit, ErrMissing)
	}
	name, isTree := strings.CutPrefix(string(data[:bytes.IndexByte(append(data, '\n'), '\n')]), "tree ")
	if !isTree {
		return nil, fmt.Errorf("the commit %s is damaged", commit)
	}
	entries, left := map[string]Entry{}, maxEntries
	if err := r.list(name, "", entries, &left, 0); err != nil {
		return nil, err
	}
	return NewTree(len(name), entries), nil
}

const (
	maxCommit  = 1 << 20
	maxEntries = 2_000_000 // of a tree, directories too: a small tree can name itself endlessly often
)

func (r *Repository) list(name, prefix string, into map[string]Entry, left *int, depth int) error {
	data, ok := r.get(kindTree, name, maxObject)
	if !ok {
		return fmt.Errorf("the tree %s %w", name, ErrMissing)
	}
	if depth > maxDepth {
		return fmt.Errorf("the directory %q is too deep", prefix)
	}
	return eachLine(name, data, func(mode, base, child string) error {
		if *left--; *left < 0 {
			return errors.New("the commit has too many files")
		}
		if mode == modeDir {
			return r.list(child, prefix+base+"/", into, left, depth+1)
		}
		into[prefix+base] = Entry{canonicalMode(mode), child}
		return nil
	})
}

// canonicalMode is a mode as git writes it today.
func canonicalMode(mode string) string {
	switch {
	case mode == ModeLink, mode == ModeSubmodule:
		return mode
	case len(mode) == 6 && mode[3]&1 == 1:
		return ModeProgram
	}
	return ModeFile
}
