package git

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"agent/internal/sandbox"
)

// unconfined lets git reach all files. Tests set it, to show what would happen then.
var unconfined = false

// confinement is what a command may reach beside the programs of the system: its
// own trees, and what its remote needs.
func (c command) confinement() sandbox.Confinement {
	f := sandbox.Confinement{Program: "git", Write: c.trees, Network: c.auth.url != "" && !c.auth.local}
	if _, err := os.Stat(c.auth.path()); c.auth.local && err == nil {
		f.Write = append(f.Write[:len(f.Write):len(f.Write)], c.auth.path())
	}
	if f.Network {
		for _, name := range []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH"} {
			if path := os.Getenv(name); filepath.IsAbs(path) {
				f.Read = append(f.Read, path)
			}
		}
	}
	return f
}

// path is where a local remote lies.
func (a auth) path() string {
	path := a.url
	if u, err := url.Parse(a.url); err == nil && u.Scheme == "file" {
		path = u.Path
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// start runs p in the confinement until it ends, on a thread that ends with it.
func (c command) start(p *exec.Cmd) error {
	if unconfined {
		return c.tied(p)
	}
	box, err := c.confinement().Box()
	if err != nil {
		return err
	}
	defer box.Close()
	return box.Start(func() error { return c.tied(p) })
}

// tied runs p so that it ends with us. A command that contacts a remote starts
// processes of its own, which a signal at the death of their parent's parent does
// not reach, and which hold the token.
func (c command) tied(p *exec.Cmd) error {
	if c.auth.url == "" {
		return runTied(p)
	}
	g, err := newGuard()
	if err != nil {
		return err
	}
	defer g.release()
	g.watch(p)
	return runTied(p)
}

// guard is a process that waits for our end, leads a process group, and then
// kills it.
type guard struct {
	shell    *exec.Cmd
	lifeline *os.File // ends when we do
}

func newGuard() (*guard, error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	shell := exec.Command("sh", "-c", "read -r _ <&3; kill -9 0")
	shell.Env, shell.Dir = []string{}, "/"
	shell.ExtraFiles = []*os.File{theirs}
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := shell.Start(); err != nil {
		_ = ours.Close()
		return nil, fmt.Errorf("the shell that ends git with us: %w", err)
	}
	return &guard{shell, ours}, nil
}

// release ends the guard and what is left of its group.
func (g *guard) release() {
	_ = g.lifeline.Close()
	_ = g.shell.Wait() // it was killed, by itself
}

// OpenDir opens a directory that must not be a link. What is read through it lies
// inside, wherever links in it lead.
func OpenDir(dir string) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	named, err := os.Lstat(dir)
	opened, failed := root.Stat(".")
	if err = errors.Join(err, failed); err == nil && !os.SameFile(named, opened) {
		err = fmt.Errorf("%s is a link", dir)
	}
	if err != nil {
		_ = root.Close()
		return nil, err
	}
	return root, nil
}
