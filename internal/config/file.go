package config

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// maxFile bounds a configuration file, in bytes.
const maxFile = 1 << 20

// Path names the file that [Load] reads, and tells whether there is one, or must be.
func Path(path string, env func(string) string) (file string, exists bool) { return find(path, env) }

// find names the file to read and tells whether it must be read: a file that was
// asked for must exist, one in a usual place need not.
func find(path string, env func(string) string) (string, bool) {
	if path != "" {
		return path, true
	}
	if path = env("CONFIG_FILE"); path != "" {
		return path, true
	}
	dir := env("XDG_CONFIG_HOME")
	if dir == "" && env("HOME") != "" {
		dir = filepath.Join(env("HOME"), ".config")
	}
	if !filepath.IsAbs(dir) {
		return "config.yaml", false
	}
	path = filepath.Join(dir, "agent", "config.yaml")
	_, err := os.Stat(path)
	return path, !errors.Is(err, fs.ErrNotExist)
}

// read returns the file's bytes, and whether every user of the machine may read
// it. A file that others may write decides which programs run here: refused.
func read(path, name string, fromEnv bool) (raw []byte, open bool, err error) {
	f, err := openPlain(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, failure(name, "there is no such file (it was named by %s): agent init writes one", namedBy(fromEnv))
	}
	if err != nil {
		return nil, false, failure(name, "cannot be read: %s", reason(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, false, failure(name, "cannot be read: %s", reason(err))
	}
	if err := checkMode(info, name); err != nil {
		return nil, false, err
	}
	raw, fault := readText(f, name)
	if fault != nil {
		return nil, false, fault
	}
	return raw, info.Mode().Perm()&0o004 != 0, nil
}

// openPlain does not block: a FIFO must be refused, not waited for.
func openPlain(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

func readText(f io.Reader, name string) ([]byte, *Error) {
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, failure(name, "cannot be read: %s", reason(err))
	case len(raw) > maxFile:
		return nil, failure(name, "is larger than 1 MiB")
	case bytes.IndexByte(raw, 0) >= 0:
		return nil, failure(name, "holds NUL bytes: it is not a text file in UTF-8")
	}
	return raw, nil
}

func namedBy(fromEnv bool) string {
	if fromEnv {
		return "$CONFIG_FILE"
	}
	return "--config"
}

func checkMode(info fs.FileInfo, name string) *Error {
	if !info.Mode().IsRegular() {
		return failure(name, "is not a regular file")
	}
	if info.Mode().Perm()&0o022 != 0 {
		return failure(name, "can be written by other users: run chmod go-w on it")
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	// root can change everything anyway, so a file of root's is as good as one's own.
	if ok && stat.Uid != 0 && int(stat.Uid) != os.Geteuid() {
		return failure(name, "belongs to another user: run chown on it, and chmod 600")
	}
	return nil
}

// reason is an error without the path, which may hold anything.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// warnLiterals names the secrets that stand in a file which everybody may read.
func (d *decoder) warnLiterals() {
	for _, path := range d.literal {
		d.warn(d.lines[path], "%s stands in a file that every user can read: run chmod 600 on it, or use ${…}", shown(path))
	}
}
