package git

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Head is the commit that is checked out, 40 or 64 hex digits.
func (r *Repo) Head(ctx context.Context) (commit string, err error) {
	out, err := r.git(ctx, "rev-parse", "--verify", "HEAD^{commit}")
	return strings.TrimSpace(out), err
}

// Status returns the paths that differ from the commit, sorted, relative, with
// slashes; untracked files one by one, ignored ones and submodules not at all.
// A repository inside of the working copy is one path that ends in a slash.
func (r *Repo) Status(ctx context.Context) ([]string, error) {
	out, err := r.run(ctx, command{
		name: "status", args: []string{"--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all"},
		env: []string{"GIT_OPTIONAL_LOCKS=0"},
	})
	if err != nil {
		return nil, err
	}
	var paths []string
	for entry := range strings.SplitSeq(out, "\x00") {
		if len(entry) > 3 { // two letters and a space
			paths = append(paths, entry[3:])
		}
	}
	slices.Sort(paths)
	return paths, nil
}

// Tree puts everything that Status shows into a tree and names it, but nothing of
// without: files, and directories that end in a slash. Also left out are files of
// more than largest bytes and repositories inside of the working copy.
func (r *Repo) Tree(ctx context.Context, largest int64, without []string) (tree string, leftOut []string, err error) {
	if err := r.check(); err != nil {
		return "", nil, fmt.Errorf("git add: %w", err)
	}
	if err := r.unlock("add", "index"); err != nil {
		return "", nil, err
	}
	changed, err := r.Status(ctx)
	if err != nil {
		return "", nil, err
	}
	root, err := OpenDir(r.Dir)
	if err != nil {
		return "", nil, fmt.Errorf("git add: %w", err)
	}
	defer root.Close()
	for _, path := range changed {
		if below(path, without) {
			continue
		}
		info, err := root.Lstat(path)
		if strings.HasSuffix(path, "/") || err == nil && info.Mode().IsRegular() && info.Size() > largest {
			leftOut = append(leftOut, path)
		}
	}
	if err := r.add(ctx, slices.Concat(leftOut, without)); err != nil {
		return "", nil, err
	}
	if err := r.remove(ctx, without); err != nil {
		return "", nil, err
	}
	out, err := r.git(ctx, "write-tree")
	return strings.TrimSpace(out), leftOut, err
}

// add puts all changes into the index, but leaves submodules: for each, git would
// start another one that obeys the configuration in there.
func (r *Repo) add(ctx context.Context, except []string) error {
	index, err := r.git(ctx, "ls-files", "--stage", "-z")
	if err != nil {
		return err
	}
	paths := ".\x00"
	for entry := range strings.SplitSeq(index, "\x00") {
		if what, path, _ := strings.Cut(entry, "\t"); strings.HasPrefix(what, "160000 ") {
			paths += ":(top,exclude,literal)" + path + "\x00"
		}
	}
	for _, path := range except {
		paths += ":(top,exclude,literal)" + path + "\x00"
	}
	_, err = r.run(ctx, command{
		name: "add", args: []string{"--all", "--pathspec-from-file=-", "--pathspec-file-nul"},
		input: paths, magic: true,
	})
	return err
}

// below reports whether a path is one of a list, or in a directory of it.
func below(path string, list []string) bool {
	return slices.ContainsFunc(list, func(p string) bool {
		return path == p || strings.HasSuffix(p, "/") && strings.HasPrefix(path, p)
	})
}

// remove takes paths out of the index, where a tool may have put them.
func (r *Repo) remove(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	list := ""
	for _, path := range paths {
		list += strings.TrimSuffix(path, "/") + "\x00"
	}
	_, err := r.run(ctx, command{
		name: "rm", args: []string{"--cached", "-r", "-f", "--quiet", "--ignore-unmatch", "--pathspec-from-file=-", "--pathspec-file-nul"},
		input: list,
	})
	return err
}

// New lists the paths that Tree would put into a tree and that a commit does not
// hold, and those that it holds. A repository inside of the working copy is one
// path that ends in a slash.
func (r *Repo) New(ctx context.Context, commit string) (fresh, known []string, err error) {
	there, err := r.git(ctx, "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, nil, err
	}
	before, err := r.git(ctx, "ls-tree", "-r", "-z", "--name-only", commit)
	if err != nil {
		return nil, nil, err
	}
	had := map[string]bool{}
	for path := range strings.SplitSeq(strings.TrimSuffix(before, "\x00"), "\x00") {
		had[path] = true
		known = append(known, path)
	}
	for path := range strings.SplitSeq(strings.TrimSuffix(there, "\x00"), "\x00") {
		if path != "" && !had[path] {
			fresh = append(fresh, path)
		}
	}
	slices.Sort(fresh)
	return slices.Compact(fresh), known, nil
}

// FileChange is a path whose content differs between two trees.
type FileChange struct {
	Path           string // bytes as git has them
	Added, Removed int    // lines; 0 for what is not text
	Binary         bool
	Link           bool   // a symbolic link, now
	Submodule      bool   // now
	Size           int64  // of the new content
	Blob, Before   string // names of the new content and the old; zeros for none
}

// Compare lists what differs between a commit and a tree, sorted by path.
func (r *Repo) Compare(ctx context.Context, commit, tree string) ([]FileChange, error) {
	for _, name := range []string{commit, tree} {
		if !hexName(name) {
			return nil, fmt.Errorf("git diff-tree: %q is not an object's name", name)
		}
	}
	changes, err := r.compareRaw(ctx, commit, tree)
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	if err := r.count(ctx, commit, tree, changes); err != nil {
		return nil, err
	}
	return changes, r.measure(ctx, changes)
}

func hexName(s string) bool {
	return len(s) >= 40 && strings.Trim(s, "0123456789abcdef") == ""
}

// compareRaw gives paths, modes and the names of the contents.
func (r *Repo) compareRaw(ctx context.Context, commit, tree string) (changes []FileChange, err error) {
	out, err := r.git(ctx, "diff-tree", "-r", "-z", "--no-renames", "--no-ext-diff", "--raw", "--full-index", commit, tree)
	if err != nil {
		return nil, err
	}
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		meta := strings.Fields(strings.TrimPrefix(fields[i], ":")) // modes, objects, letter
		if len(meta) != 5 {
			return nil, fmt.Errorf("git diff-tree: %q is not a line of it", fields[i])
		}
		changes = append(changes, FileChange{Path: fields[i+1], Link: meta[1] == "120000", Submodule: meta[1] == "160000", Before: meta[2], Blob: meta[3]})
	}
	return changes, nil
}

// count adds the numbers of lines.
func (r *Repo) count(ctx context.Context, commit, tree string, changes []FileChange) error {
	out, err := r.git(ctx, "diff-tree", "-r", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--numstat", commit, tree)
	if err != nil {
		return err
	}
	lines := map[string][2]string{}
	for entry := range strings.SplitSeq(out, "\x00") {
		if part := strings.SplitN(entry, "\t", 3); len(part) == 3 {
			lines[part[2]] = [2]string{part[0], part[1]}
		}
	}
	for i := range changes {
		n := lines[changes[i].Path]
		changes[i].Binary = n[0] == "-"
		changes[i].Added, _ = strconv.Atoi(n[0])
		changes[i].Removed, _ = strconv.Atoi(n[1])
	}
	return nil
}

// measure adds the sizes of the new contents. What is none, as a deleted file, has none.
func (r *Repo) measure(ctx context.Context, changes []FileChange) error {
	names := make([]string, len(changes))
	for i, c := range changes {
		names[i] = c.Blob
	}
	out, err := r.run(ctx, command{name: "cat-file", args: []string{"--batch-check=%(objecttype) %(objectsize)"}, input: lines(names)})
	if err != nil {
		return err
	}
	for i, line := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		if size, isBlob := strings.CutPrefix(line, "blob "); isBlob && i < len(changes) {
			changes[i].Size, _ = strconv.ParseInt(size, 10, 64)
		}
	}
	return nil
}
