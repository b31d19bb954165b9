package workspace

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"agent/eventlog/event"
	"agent/handlers/prompt"
	"agent/internal/git"
	"agent/internal/repomap"
	"agent/internal/snapshot"
	"agent/internal/symbols"
	"agent/projections"
)

// maxWalked bounds the list of a directory that is no git repository.
const maxWalked = 20_000

// Bounds of the files with rules for directories below the root.
const (
	maxNested      = 60
	maxNestedFile  = 16 << 10  // bytes read of one
	maxNestedTotal = 128 << 10 // and of all
)

// Project reads the rules and the list of files of the working copy. Whoever
// can push to the repository chose what lies there.
func (w *Copy) Project(ctx context.Context, s *projections.State) (event.ProjectRead, error) {
	thaw, err := w.freeze(ctx, s)
	if err != nil {
		return event.ProjectRead{}, err
	}
	defer thaw()
	var known *snapshot.Tree
	if w.fresh(s) && s.Workspace.Continued.From == "" && w.held != nil && w.held.uuid == s.Created.UUID {
		known = w.held.base
	}
	return projectOf(ctx, s, known), nil
}

// projectOf asks git for the list of files, if it is not that of a tree that is known.
func projectOf(ctx context.Context, s *projections.State, known *snapshot.Tree) (read event.ProjectRead) {
	dir := s.Workspace.Dir
	if s.Workspace.InPlace { // the operator may have named a link
		dir, _ = filepath.EvalSymlinks(dir)
	}
	root, err := git.OpenDir(dir)
	if err != nil {
		return event.ProjectRead{Error: err.Error()}
	}
	defer root.Close()
	paths, problem := filePaths(ctx, root, known)
	problems := []error{problem}
	m := repomap.New(paths, taskText(s))
	read.Total = len(paths)
	if rule := s.Config.Project; rule.Rules {
		read.Rules, err = readRules(root, repomap.RuleFiles, rule.MaxFile, rule.MaxTotal)
		problems = append(problems, err)
		nested := m.Rules()
		read.Nested, err = readRules(root, nested[:min(len(nested), maxNested)], min(rule.MaxFile, maxNestedFile), min(rule.MaxTotal, maxNestedTotal))
		problems = append(problems, err)
	}
	if s.Config.Project.Files {
		read.Map = event.T(m.Text(repomap.Options{Tokens: prompt.MapTokens(s.Config), Depth: s.Config.Project.MaxDepth, Details: details(ctx, root, m.Wanted())}))
	}
	if err := errors.Join(problems...); err != nil {
		read.Error = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return read
}

// taskText is what the map takes files from that the task may mean.
func taskText(s *projections.State) string {
	if s.Task == nil {
		return ""
	}
	return s.Task.Title + "\n" + s.Task.Body.View()
}

// details are the sizes and symbols of some files.
func details(ctx context.Context, root *os.Root, paths []string) map[string]repomap.Detail {
	all := map[string]repomap.Detail{}
	var plain []string
	for _, p := range paths {
		if info, err := root.Lstat(p); err == nil && info.Mode().IsRegular() && info.Size() < largestParsed && !strings.ContainsAny(p, "\t\n") {
			all[p] = repomap.Detail{Size: info.Size()}
			plain = append(plain, p)
		}
	}
	for p, found := range symbols.Of(ctx, root.Name(), plain) {
		all[p] = repomap.Detail{Size: all[p].Size, Symbols: found}
	}
	return all
}

// largestParsed is how many bytes a file has at most whose symbols are looked for.
const largestParsed = 1 << 20

// readRules reads at most maxFile bytes of each file and maxTotal of all. A file
// with the content of another in its directory is that other one.
func readRules(root *os.Root, names []string, maxFile, maxTotal int) (rules []event.RuleFile, err error) {
	type text struct {
		dir string
		sum [sha256.Size]byte
	}
	var seen []text
	for _, name := range names {
		data, size, problem := readRule(root, name, min(maxFile, maxTotal))
		if problem != nil {
			err = errors.Join(err, problem)
			continue
		}
		if len(data) == 0 && size > 0 {
			err = errors.Join(err, fmt.Errorf("%s has no room beside the others: raise project_agent_rules.limits.max_total_size", name))
		}
		this := text{path.Dir(name), sha256.Sum256(data)}
		if len(data) == 0 || slices.Contains(seen, this) {
			continue
		}
		seen, maxTotal = append(seen, this), maxTotal-len(data)
		rules = append(rules, event.RuleFile{Path: name, Text: event.T(string(data)), Bytes: size, Cut: int64(len(data)) < size})
	}
	return rules, err
}

// readRule reads the beginning of a plain file. A link to another of the rule
// files is no file of its own; other links are not followed, not even inside of
// the working copy, where things lie that nobody committed.
func readRule(root *os.Root, name string, most int) (data []byte, size int64, err error) {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, nil
	case err != nil:
		return nil, 0, err
	case info.Mode()&fs.ModeSymlink != 0:
		if target, _ := root.Readlink(name); slices.Contains(repomap.RuleFiles, path.Clean(target)) {
			return nil, 0, nil
		}
		return nil, 0, fmt.Errorf("%s is a link, which is not followed", name)
	case !info.Mode().IsRegular():
		return nil, 0, fmt.Errorf("%s is not a plain file", name)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		return nil, 0, fmt.Errorf("%s was changed while it was read", name)
	}
	data, err = io.ReadAll(io.LimitReader(f, int64(most)))
	if int64(len(data)) < info.Size() {
		data = wholeRunes(data)
	}
	return data, info.Size(), err
}

// wholeRunes leaves out a character that was cut at the end.
func wholeRunes(data []byte) []byte {
	for i := len(data) - 1; i >= max(0, len(data)-utf8.UTFMax); i-- {
		if utf8.RuneStart(data[i]) {
			if !utf8.FullRune(data[i:]) {
				return data[:i]
			}
			break
		}
	}
	return data
}

// filePaths lists what git knows, or what lies in a directory that is none of git's.
func filePaths(ctx context.Context, root *os.Root, known *snapshot.Tree) (paths []string, err error) {
	if known != nil && known.Whole() {
		known.Walk(func(path string, _ snapshot.Entry) { paths = append(paths, path) })
		slices.Sort(paths) // it walks by directories
		return paths, nil
	}
	if repo, err := git.Open(root.Name()); err == nil {
		return repo.Files(ctx)
	}
	seen := 0
	err = fs.WalkDir(root.FS(), ".", func(p string, entry fs.DirEntry, err error) error {
		if seen++; seen > maxWalked {
			return fmt.Errorf("the list of files ends after %d entries", maxWalked)
		}
		switch {
		case err != nil && entry != nil && entry.IsDir():
			return fs.SkipDir // that nobody may read
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case !entry.IsDir():
			paths = append(paths, p)
		}
		return ctx.Err()
	})
	return paths, err
}
