package try

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const (
	mostFiles = 200_000
	mostBytes = 4 << 30
)

// Source is the directory that the user works on.
type Source struct {
	Dir string // the top of its repository, if it is in one
	Git bool
}

// Open finds the source around a directory.
func Open(ctx context.Context, dir string) (Source, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return Source{}, err
	}
	out, err := git(ctx, dir, nil, nil, "rev-parse", "--show-toplevel")
	if err == nil {
		return Source{Dir: strings.TrimSuffix(string(out), "\n"), Git: true}, nil
	}
	if !strings.Contains(err.Error(), "not a git repository (or any ") || hasGit(dir) {
		return Source{}, fmt.Errorf("nothing was copied, because git does not say which files of %s it ignores: %w", dir, err)
	}
	home, _ := os.UserHomeDir() // "" is no directory
	if dir == home || dir == filepath.Dir(dir) {
		return Source{}, fmt.Errorf("%s is too much to copy: change to the directory of a project", dir)
	}
	return Source{Dir: dir}, nil
}

// hasGit reports whether a directory, or one above it, is meant to be a repository.
func hasGit(dir string) bool {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
		dir = filepath.Dir(dir)
	}
}

// paths are all files that the copy has: of a repository those that git knows, and
// those that it does not ignore.
func (s Source) paths(ctx context.Context) ([]string, error) {
	if s.Git {
		out, err := git(ctx, s.Dir, nil, nil, "-c", "core.fsmonitor=false", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
		if err != nil {
			return nil, err
		}
		all := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		slices.Sort(all)
		return slices.Compact(all), nil
	}
	var all []string
	err := filepath.WalkDir(s.Dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return ctx.Err()
		case len(all) >= mostFiles:
			return fmt.Errorf("there are more than %d files below %s: make it a git repository that ignores what is no source", mostFiles, s.Dir)
		}
		name, err := filepath.Rel(s.Dir, path)
		all = append(all, name)
		return err
	})
	return all, err
}

// snapshot makes a repository of one commit that holds the files as they are now,
// also those that are not committed.
func (s Source) snapshot(ctx context.Context, to string) error {
	paths, err := s.paths(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	if err := s.copyFiles(ctx, to, paths); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "-A", "-f", "."},
		{"commit", "-q", "--allow-empty", "--no-verify", "-m", "The files as they were"},
	} {
		if _, err := git(ctx, to, own, nil, args...); err != nil {
			return err
		}
	}
	return nil
}

func (s Source) copyFiles(ctx context.Context, to string, paths []string) error {
	from, err := os.OpenRoot(s.Dir)
	if err != nil {
		return err
	}
	defer from.Close()
	dest, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer dest.Close()
	var total int64
	for _, name := range paths {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		n, err := copyFile(from, dest, name)
		if err != nil {
			return fmt.Errorf("copy %s: %w", name, err)
		}
		if total += n; total > mostBytes {
			return fmt.Errorf("%s holds more than %d GiB", s.Dir, mostBytes>>30)
		}
	}
	return nil
}

// copyFile copies a file or a link. What is neither, and what was deleted, is left out.
func copyFile(from, to *os.Root, name string) (int64, error) {
	info, err := from.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, err
	case info.Mode()&fs.ModeSymlink == 0 && !info.Mode().IsRegular():
		return 0, nil // a submodule, a socket
	}
	if err := to.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return 0, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := from.Readlink(name)
		if err != nil {
			return 0, err
		}
		return 0, to.Symlink(target, name)
	}
	in, err := from.Open(name)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600|info.Mode()&0o111)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(out, in)
	return n, errors.Join(err, out.Close())
}

// own are variables for git in a repository that is ours: nobody's settings count.
var own = append([]string{"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_DEFAULT_HASH=sha1"}, identity...)

// identity is who makes commits, also in the user's repository.
var identity = []string{
	"GIT_AUTHOR_NAME=agent", "GIT_AUTHOR_EMAIL=agent@users.noreply.invalid",
	"GIT_COMMITTER_NAME=agent", "GIT_COMMITTER_EMAIL=agent@users.noreply.invalid"}

// placesARepository tells variables that lead git to another repository than that of its directory: git sets
// them for hooks and aliases.
func placesARepository(entry string) bool {
	name, _, _ := strings.Cut(entry, "=")
	return slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE", "GIT_QUARANTINE_PATH"}, name)
}

// git runs git in a directory. An error holds what it said, on one line.
func git(ctx context.Context, dir string, env []string, input []byte, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(input)
	cmd.Env = append(append(slices.DeleteFunc(cmd.Environ(), placesARepository), "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C"), env...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil && ctx.Err() != nil {
		return out, ctx.Err()
	}
	if err != nil {
		words := strings.Join(strings.Fields(said.String()), " ")
		return out, fmt.Errorf("git %s: %s (%w)", args[0], words, err)
	}
	return out, nil
}
