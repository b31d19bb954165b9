package container

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"agent/internal/fsx"
)

const (
	newPrefix = ".new-"        // of the names of directories that are not complete
	label     = "agent.unpack" // of containers that are made for their files only
	abandoned = 24 * time.Hour // then whoever made it is gone
)

// unpack makes the directory of an image. It appears as a whole or not at all.
func (i *Images) unpack(ctx context.Context, tool string, image Image) error {
	i.Log.Info("container image", "image", image.Name, "action", "unpack")
	if err := os.MkdirAll(i.Dir, 0o700); err != nil {
		return fmt.Errorf("container: %w", err)
	}
	dir, err := os.MkdirTemp(i.Dir, newPrefix)
	if err != nil {
		return fmt.Errorf("container: %w", err)
	}
	defer fsx.RemoveTree(dir) // it has another name by then, if all went well
	root := filepath.Join(dir, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		return fmt.Errorf("container: %w", err)
	}
	if err := export(ctx, tool, image, root); err != nil {
		return err
	}
	err = os.Rename(dir, filepath.Dir(image.Root))
	if errors.Is(err, fs.ErrExist) {
		return nil // another process was faster
	}
	if err != nil {
		return fmt.Errorf("container: %w", err)
	}
	return nil
}

// export writes the files of an image to a directory. The tools hand out those of a
// container, so one is made, which never runs.
func export(ctx context.Context, tool string, image Image, root string) error {
	_, _ = run(ctx, askTime, tool, "container", "prune", "--force", "--filter", "label="+label, "--filter", "until=2h") // left by a kill
	out, err := run(ctx, askTime, tool, "create", "--label", label, "--network", "none", image.ID, "/bin/true")
	if err != nil {
		return err
	}
	id := strings.TrimSpace(string(out))
	defer run(context.WithoutCancel(ctx), askTime, tool, "rm", "--force", id) //nolint:errcheck // the next one prunes it
	ctx, cancel := context.WithTimeout(ctx, unpackTime)
	defer cancel()
	argv := []string{tool, "export", id}
	cmd := command(ctx, argv...)
	var said bytes.Buffer
	cmd.Stderr = &said
	files, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("container: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("container: %w", err)
	}
	unpackErr := Unpack(files, root)
	if unpackErr != nil {
		cancel()
	}
	if err := cmd.Wait(); err != nil && unpackErr == nil {
		return failed(ctx, argv, said.String(), err)
	}
	return unpackErr
}

// Unpack writes the files of a tar stream below a directory. Nothing outside is touched, whatever
// the names and links in it say. Devices are left out, and so are the bits that let a program
// run as somebody else. Owners are kept for root, who alone may.
func Unpack(r io.Reader, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("container: %w", err)
	}
	defer root.Close()
	u := unpacker{root: root, owners: os.Geteuid() == 0, modes: map[string]fs.FileMode{}}
	for files := tar.NewReader(r); ; {
		header, err := files.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = u.add(header, files)
		}
		if err != nil {
			return fmt.Errorf("container: the image cannot be unpacked: %w", err)
		}
	}
	for name, mode := range u.modes { // only now: nothing can be added to a directory that is read-only
		if err := root.Chmod(name, mode); err != nil {
			return fmt.Errorf("container: %w", err)
		}
	}
	return nil
}

type unpacker struct {
	root   *os.Root
	owners bool
	modes  map[string]fs.FileMode // of directories
}

func (u *unpacker) add(h *tar.Header, content io.Reader) error {
	name := strings.TrimPrefix(path.Clean("/"+h.Name), "/")
	if name == "" {
		return nil
	}
	if err := u.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	mode := fs.FileMode(h.Mode).Perm()
	switch h.Typeflag {
	case tar.TypeDir:
		if err := u.root.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		u.modes[name] = mode | 0o700 // we have to be able to remove it
	case tar.TypeReg:
		if err := u.file(name, mode|0o400, content); err != nil {
			return err
		}
		_ = u.root.Chtimes(name, time.Time{}, h.ModTime) // some caches compare it; without it they work again
	case tar.TypeSymlink:
		if err := u.link(name, func() error { return u.root.Symlink(h.Linkname, name) }); err != nil {
			return err
		}
	case tar.TypeLink:
		to := strings.TrimPrefix(path.Clean("/"+h.Linkname), "/")
		if err := u.link(name, func() error { return u.root.Link(to, name) }); err != nil {
			return err
		}
	default:
		return nil
	}
	if !u.owners {
		return nil
	}
	return u.root.Lchown(name, h.Uid, h.Gid)
}

func (u *unpacker) file(name string, mode fs.FileMode, content io.Reader) error {
	if err := u.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := u.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Chmod(mode), f.Close())
}

func (u *unpacker) link(name string, link func() error) error {
	if err := u.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return link()
}
