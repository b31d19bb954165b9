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
	"agent/projections"
)

// ruleFiles are the files with rules for agents, in the order in which they are shown.
var ruleFiles = []string{"AGENTS.md", "CLAUDE.md", "AGENT.md"}

// maxWalked bounds the list of a directory that is no git repository.
const maxWalked = 20_000

// Project reads the rules and the list of files of the working copy. Whoever
// can push to the repository chose what lies there.
func (w *Copy) Project(ctx context.Context, s *projections.State) (read event.ProjectRead) {
	thaw, err := w.freeze(ctx, s)
	if err != nil {
		return event.ProjectRead{Error: err.Error()}
	}
	defer thaw()
	dir := s.Workspace.Dir
	if s.Workspace.InPlace { // the operator may have named a link
		dir, _ = filepath.EvalSymlinks(dir)
	}
	root, err := git.OpenDir(dir)
	if err != nil {
		return event.ProjectRead{Error: err.Error()}
	}
	defer root.Close()
	var problems []error
	if rule := s.Config.Project; rule.Rules {
		read.Rules, err = readRules(root, rule.MaxFile, rule.MaxTotal)
		problems = append(problems, err)
	}
	if s.Config.Project.Files {
		paths, err := filePaths(ctx, root)
		list, more := prompt.FileList(s.Config, paths)
		read.Files, read.Total, read.More = event.T(strings.Join(list, "\n")), len(paths), more
		problems = append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		read.Error = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return read
}

// readRules reads at most maxFile bytes of each file and maxTotal of all. A file
// with the content of another is that other one.
func readRules(root *os.Root, maxFile, maxTotal int) (rules []event.RuleFile, err error) {
	var seen [][sha256.Size]byte
	for _, name := range ruleFiles {
		data, size, problem := readRule(root, name, min(maxFile, maxTotal))
		if problem != nil {
			err = errors.Join(err, problem)
			continue
		}
		if len(data) == 0 && size > 0 {
			err = errors.Join(err, fmt.Errorf("%s has no room beside the others: raise project_agent_rules.limits.max_total_size", name))
		}
		sum := sha256.Sum256(data)
		if len(data) == 0 || slices.Contains(seen, sum) {
			continue
		}
		seen, maxTotal = append(seen, sum), maxTotal-len(data)
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
		if target, _ := root.Readlink(name); slices.Contains(ruleFiles, path.Clean(target)) {
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
func filePaths(ctx context.Context, root *os.Root) ([]string, error) {
	if repo, err := git.Open(root.Name()); err == nil {
		return repo.Files(ctx)
	}
	var paths []string
	seen := 0
	err := fs.WalkDir(root.FS(), ".", func(p string, entry fs.DirEntry, err error) error {
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
