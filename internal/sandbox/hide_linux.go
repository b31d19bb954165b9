package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// hidden are directories in which the processes of a machine leave what is not
// for everybody: files, and sockets to which Landlock before ABI 9 lets anybody connect.
var hidden = []string{"/run", "/tmp", "/var/tmp", "/dev/shm", "/home", "/root"}

// hide puts an empty directory in the place of each, with only what the policy
// grants in it. /tmp is the private one.
func (p Policy) hide() error {
	keep := p.granted()
	for _, dir := range p.toHide() {
		if !isDir(dir) || slices.ContainsFunc(keep, func(k string) bool { return within(dir, k) }) {
			continue // what is granted as a whole is not hidden
		}
		if err := p.cover(dir, keep); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	return nil
}

func (p Policy) toHide() []string {
	covered := func(dir string) bool { return within(p.Home, dir) }
	if p.Home == "" || p.Home == "/" || slices.ContainsFunc(hidden, covered) {
		return hidden
	}
	return append(slices.Clone(hidden), p.Home)
}

// granted are all paths that have to stay where they are.
func (p Policy) granted() []string {
	all := slices.Concat(p.readable(os.Getenv("PATH")), p.Write, []string{p.Private})
	if real, err := filepath.EvalSymlinks("/etc/resolv.conf"); err == nil {
		all = append(all, real)
	}
	for _, path := range all {
		if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
			all = append(all, real)
		}
	}
	slices.Sort(all) // a directory before what is in it
	return slices.DeleteFunc(slices.Compact(all), func(path string) bool { return path == "" || !exists(path) })
}

// tree is a kept path and its mount, which is in no place yet.
type tree struct {
	path string
	fd   int
	dir  bool
}

func (p Policy) cover(dir string, keep []string) error {
	var trees []tree
	defer func() {
		for _, t := range trees {
			_ = unix.Close(t.fd)
		}
	}()
	for _, path := range keep {
		if !within(path, dir) || coveredBy(trees, path) {
			continue
		}
		fd, err := detach(path)
		if err != nil {
			return err
		}
		trees = append(trees, tree{path, fd, isDir(path)})
	}
	if err := p.replace(dir); err != nil {
		return err
	}
	for _, t := range trees {
		err := t.attach()
		if err == nil && !slices.ContainsFunc(append(slices.Clone(p.Write), p.Private), func(w string) bool { return within(t.path, w) || within(w, t.path) }) {
			err = readOnly(t.path) // /tmp, which is writable, may hold it
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t.path, err)
		}
	}
	return nil
}

func readOnly(path string) error {
	return unix.MountSetattr(unix.AT_FDCWD, path, unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

// mask puts something empty in the place of what is denied in trees that may be
// written: no rule of Landlock takes a file out of a tree that grows.
func (p Policy) mask() error {
	empty := filepath.Join(p.Private, "denied")
	for _, path := range p.exposed() {
		if isDir(path) {
			if err := unix.Mount("tmpfs", path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_RDONLY, "mode=0755,size=4k"); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			continue
		}
		if err := os.WriteFile(empty, nil, 0o400); err != nil && !errors.Is(err, os.ErrPermission) {
			return err
		}
		if err := unix.Mount(empty, path, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := readOnly(path); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// seal makes all file systems read-only but what the policy lets change. Landlock
// alone leaves modes, owners and times of files to whom they belong.
func (p Policy) seal() error {
	writable := p.writable()
	slices.Sort(writable)
	var trees []tree
	defer func() {
		for _, t := range trees {
			_ = unix.Close(t.fd)
		}
	}()
	for _, path := range writable {
		if coveredBy(trees, path) {
			continue
		}
		fd, err := detach(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		trees = append(trees, tree{path, fd, isDir(path)})
	}
	if err := readOnly("/"); err != nil {
		return err
	}
	for _, t := range trees {
		if err := unix.MoveMount(t.fd, "", unix.AT_FDCWD, t.path, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
			return fmt.Errorf("%s: %w", t.path, err)
		}
	}
	return nil
}

// coveredBy tells whether a path comes back with one of the trees.
func coveredBy(trees []tree, path string) bool {
	return slices.ContainsFunc(trees, func(t tree) bool { return t.dir && within(path, t.path) })
}

func detach(path string) (int, error) {
	return unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
}

func (p Policy) replace(dir string) error {
	if dir != "/tmp" || p.Private == "" {
		return unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size=512m")
	}
	fd, err := detach(p.tmp())
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.MoveMount(fd, "", unix.AT_FDCWD, dir, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// attach puts the tree where it was; its place is made.
func (t tree) attach() error {
	if err := os.MkdirAll(filepath.Dir(t.path), 0o755); err != nil {
		return err
	}
	var err error
	if t.dir {
		err = os.Mkdir(t.path, 0o755)
	} else {
		err = os.WriteFile(t.path, nil, 0o644)
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return unix.MoveMount(t.fd, "", unix.AT_FDCWD, t.path, unix.MOVE_MOUNT_F_EMPTY_PATH)
}
