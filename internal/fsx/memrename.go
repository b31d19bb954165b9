package fsx

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// Rename moves old to new and replaces a file that is there.
func (m *Mem) Rename(old, new string) error { return m.rename(old, new, true) }

// RenameNoReplace moves old to new unless something is there already.
func (m *Mem) RenameNoReplace(old, new string) error { return m.rename(old, new, false) }

func (m *Mem) rename(old, new string, replace bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	fail := func(err error) error { return &os.LinkError{Op: "rename", Old: old, New: new, Err: err} }
	from, n, err := m.find("rename", old)
	if err != nil {
		return fail(err)
	}
	to, there, err := m.find("rename", new)
	if err != nil {
		return fail(err)
	}
	switch {
	case n == nil:
		return fail(syscall.ENOENT)
	case from == nil || to == nil:
		return fail(syscall.EINVAL)
	case there != nil && (!replace || there.mode.IsDir()):
		return fail(syscall.EEXIST)
	case strings.HasPrefix(new, old+"/"):
		return fail(syscall.EINVAL)
	case there != nil && n.mode.IsDir():
		return fail(syscall.ENOTDIR)
	}
	do, err := m.step()
	if do != nothing && there != n {
		m.apply(change{{key{from, path.Base(old)}, nil}, {key{to, path.Base(new)}, n}})
	}
	if err != nil {
		return fail(err)
	}
	return nil
}
