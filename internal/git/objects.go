package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

// Objects is a directory of objects that lies beside no repository, as package snapshot
// keeps it.
type Objects struct{ Dir string }

// Diff is what `git diff-tree` says of two trees. args are options and, after "--", paths,
// which are literal. Every content that differs must be there.
func (o Objects) Diff(ctx context.Context, from, to string, args ...string) (string, error) {
	if !hexName(from) || !hexName(to) || len(from) != len(to) {
		return "", errors.New("git diff-tree: the trees must be names of objects")
	}
	dir, err := os.MkdirTemp("", "agent-git-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	config := map[string][]string{}
	if len(from) == 64 {
		config["extensions.objectformat"] = []string{"sha256"}
	}
	err = errors.Join(os.Mkdir(filepath.Join(dir, "refs"), 0o700),
		os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/none\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "config"), []byte(format(config)), 0o600))
	if err != nil {
		return "", err
	}
	var options, paths []string
	for i, a := range args {
		if a == "--" {
			options, paths = args[:i], args[i+1:]
			break
		}
		options = args[:i+1]
	}
	all := append([]string{"-r", "--no-ext-diff", "--no-textconv"}, options...)
	all = append(append(all, from, to, "--"), paths...)
	return command{name: "diff-tree", args: all, dir: dir, trees: []string{dir}, reads: []string{o.Dir},
		env: []string{"GIT_DIR=" + dir, "GIT_OBJECT_DIRECTORY=" + o.Dir}}.run(ctx)
}
