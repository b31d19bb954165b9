package caches

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"
)

const (
	deepest   = 40      // directories below each other
	mostFiles = 200_000 // of a layer
	block     = 4096    // that a file takes at least
)

var (
	errTooMany = errors.New("caches: too many files")
	errChanged = errors.New("caches: a file changed while it was copied")
)

// file is a regular file of a tree. Its path is relative and has slashes.
type file struct {
	path string
	size int64
	mode fs.FileMode
	time time.Time
}

// weight is what a file counts against the bound.
func (f file) weight() int64 { return (f.size+block-1)/block*block + block }

// same reports whether a copy was left as it was made.
func (f file) same(g file) bool { return f.size == g.size && f.time.Equal(g.time) }

// walk visits the regular files below a directory. The tree may hold anything: links are not
// followed.
type walk struct {
	root   *os.Root
	single bool // files with a second name are left out
	visit  func(file) error
}

func (w walk) list(ctx context.Context, dir string) error {
	root := w.root
	info, err := root.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil
	}
	if err != nil {
		return onlyDisk(err)
	}
	return w.below(ctx, dir, deepest)
}

func (w walk) below(ctx context.Context, dir string, depth int) error {
	d, err := w.root.Open(dir)
	if err != nil {
		return onlyDisk(err)
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(1024)
		for _, name := range names {
			if err := w.one(ctx, path.Join(dir, name), depth); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("caches: %w", err)
		}
	}
}

func (w walk) one(ctx context.Context, name string, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	info, err := w.root.Lstat(name)
	switch {
	case err != nil:
		return onlyDisk(err)
	case info.IsDir() && depth > 0:
		return w.below(ctx, name, depth-1)
	case info.Mode().IsRegular() && (!w.single || hasOneName(info)):
		return w.visit(file{name, info.Size(), info.Mode(), info.ModTime()})
	}
	return nil
}

// onlyDisk passes on what the disk says. What a program put there to mislead, or made
// unreadable, is not kept, and that is all.
func onlyDisk(err error) error {
	for _, no := range []syscall.Errno{syscall.EIO, syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EMFILE, syscall.ENFILE} {
		if errors.Is(err, no) {
			return fmt.Errorf("caches: %w", err)
		}
	}
	return nil
}

// hasOneName reports whether a file has no second name: whoever has that can change it.
func hasOneName(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink == 1
}

// modeOf keeps of a mode whether the owner can run the file.
func modeOf(mode fs.FileMode) fs.FileMode { return 0o600 | mode&0o100 }

// copyFile copies a file into a tree that holds nothing of that name. Where the file system
// can, both share their blocks until one is written.
func copyFile(from, to *os.Root, f file) error {
	in, err := from.OpenFile(f.path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() != f.size {
		return errors.Join(err, errChanged)
	}
	if err := to.MkdirAll(path.Dir(f.path), 0o700); err != nil {
		return err
	}
	out, err := to.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, modeOf(f.mode))
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, f.size))
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	if n != f.size {
		return errChanged
	}
	return to.Chtimes(f.path, f.time, f.time)
}
