package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// plainDiff keeps git from running what a repository configures to show changes.
var plainDiff = []string{"--no-ext-diff", "--no-textconv", "--no-color"}

// maxNewLines bounds what git_diff shows of one new file.
const maxNewLines = 400

type diffArgs struct {
	Path string `json:"path"`
	Rev  string `json:"rev"`
}

func (w *workspace) gitDiff(ctx context.Context, args diffArgs) (string, error) {
	base := args.Rev
	if base == "" {
		var err error
		if base, err = w.base(ctx); err != nil {
			return "", err
		}
	} else if err := w.revision(ctx, base); err != nil {
		return "", err
	}
	paths, err := w.pathspec(args.Path)
	if err != nil {
		return "", err
	}
	command := append([]string{"diff", "--ignore-submodules=dirty"}, plainDiff...)
	diff, err := w.gitText(ctx, append(append(command, "--end-of-options", base, "--"), paths...)...)
	if err != nil {
		return "", err
	}
	untracked, err := w.gitText(ctx, append([]string{"ls-files", "-z", "--others", "--exclude-standard", "--"}, paths...)...)
	if err != nil {
		return "", err
	}
	for _, name := range strings.Split(strings.TrimSuffix(untracked, "\x00"), "\x00") {
		if name != "" && len(diff) < maxAnswer {
			diff += w.newFile(name)
		}
	}
	if diff == "" {
		return "no changes", nil
	}
	if len(diff) > maxAnswer {
		return w.longDiff(ctx, base, paths, diff)
	}
	return diff, nil
}

// longDiff is a diff that does not fit: all names, and its beginning.
func (w *workspace) longDiff(ctx context.Context, base string, paths []string, diff string) (string, error) {
	stat, err := w.gitText(ctx, append(append([]string{"diff", "--stat=100", "--ignore-submodules=dirty"}, plainDiff...), append([]string{"--end-of-options", base, "--"}, paths...)...)...)
	return firstLines(stat, maxAnswer/4) + firstLines(diff, maxAnswer/2), err
}

// firstLines is as much of a text as has room, in whole lines, with a word on the rest.
func firstLines(text string, most int) string {
	if len(text) <= most {
		return text
	}
	kept := cutAt(text, most)
	if i := strings.LastIndexByte(kept, '\n'); i >= 0 {
		kept = kept[:i+1]
	}
	return kept + fmt.Sprintf("[%d more lines; name a path to see less at once]\n", strings.Count(text[len(kept):], "\n"))
}

// newFile shows a file that git does not know yet as a diff does.
func (w *workspace) newFile(name string) string {
	head := fmt.Sprintf("diff --git a/%s b/%s\nnew file\n", name, name)
	f, info, err := w.openFile(name)
	if err != nil {
		return head + "[a link, or no regular file]\n"
	}
	defer f.Close()
	data, _ := io.ReadAll(io.LimitReader(f, maxAnswer))
	text, _, err := decodeText(data)
	if err != nil {
		return head + fmt.Sprintf("Binary file of %d bytes\n", info.Size())
	}
	if text == "" {
		return head
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	shownLines := lines[:min(len(lines), maxNewLines)]
	body := fmt.Sprintf("--- /dev/null\n+++ b/%s\n@@ -0,0 +1,%d @@\n+%s\n", name, len(lines), strings.Join(shownLines, "\n+"))
	if len(shownLines) < len(lines) || info.Size() > int64(len(data)) {
		body += "[the rest is left out: read_file shows it]\n"
	}
	return head + shown(body)
}

// pathspec limits git to a path, whatever characters it has.
func (w *workspace) pathspec(path string) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	name, err := w.relative(path)
	if err != nil {
		return nil, err
	}
	return []string{":(literal)" + name}, nil
}

// revision refuses what git does not know as a commit or an object.
func (w *workspace) revision(ctx context.Context, rev string) error {
	r, err := w.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", rev)
	if err == nil && r.code != 0 {
		err = fmt.Errorf("there is no revision %q here%s", rev, w.shallowNote())
	}
	return err
}

// shallowNote says that history was cut, where it was.
func (w *workspace) shallowNote() string {
	if _, err := w.root.Lstat(".git/shallow"); err != nil {
		return ""
	}
	return "; the clone is shallow, older commits are not here"
}

type logArgs struct {
	Path   string `json:"path"`
	Rev    string `json:"rev"`
	Limit  int    `json:"limit"`
	Search string `json:"pattern"`
}

func (w *workspace) gitLog(ctx context.Context, args logArgs) (string, error) {
	paths, err := w.pathspec(args.Path)
	if err != nil {
		return "", err
	}
	rev := cmp.Or(args.Rev, "HEAD")
	limit := min(max(cmp.Or(args.Limit, 20), 1), 200)
	command := []string{"log", "--max-count=" + strconv.Itoa(limit), "--no-show-signature", "--no-color", "--date=short", "--format=%h %ad %an: %s"}
	if args.Search != "" {
		command = append(command, "--extended-regexp", "--regexp-ignore-case", "--grep="+args.Search)
	}
	command = append(append(command, "--end-of-options", rev, "--"), paths...)
	text, err := w.gitText(ctx, command...)
	if err != nil {
		return "", err
	}
	if text == "" {
		text = "no commits\n"
	}
	return firstLines(text, maxAnswer) + w.shallowLine(), nil
}

func (w *workspace) shallowLine() string {
	if note := w.shallowNote(); note != "" {
		return "[" + strings.TrimPrefix(note, "; ") + "]\n"
	}
	return ""
}

type showArgs struct {
	Rev  string `json:"rev"`
	Path string `json:"path"`
}

func (w *workspace) gitShow(ctx context.Context, args showArgs) (string, error) {
	rev := cmp.Or(args.Rev, "HEAD")
	if err := w.revision(ctx, rev); err != nil {
		return "", err
	}
	paths, err := w.pathspec(args.Path)
	if err != nil {
		return "", err
	}
	command := append([]string{"show", "--no-show-signature", "--date=short", "--format=commit %H%nAuthor: %an%nDate: %ad%n%n%B", "--stat", "--patch"}, plainDiff...)
	text, err := w.gitText(ctx, append(append(command, "--end-of-options", rev, "--"), paths...)...)
	return firstLines(text, maxAnswer), err
}

type blameArgs struct {
	Path  *string `json:"path"`
	Start *int    `json:"start_line"`
	End   *int    `json:"end_line"`
	Rev   string  `json:"rev"`
}

func (w *workspace) gitBlame(ctx context.Context, args blameArgs) (string, error) {
	if err := required(map[string]*string{"path": args.Path}); err != nil {
		return "", err
	}
	name, err := w.relative(*args.Path)
	if err != nil {
		return "", err
	}
	asked, err := readArgs{Start: args.Start, End: args.End}.window()
	if err != nil {
		return "", err
	}
	if args.End == nil {
		asked.last = asked.first + 199
	}
	command := []string{"blame", "--date=short", "--no-textconv", fmt.Sprintf("-L%d,%d", asked.first, asked.last)}
	if args.Rev != "" {
		if err := w.revision(ctx, args.Rev); err != nil {
			return "", err
		}
		command = append(command, args.Rev)
	}
	text, err := w.gitText(ctx, append(command, "--", name)...)
	if err != nil {
		return "", err
	}
	return firstLines(text, maxAnswer) + w.shallowLine(), nil
}

type restoreArgs struct {
	Path *string `json:"path"`
	Rev  string  `json:"rev"`
}

// gitRestore brings a file back as it was in a commit.
func (w *workspace) gitRestore(ctx context.Context, args restoreArgs) (string, error) {
	if err := required(map[string]*string{"path": args.Path}); err != nil {
		return "", err
	}
	name, err := w.slot(*args.Path)
	if err != nil {
		return "", err
	}
	switch info, err := w.root.Lstat(name); {
	case err == nil && info.IsDir():
		return "", fmt.Errorf("%q is a directory; name a file", *args.Path)
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, os.ErrNotExist):
		return "", plain(*args.Path, err)
	}
	rev := cmp.Or(args.Rev, "HEAD")
	r, err := w.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+":"+name)
	switch {
	case err != nil:
		return "", err
	case r.code != 0:
		return "", fmt.Errorf("%s has no file %q%s", rev, *args.Path, w.shallowNote())
	}
	if _, err := w.gitText(ctx, "restore", "--source="+strings.TrimSpace(rev), "--staged", "--worktree", "--", ":(literal)"+name); err != nil {
		return "", err
	}
	return fmt.Sprintf("restored %s as it is in %s", *args.Path, rev), nil
}
