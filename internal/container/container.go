// Package container unpacks container images, so that a sandbox can show one to commands in
// place of the machine's own file system (sandbox.Policy.Root).
//
// podman or docker fetch an image and hand out its files; neither runs anything. What runs in
// the image is a process of ours like any other tool server: it ends with us, is bounded and
// confined as without an image, and needs no daemon.
package container

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	pullTime   = 30 * time.Minute // of a large image over a slow line
	unpackTime = 30 * time.Minute
	askTime    = time.Minute // for what a tool knows by itself
)

// Images are those that were unpacked on this machine. It is safe for concurrent use.
type Images struct {
	Dir  string // holds a directory for each content
	Tool string // podman or docker; "": the first that is installed
	Pull bool   // fetch an image that is not there
	Log  *slog.Logger

	mu sync.Mutex // one is unpacked at a time
}

// Image is an unpacked image.
type Image struct {
	Name string   `json:"name"` // as it was asked for
	ID   string   `json:"id"`   // of its content: sha256:…
	Env  []string `json:"env"`  // NAME=value
	Root string   `json:"-"`    // directory with its files
}

// Open returns the image of that name, which it fetches and unpacks if need be. The name is
// looked up again each time: a tag that was pulled again gives another image.
func (i *Images) Open(ctx context.Context, name string) (Image, error) {
	if !IsName(name) {
		return Image{}, fmt.Errorf("container: %q is not the name of an image", name)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	tool, err := i.FindTool()
	if err != nil {
		return Image{}, err
	}
	image, err := i.find(ctx, tool, name)
	if err != nil {
		return Image{}, err
	}
	image.Root = filepath.Join(i.Dir, strings.TrimPrefix(image.ID, "sha256:"), "root")
	if _, err := os.Stat(image.Root); errors.Is(err, fs.ErrNotExist) {
		err = i.unpack(ctx, tool, image)
		if err != nil {
			return Image{}, err
		}
	} else if err != nil {
		return Image{}, fmt.Errorf("container: %w", err)
	}
	now := time.Now()
	_ = os.Chtimes(filepath.Dir(image.Root), now, now) // it only tells Collect that it is used
	return image, nil
}

// ErrNoTool means that nothing is installed that brings images.
var ErrNoTool = errors.New("container: neither podman nor docker is installed")

// FindTool is the path of the program that brings images.
func (i *Images) FindTool() (string, error) {
	if i.Tool != "" {
		path, err := exec.LookPath(i.Tool)
		if err != nil {
			return "", fmt.Errorf("container: %s is not installed", i.Tool)
		}
		return path, nil
	}
	for _, name := range []string{"podman", "docker"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNoTool
}

// find looks an image up, and fetches it if it is not there.
func (i *Images) find(ctx context.Context, tool, name string) (Image, error) {
	image, err := inspect(ctx, tool, name)
	if err == nil || !i.Pull || ctx.Err() != nil {
		return image, err
	}
	i.Log.Info("container image", "image", name, "action", "pull")
	if _, pullErr := run(ctx, pullTime, tool, "pull", "--quiet", name); pullErr != nil {
		return Image{}, pullErr
	}
	return inspect(ctx, tool, name)
}

// Has reports whether an image is there already, as an error if it is not.
func (i *Images) Has(ctx context.Context, name string) error {
	tool, err := i.FindTool()
	if err == nil {
		_, err = inspect(ctx, tool, name)
	}
	return err
}

func inspect(ctx context.Context, tool, name string) (Image, error) {
	out, err := run(ctx, askTime, tool, "image", "inspect", name)
	if err != nil {
		return Image{}, err
	}
	var all []struct {
		ID     string `json:"Id"`
		Config struct{ Env []string }
	}
	if err := json.Unmarshal(out, &all); err != nil || len(all) != 1 {
		return Image{}, fmt.Errorf("container: %s image inspect: the answer is not understood", filepath.Base(tool))
	}
	id := strings.TrimPrefix(all[0].ID, "sha256:")
	if len(id) != 64 || strings.Trim(id, "0123456789abcdef") != "" {
		return Image{}, fmt.Errorf("container: %s image inspect: the id of the image is not understood", filepath.Base(tool))
	}
	return Image{Name: name, ID: "sha256:" + id, Env: all[0].Config.Env}, nil
}

// run returns what a command prints. Its error is one line, with the last that the command said.
func run(ctx context.Context, limit time.Duration, argv ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var out, said bytes.Buffer
	cmd := command(ctx, argv...)
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return nil, failed(ctx, argv, said.String(), err)
	}
	return out.Bytes(), nil
}

func command(ctx context.Context, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

func failed(ctx context.Context, argv []string, said string, err error) error {
	what := filepath.Base(argv[0]) + " " + argv[1]
	if ctx.Err() != nil {
		return fmt.Errorf("container: %s: %w", what, context.Cause(ctx))
	}
	lines := strings.Split(strings.TrimSpace(said), "\n")
	return fmt.Errorf("container: %s: %s", what, cmp.Or(strings.TrimSpace(lines[len(lines)-1]), err.Error()))
}
