package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"agent/internal/scratch"
)

// git runs a command in the working copy.
func (r *Repo) git(ctx context.Context, name string, args ...string) (string, error) {
	return r.run(ctx, command{name: name, args: args})
}

// run runs a command in the working copy, with the configuration of a seat.
func (r *Repo) run(ctx context.Context, c command) (string, error) {
	return r.seated(ctx, c, func(string) error { return nil })
}

// seated is run; what the command did to its seat can be looked at before that is gone.
func (r *Repo) seated(ctx context.Context, c command, after func(seat string) error) (string, error) {
	if err := r.check(); err != nil { // it may have been replaced since
		return "", fmt.Errorf("git %s: %w", c.name, err)
	}
	config, err := r.config(ctx)
	if err != nil {
		return "", err
	}
	seat, remove, err := scratch.Dir(scratch.Git)
	if err != nil {
		return "", fmt.Errorf("git %s: %w", c.name, err)
	}
	defer remove()
	if err := r.furnish(seat, config); err != nil {
		return "", fmt.Errorf("git %s: %w", c.name, err)
	}
	own := filepath.Join(r.Dir, ".git")
	c.dir, c.trees = r.Dir, []string{r.Dir, seat}
	c.env = append(c.env, "GIT_DIR="+own, "GIT_WORK_TREE="+r.Dir,
		"GIT_COMMON_DIR="+seat, "GIT_OBJECT_DIRECTORY="+filepath.Join(own, "objects"))
	out, err := c.run(ctx)
	if err != nil {
		return "", err
	}
	return out, after(seat)
}

// furnish fills the directory from which git takes what is shared by the working
// trees of a repository: configuration, info, hooks, remotes, grafts. It has
// none of them but a configuration that states the format; the references are
// the working copy's.
func (r *Repo) furnish(dir string, config map[string][]string) error {
	own := filepath.Join(r.Dir, ".git")
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "config"), []byte(format(config)), 0o600),
		os.Symlink(filepath.Join(own, "refs"), filepath.Join(dir, "refs")),
		os.Symlink(filepath.Join(own, "packed-refs"), filepath.Join(dir, "packed-refs")),
		os.Symlink(filepath.Join(own, "shallow"), filepath.Join(dir, "shallow")))
}

// format is the configuration of a seat: of the working copy's only what says
// how files and objects are stored, each with one of the values it can have.
func format(config map[string][]string) string {
	last := func(key string) string {
		values := append([]string{""}, config[key]...)
		return values[len(values)-1]
	}
	text := "[core]\n\tbare = false\n\tlogallrefupdates = false\n"
	for _, name := range []string{"filemode", "ignorecase", "precomposeunicode", "symlinks"} {
		if value := last("core." + name); value == "true" || value == "false" {
			text += "\t" + name + " = " + value + "\n"
		}
	}
	if last("extensions.objectformat") == "sha256" {
		return text + "\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"
	}
	return text + "\trepositoryformatversion = 0\n"
}

// config reads the working copy's own configuration as data, without what it
// includes. A key has all its values, in order.
func (r *Repo) config(ctx context.Context) (map[string][]string, error) {
	root, err := OpenDir(r.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	text, err := root.ReadFile(".git/config")
	if err != nil {
		return nil, fmt.Errorf("git config: %w", err)
	}
	return parsed.config(ctx, string(text))
}

// parsed remembers the latest configuration that git parsed: it is the same for
// nearly every command, and asking git for it costs as much as the command.
var parsed parsedConfig

type parsedConfig struct {
	sync.Mutex
	text   string
	values map[string][]string
}

func (p *parsedConfig) config(ctx context.Context, text string) (map[string][]string, error) {
	p.Lock()
	defer p.Unlock()
	if p.values != nil && p.text == text {
		return p.values, nil
	}
	out, err := command{name: "config", dir: os.TempDir(), env: []string{"GIT_DIR=/dev/null"}, input: text,
		args: []string{"--file", "-", "--no-includes", "--null", "--list"}}.run(ctx)
	if err != nil {
		return nil, err
	}
	values := map[string][]string{}
	for entry := range strings.SplitSeq(out, "\x00") {
		if key, value, _ := strings.Cut(entry, "\n"); key != "" {
			values[key] = append(values[key], value)
		}
	}
	p.text, p.values = text, values
	return values, nil
}

// check wants a .git of plain files and directories: git would follow a link to
// anywhere and wait for ever at a pipe. A clone borrows no objects: they would
// be those of another repository. Hooks may be links, for they are not used.
func (r *Repo) check() error {
	if err := checkDir(r.Dir); err != nil {
		return err
	}
	root, err := OpenDir(r.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if _, err := root.Lstat(".git/objects/info/alternates"); err == nil && r.auth.url != "" {
		return errors.New("the working copy's .git was changed: it borrows objects")
	}
	if _, err := root.Lstat(".git/commondir"); err == nil {
		return errors.New("the working copy's .git was changed: it shares another one's references")
	}
	return fs.WalkDir(root.FS(), ".git", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == ".git/hooks":
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.Type()&^fs.ModeDir != 0:
			return fmt.Errorf("the working copy's .git was changed: %q is not a plain file", strings.TrimPrefix(path, ".git/"))
		}
		return nil
	})
}
