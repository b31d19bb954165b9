package snapshot

import (
	"errors"
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/sys/unix"
)

// directory is an open one. Everything is reached from it by names without a slash, and
// no link is followed.
type directory struct{ f *os.File }

const openFlags = unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY

func openRoot(dir string) (directory, error) { return openAt(unix.AT_FDCWD, dir, unix.O_DIRECTORY) }

func openAt(fd int, name string, flags int) (directory, error) {
	f, err := open(fd, name, flags, 0)
	return directory{f}, err
}

func open(fd int, name string, flags int, perm uint32) (*os.File, error) {
	for {
		opened, err := unix.Openat(fd, name, flags|openFlags, perm)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, &os.PathError{Op: "open", Path: name, Err: err}
		}
		return os.NewFile(uintptr(opened), name), nil
	}
}

func (d directory) fd() int { return int(d.f.Fd()) }

func (d directory) close() { _ = d.f.Close() }

func (d directory) sub(name string) (directory, error) { return openAt(d.fd(), name, unix.O_DIRECTORY) }

// names lists the directory.
func (d directory) names() ([]string, error) { return d.f.Readdirnames(-1) }

// stamp tells whether a file has changed.
type stamp struct {
	mode               uint32
	size, mtime, ctime int64
	inode              uint64
}

func (s stamp) kind() uint32    { return s.mode & unix.S_IFMT }
func (s stamp) isDir() bool     { return s.kind() == unix.S_IFDIR }
func (s stamp) isLink() bool    { return s.kind() == unix.S_IFLNK }
func (s stamp) isRegular() bool { return s.kind() == unix.S_IFREG }

// gitMode is the mode of a file or link in a tree.
func (s stamp) gitMode() string {
	switch {
	case s.isLink():
		return ModeLink
	case s.mode&unix.S_IXUSR != 0:
		return ModeProgram
	}
	return ModeFile
}

func stampOf(st *unix.Stat_t) stamp {
	return stamp{uint32(st.Mode), st.Size, st.Mtim.Nano(), st.Ctim.Nano(), st.Ino}
}

// stat looks at a name, and not through a link.
func (d directory) stat(name string) (stamp, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(d.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return stamp{}, &os.PathError{Op: "stat", Path: name, Err: err}
		}
		return stampOf(&st), nil
	}
}

var errChanged = errors.New("it was changed while it was read")

// read gives the content of the file or link that was seen. It reads what it has looked
// at, or nothing.
func (d directory) read(name string, seen stamp, most int64) ([]byte, error) {
	if seen.isLink() {
		buffer := make([]byte, 4096+1)
		n, err := unix.Readlinkat(d.fd(), name, buffer)
		if err != nil || n > 4096 {
			return nil, errors.Join(errChanged, err)
		}
		return buffer[:n], nil
	}
	f, err := open(d.fd(), name, unix.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, err
	}
	if now := stampOf(&st); !now.isRegular() || now.inode != seen.inode {
		return nil, errChanged
	}
	if st.Size > most {
		return nil, errChanged
	}
	data := make([]byte, st.Size, st.Size+1)
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return nil, errChanged
	}
	return data[:n], err
}

// plainName reports whether git takes a name in a tree on every system: it is no
// way up, and nothing that some file system takes for .git.
func plainName(base string) bool {
	if base == "" || base == "." || base == ".." || strings.ContainsAny(base, "/\x00") {
		return false
	}
	folded := strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) { // HFS+ leaves out what cannot be seen
			return -1
		}
		return r
	}, base))
	folded = strings.TrimRight(folded, ". ") // and NTFS what stands at the end
	folded, _, _ = strings.Cut(folded, ":")
	return folded != ".git" && folded != "git~1"
}
