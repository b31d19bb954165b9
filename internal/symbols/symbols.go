// Package symbols lists what files of source define, with Universal Ctags where that
// is installed. Whoever can push to the repository wrote those files: ctags runs
// confined, reads the working copy and nothing else of the operator's, takes no options
// from files or the environment, and has a few seconds. Without it there are no symbols.
package symbols

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"agent/internal/repomap"
	"agent/internal/sandbox"
	"agent/internal/scratch"
)

const (
	timeLimit   = 5 * time.Second
	outputLimit = 1 << 20
)

// kinds of what others use of a file, as ctags calls them in some language.
var kinds = []string{"class", "struct", "interface", "trait", "enum", "type", "talias", "typedef", "func", "function", "method", "singletonMethod", "module", "namespace", "macro", "impl", "object", "protocol", "const"}

// Of gives the symbols of some files, named relative to dir, in the order of their lines.
func Of(ctx context.Context, dir string, files []string) map[string][]repomap.Symbol {
	if len(files) == 0 || !installed(ctx) {
		return nil
	}
	args := []string{"--options=NONE", "--quiet", "--links=no", "-f", "-", "--sort=no", "--excmd=number", "--fields=Ks"}
	for _, file := range files {
		args = append(args, "./"+file) // no name is an option
	}
	found := map[string][]repomap.Symbol{}
	for line := range strings.Lines(run(ctx, dir, args...)) {
		field := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(field) < 4 || !slices.Contains(kinds, field[3]) {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSuffix(field[2], `;"`))
		if err != nil {
			continue
		}
		file := strings.TrimPrefix(field[1], "./")
		found[file] = append(found[file], repomap.Symbol{Kind: field[3], Name: scoped(field), Line: n})
	}
	return found
}

// scoped is a name with the type that it belongs to.
func scoped(field []string) string {
	if len(field) > 4 {
		kind, scope, _ := strings.Cut(field[4], ":")
		if kind != "package" && kind != "module" && kind != "namespace" && scope != "" {
			parts := strings.FieldsFunc(scope, func(r rune) bool { return r == '.' || r == ':' })
			return parts[len(parts)-1] + "." + field[0]
		}
	}
	return field[0]
}

// installed is asked once: other programs of the name understand other options.
func installed(ctx context.Context) bool {
	once.Do(func() { is = strings.Contains(run(ctx, "/", "--version"), "Universal Ctags") })
	return is
}

var (
	once sync.Once
	is   bool
)

// run returns the beginning of what ctags wrote, in whole lines; nothing if it failed.
func run(ctx context.Context, dir string, args ...string) string {
	program, err := exec.LookPath("ctags")
	if err != nil || !filepath.IsAbs(program) {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	work, remove, err := scratch.Dir(scratch.Ctags) // ctags collects what it finds there
	if err != nil {
		return ""
	}
	defer remove()
	c := sandbox.Confinement{Program: "ctags", Write: []string{work}}
	if dir != "/" {
		c.Read = []string{dir}
	}
	box, err := c.Box()
	if err != nil {
		return ""
	}
	defer box.Close()
	out := &bounded{}
	p := exec.CommandContext(ctx, program, args...)
	p.Dir, p.Env, p.Stdout = dir, []string{"LC_ALL=C", "TMPDIR=" + work}, out
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.Cancel = func() error { return syscall.Kill(-p.Process.Pid, syscall.SIGKILL) }
	p.WaitDelay = time.Second
	if err := box.Start(p.Run); err != nil && ctx.Err() == nil && !out.cut {
		return ""
	}
	text := out.String()
	return text[:strings.LastIndexByte(text, '\n')+1]
}

// bounded keeps the beginning of what is written to it.
type bounded struct {
	bytes.Buffer
	cut bool
}

func (b *bounded) Write(p []byte) (int, error) {
	keep := min(len(p), outputLimit-b.Len())
	b.cut = b.cut || keep < len(p)
	b.Buffer.Write(p[:keep])
	return len(p), nil
}
