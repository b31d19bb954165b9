package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"agent/eventlog/event"
	"agent/internal/git"
	"agent/internal/snapshot"
	"agent/projections"
)

// readProject reads a directory with limits that are smaller than the defaults.
func readProject(dir string) event.ProjectRead {
	s := projections.NewState()
	s.Workspace = &event.WorkspacePrepared{Dir: dir, InPlace: true}
	s.Config = &event.ConfigPinned{ContextLength: 128_000, Project: event.ProjectRule{Rules: true, MaxFile: 100, MaxTotal: 150, Files: true, MaxDepth: -1}}
	return projectOf(context.Background(), s, nil)
}

func putFile(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

// gitIn runs git in a directory.
func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// TestProjectFiles reads rule files as repositories have them and as attackers make them.
func TestProjectFiles(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "secret")
	putFile(t, outside, "outside")
	type files = map[string]string
	link := func(target string) func(dir, name string) error {
		return func(dir, name string) error { return os.Symlink(target, filepath.Join(dir, name)) }
	}
	fifo := func(dir, name string) error { return syscall.Mkfifo(filepath.Join(dir, name), 0o600) }
	sparse := func(dir, name string) error {
		path := filepath.Join(dir, name)
		return errors.Join(os.WriteFile(path, []byte("Sparse."), 0o600), os.Truncate(path, 1<<40))
	}
	type special = map[string]func(dir, name string) error
	for name, test := range map[string]struct {
		files   files
		special special
		want    string // name:bytes:cut:text, one a line
		wrong   string // in Error
	}{
		"none":             {files{"README.md": "x", "agents.md": "x", "sub/AGENTS.md": "x", "AGENTS.md.bak": "x"}, nil, "", ""},
		"all":              {files{"AGENT.md": "c", "CLAUDE.md": "b", "AGENTS.md": "a"}, nil, "AGENTS.md:1:false:a\nCLAUDE.md:1:false:b\nAGENT.md:1:false:c\n", ""},
		"copies":           {files{"AGENT.md": "a", "CLAUDE.md": "a", "AGENTS.md": "a"}, nil, "AGENTS.md:1:false:a\n", ""},
		"empty":            {files{"AGENT.md": "", "AGENTS.md": "a"}, nil, "AGENTS.md:1:false:a\n", ""},
		"link to another":  {files{"AGENTS.md": "a"}, special{"CLAUDE.md": link("AGENTS.md"), "AGENT.md": link("./AGENTS.md")}, "AGENTS.md:1:false:a\n", ""},
		"link to a secret": {files{".env": "KEY=1", "CLAUDE.md": "b"}, special{"AGENTS.md": link(".env"), "AGENT.md": link(".git/config")}, "CLAUDE.md:1:false:b\n", "AGENTS.md is a link, which is not followed; AGENT.md is a link, which is not followed"},
		"link out":         {nil, special{"AGENTS.md": link(outside), "AGENT.md": link("../../../../../../../../../../../../etc/passwd")}, "", "AGENTS.md is a link, which is not followed; AGENT.md is a link"},
		"link to itself":   {nil, special{"AGENTS.md": link("AGENTS.md"), "CLAUDE.md": link("AGENT.md"), "AGENT.md": link("CLAUDE.md")}, "", ""},
		"a pipe":           {files{"CLAUDE.md": "b"}, special{"AGENTS.md": fifo}, "CLAUDE.md:1:false:b\n", "AGENTS.md is not a plain file"},
		"a directory":      {files{"AGENTS.md/AGENTS.md": "a"}, nil, "", "AGENTS.md is not a plain file"},
		"too long":         {files{"AGENTS.md": strings.Repeat("a", 101)}, nil, "AGENTS.md:101:true:" + strings.Repeat("a", 100) + "\n", ""},
		"just right":       {files{"AGENTS.md": strings.Repeat("a", 100)}, nil, "AGENTS.md:100:false:" + strings.Repeat("a", 100) + "\n", ""},
		"whole characters": {files{"AGENTS.md": "aa" + strings.Repeat("規", 40)}, nil, "AGENTS.md:122:true:aa" + strings.Repeat("規", 32) + "\n", ""},
		"together":         {files{"AGENTS.md": strings.Repeat("a", 90), "CLAUDE.md": strings.Repeat("b", 90), "AGENT.md": "c"}, nil, "AGENTS.md:90:false:" + strings.Repeat("a", 90) + "\nCLAUDE.md:90:true:" + strings.Repeat("b", 60) + "\n", "AGENT.md has no room beside the others"},
		"huge":             {nil, special{"AGENTS.md": sparse}, "AGENTS.md:1099511627776:true:Sparse." + strings.Repeat("\x00", 93) + "\n", ""},
	} {
		dir := t.TempDir()
		for file, text := range test.files {
			putFile(t, filepath.Join(dir, file), text)
		}
		for file, make := range test.special {
			must(t, make(dir, file))
		}
		got := ""
		read := readProject(dir)
		for _, r := range read.Rules {
			got += fmt.Sprintf("%s:%d:%v:%s\n", r.Path, r.Bytes, r.Cut, r.Text.Inline)
		}
		if got != test.want || !strings.HasPrefix(read.Error, test.wrong) || (test.wrong == "") != (read.Error == "") {
			t.Errorf("%s:\n%.300q, want\n%.300q\nerror %q, want %q", name, got, test.want, read.Error, test.wrong)
		}
	}
	if read := readProject(filepath.Join(t.TempDir(), "gone")); read.Error == "" || read.Rules != nil || read.Total != 0 {
		t.Errorf("of no directory: %+v", read)
	}
}

// TestListOfACommit: the list that is read of the commit is the one that git gives.
func TestListOfACommit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a.b", "a/b", "a-b", "a/b.c/d", "名/ファイル", "with space", "Z", "z", "-dash", "deep/er/still/x"} {
		putFile(t, filepath.Join(dir, name), name)
	}
	must(t, os.Symlink("a.b", filepath.Join(dir, "link")))
	gitIn(t, dir, "init", "-q")
	gitIn(t, dir, "add", "-A")
	gitIn(t, dir, "update-index", "--add", "--cacheinfo", "160000,1111111111111111111111111111111111111111,module")
	gitIn(t, dir, "commit", "-qm", "first")
	root, err := git.OpenDir(dir)
	must(t, err)
	defer root.Close()
	tree, err := baseTree(t.Context(), dir, snapshot.Head(dir))
	must(t, err)
	asked, err := filePaths(t.Context(), root, nil)
	must(t, err)
	read, err := filePaths(t.Context(), root, tree)
	if err != nil || len(asked) < 12 || !slices.Equal(asked, read) {
		t.Errorf("git says %q, and the commit %q, %v", asked, read, err)
	}
}

// TestProjectList lists 10,000 files, known to git and not, without following a link.
func TestProjectList(t *testing.T) {
	t.Parallel()
	for _, repository := range []bool{true, false} {
		dir := t.TempDir()
		for i := range 10_000 {
			path := filepath.Join(dir, fmt.Sprintf("pkg%03d", i/100), fmt.Sprintf("f%d.go", i))
			if i%100 == 0 {
				must(t, os.Mkdir(filepath.Dir(path), 0o700))
			}
			must(t, os.Link(first(t, dir), path))
		}
		must(t, os.Symlink("/etc", filepath.Join(dir, "etc")))
		must(t, os.Rename(filepath.Join(dir, "one"), filepath.Join(dir, "a\nb\x1b[2J")))
		if repository {
			gitIn(t, dir, "init", "-q", "-b", "main")
			gitIn(t, dir, "add", "-A")
			putFile(t, filepath.Join(dir, "untracked"), "x")
		}
		read := readProject(dir)
		text := read.Map.Inline
		if read.Error != "" || read.Total != 10_002 || !strings.Contains(text, "\n\"a\\nb\\x1b[2J\", etc\npkg000/ 100") || !strings.Contains(text, "\npkg099/ 100") || strings.Contains(text, "passwd") {
			t.Errorf("repository %v: %d files, error %q\n%s", repository, read.Total, read.Error, text)
		}
	}
	dir := t.TempDir()
	gitIn(t, dir, "init", "-q")
	putFile(t, filepath.Join(dir, ".git", "index"), "damaged")
	putFile(t, filepath.Join(dir, "AGENTS.md"), "a")
	if read := readProject(dir); len(read.Rules) != 1 || read.Total != 0 || !strings.Contains(read.Error, "git ls-files") || strings.Contains(read.Error, "\n") || !utf8.ValidString(read.Error) {
		t.Errorf("with a damaged index: %+v", read)
	}
}

// first is a file whose hard links are the others: it makes them fast.
func first(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "one")
	if _, err := os.Lstat(path); err != nil {
		putFile(t, path, "x")
	}
	return path
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
