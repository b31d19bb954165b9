package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// fromMachine are files of the machine that an image's programs need to find hosts.
var fromMachine = []string{"/etc/resolv.conf", "/etc/hosts"}

// enterRoot puts the file system of an image in the place of the machine's. What programs
// change of it goes to a layer in the private directory, so that the image stays as it is
// for others. The policy's own trees come along, each where it was.
//
// An error leaves the machine's files in sight: nothing may be started then.
func (p Policy) enterRoot() (now Policy, notes []string, err error) {
	root := filepath.Join(p.Private, "layer", "root")
	if err := p.layer(root); err != nil {
		return p, nil, err
	}
	trees, err := p.carried()
	if err != nil {
		return p, notes, err
	}
	defer closeTrees(trees)
	if p.Proc, err = p.mountSystem(root); err != nil {
		return p, notes, err
	}
	if !p.Proc {
		notes = append(notes, "/proc cannot be mounted")
	}
	if err := moveIn(root, trees); err != nil { // after /tmp, in which they may lie
		return p, notes, err
	}
	if err := pivot(root); err != nil {
		return p, notes, fmt.Errorf("the image's file system cannot be entered: %w", err)
	}
	if err := p.sealProc(); err != nil {
		return p, notes, err
	}
	if err := p.knowUser(); err != nil {
		notes = append(notes, fmt.Sprintf("the user has no name: %v", err))
	}
	if err := p.mask(); err != nil {
		return p, notes, err
	}
	p.Root, p.Granted, p.Hidden = "", []string{"/"}, true
	p.Write = append(slices.Clone(p.Write), "/")
	return p, notes, nil
}

// layer mounts the image with a layer of changes over it.
func (p Policy) layer(root string) error {
	dir := filepath.Dir(root)
	upper, work := filepath.Join(dir, "upper"), filepath.Join(dir, "work")
	for _, d := range []string{root, upper, work} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s,userxattr", overlayPath(p.Root), overlayPath(upper), overlayPath(work))
	if err := unix.Mount("overlay", root, "overlay", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("the image cannot be mounted (overlayfs in a user namespace needs Linux 5.11): %w", err)
	}
	return nil
}

// overlayPath escapes what separates options and layers.
func overlayPath(path string) string {
	return strings.NewReplacer(`\`, `\\`, ",", `\,`, ":", `\:`).Replace(path)
}

// carried are the mounts of what the policy grants of the machine, read-only where it may only be read.
func (p Policy) carried() (trees []tree, err error) {
	writable := slices.Concat(p.Write, []string{p.home(), p.tmp()})
	read := slices.Clone(p.Read)
	if !p.NoNetwork {
		read = append(read, fromMachine...)
	}
	all := slices.Concat(writable, read)
	slices.Sort(all) // a directory before what is in it
	for _, path := range present(slices.Compact(all)) {
		fd, err := detach(path)
		if err != nil {
			closeTrees(trees)
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		trees = append(trees, tree{path, fd, isDir(path)})
		if slices.ContainsFunc(writable, func(w string) bool { return within(path, w) }) {
			continue
		}
		attr := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
		if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, attr); err != nil {
			closeTrees(trees)
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return trees, nil
}

func closeTrees(trees []tree) {
	for _, t := range trees {
		_ = unix.Close(t.fd)
	}
}

// moveIn attaches the trees below the new root. The image may have links anywhere, so
// each place is found as if that root were entered already.
func moveIn(root string, trees []tree) error {
	for _, t := range trees {
		if err := attachBelow(root, t); err != nil {
			return fmt.Errorf("%s has no place in the image: %w", t.path, err)
		}
	}
	return nil
}

func attachBelow(root string, t tree) error {
	top, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer top.Close()
	name := strings.TrimPrefix(t.path, "/")
	if err := top.MkdirAll(filepath.Dir(name), 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if t.dir {
		err = top.Mkdir(name, 0o755)
	} else {
		err = placeFile(top, name)
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	at, err := unix.Openat2(unix.AT_FDCWD, filepath.Join(root, name), &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS})
	if err != nil {
		return err
	}
	defer unix.Close(at)
	return unix.MoveMount(t.fd, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// placeFile makes an empty file to mount another one on. A link, as resolv.conf often is, gives way.
func placeFile(top *os.Root, name string) error {
	if info, err := top.Lstat(name); err == nil && !info.Mode().IsRegular() {
		if err := top.Remove(name); err != nil {
			return err
		}
	}
	f, err := top.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// mountSystem mounts what every Linux system has and no image brings. It reports whether there is a /proc.
func (p Policy) mountSystem(root string) (proc bool, err error) {
	for _, name := range []string{"dev", "proc", "tmp", "run", "var/tmp"} {
		if err := mkdirBelow(root, name); err != nil {
			return false, fmt.Errorf("/%s: %w", name, err)
		}
	}
	if err := mountDevices(filepath.Join(root, "dev")); err != nil {
		return false, err
	}
	if err := unix.Mount(p.tmp(), filepath.Join(root, "tmp"), "", unix.MS_BIND, ""); err != nil {
		return false, fmt.Errorf("/tmp: %w", err)
	}
	err = unix.Mount("proc", filepath.Join(root, "proc"), "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	return err == nil, nil // without it less works, as in a container that masks its own
}

func mountDevices(dev string) error {
	if err := unix.Mount("tmpfs", dev, "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "mode=0755,size=512m"); err != nil {
		return fmt.Errorf("/dev: %w", err)
	}
	for _, device := range present(slices.Clone(devices)) {
		at := filepath.Join(dev, filepath.Base(device))
		if err := errors.Join(os.WriteFile(at, nil, 0o644), unix.Mount(device, at, "", unix.MS_BIND, "")); err != nil {
			return fmt.Errorf("%s: %w", device, err)
		}
	}
	for name, to := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		if err := os.Symlink(to, filepath.Join(dev, name)); err != nil {
			return err
		}
	}
	return os.Mkdir(filepath.Join(dev, "shm"), 0o777|os.ModeSticky)
}

// mkdirBelow makes a directory of the new root. What is in its place and is no directory is an error.
func mkdirBelow(root, name string) error {
	top, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer top.Close()
	if err := top.MkdirAll(name, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	info, err := top.Lstat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return unix.ENOTDIR
	}
	return nil
}

// pivot makes the directory the root and lets go of the old one.
func pivot(root string) error {
	if err := os.Chdir(root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return err
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return err
	}
	return os.Chdir("/")
}

// sealProc makes /proc read-only. All else inside may be written, and settings of the kernel lie there,
// which root may change without any capability.
func (p Policy) sealProc() error {
	if !p.Proc {
		return nil
	}
	boundPIDs()
	if err := readOnly("/proc"); err != nil {
		return fmt.Errorf("/proc: %w", err)
	}
	return nil
}

// knowUser adds the user to the image's list: many programs stop where it has none.
func (p Policy) knowUser() error {
	const list = "/etc/passwd"
	id := strconv.Itoa(os.Getuid())
	text, err := os.ReadFile(list)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for lines := bufio.NewScanner(strings.NewReader(string(text))); lines.Scan(); {
		if fields := strings.Split(lines.Text(), ":"); len(fields) > 2 && fields[2] == id {
			return nil
		}
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	entry := fmt.Sprintf("agent:x:%s:%d::%s:/bin/sh\n", id, os.Getgid(), p.home())
	return os.WriteFile(list, append(text, entry...), 0o644)
}
