// Package machine finds the programs for developers that commands can use here, with
// their versions. A program is asked for its version once: the answer is kept in a
// file, by the program's path, size and time, for a day. What cannot be kept is asked
// for again. A script that stands for a program (as those of pyenv) is only named: what
// it runs depends on where it is run.
package machine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"agent/internal/lazyregexp"
)

// Program is one that was found.
type Program struct{ Name, Version string }

func (p Program) String() string { return strings.TrimSpace(p.Name + " " + p.Version) }

// programs are what is looked for, in this order, with the argument that makes each
// tell its version; without one it is only named, since it takes long to start.
var programs = []struct{ name, ask string }{
	{"git", "--version"}, {"go", "version"}, {"node", "--version"}, {"npm", ""}, {"pnpm", ""}, {"yarn", ""}, {"deno", "--version"}, {"bun", "--version"},
	{"python3", "--version"}, {"pip3", ""}, {"uv", "--version"}, {"cargo", "--version"}, {"rustc", "--version"}, {"gcc", "--version"}, {"clang", "--version"},
	{"make", "--version"}, {"cmake", "--version"}, {"ninja", "--version"}, {"java", "-version"}, {"mvn", ""}, {"gradle", ""}, {"ruby", "--version"}, {"php", "--version"},
	{"dotnet", ""}, {"swift", "--version"}, {"rg", "--version"}, {"jq", "--version"}, {"sqlite3", "--version"}, {"docker", ""},
}

const (
	askLimit = 10 * time.Second // of one program
	kept     = 24 * time.Hour
	parallel = 4
)

var version = lazyregexp.New(`\d+\.\d+(\.\d+)*`)

// known is what a program answered.
type known struct {
	Version string    `json:"version"`
	Asked   time.Time `json:"asked"`
}

// Find looks programs up in a PATH. file keeps the answers; "" for none.
func Find(ctx context.Context, path, file string) []Program {
	answers := read(file)
	found := make([]Program, len(programs))
	keys := make([]string, len(programs))
	fresh := map[string]known{}
	var mu sync.Mutex
	var all sync.WaitGroup
	slots := make(chan struct{}, parallel)
	for i, p := range programs {
		program, info := lookUp(path, p.name)
		if program == "" {
			continue
		}
		found[i].Name = p.name
		keys[i] = fmt.Sprintf("%s %d %d", program, info.Size(), info.ModTime().UnixNano())
		switch a, ok := answers[keys[i]]; {
		case p.ask == "":
		case ok && time.Since(a.Asked) < kept && time.Since(a.Asked) >= 0:
			mu.Lock()
			found[i].Version, fresh[keys[i]] = a.Version, a
			mu.Unlock()
		default:
			all.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				answer := known{ask(ctx, program, p.ask, path), time.Now()}
				mu.Lock()
				defer mu.Unlock()
				found[i].Version, fresh[keys[i]] = answer.Version, answer
			})
		}
	}
	all.Wait()
	if ctx.Err() == nil && changed(answers, fresh) {
		write(file, fresh)
	}
	var list []Program
	for _, p := range found {
		if p.Name != "" {
			list = append(list, p)
		}
	}
	return list
}

// Named are the programs in an image, whose files lie below root. None is run: their versions are not known.
func Named(root, path string) (found []Program) {
	top, err := os.OpenRoot(root)
	if err != nil {
		return nil
	}
	defer top.Close()
	for _, p := range programs {
		for _, dir := range filepath.SplitList(path) {
			if _, err := top.Lstat(filepath.Join(strings.TrimPrefix(dir, "/"), p.name)); err == nil {
				found = append(found, Program{Name: p.name})
				break
			}
		}
	}
	return found
}

func changed(before, now map[string]known) bool {
	for key, a := range now {
		if before[key] != a {
			return true
		}
	}
	return len(before) != len(now)
}

// lookUp finds a program in a PATH, and follows links to what it is.
func lookUp(path, name string) (program string, info os.FileInfo) {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue // it would depend on where we are
		}
		found, err := exec.LookPath(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		if info, err = os.Stat(found); err == nil {
			return found, info
		}
	}
	return "", nil
}

// ask runs a program for its version, outside of any repository.
func ask(ctx context.Context, program, argument, path string) string {
	if script(program) {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, argument)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + path, "LC_ALL=C", "GOTOOLCHAIN=local", "GOFLAGS=", "GOENV=off"}
	for _, name := range []string{"HOME", "RUSTUP_HOME", "JAVA_HOME"} {
		if value := os.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &limited{&out}, &limited{&out}
	if err := cmd.Run(); err != nil {
		return ""
	}
	return version.FindString(out.String())
}

// limited keeps the beginning of what is written.
type limited struct{ to *bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	l.to.Write(p[:min(len(p), max(0, 4096-l.to.Len()))])
	return len(p), nil
}

// script is true for a text that another program runs.
func script(program string) bool {
	f, err := os.Open(program)
	if err != nil {
		return true
	}
	defer f.Close()
	head := make([]byte, 2)
	_, err = io.ReadFull(f, head)
	return err != nil || string(head) == "#!"
}

// read gives the answers that are kept; whatever is wrong with them, they are asked for anew.
func read(file string) map[string]known {
	answers := map[string]known{}
	if data, err := os.ReadFile(file); err == nil && json.Unmarshal(data, &answers) != nil {
		return map[string]known{}
	}
	for key, a := range answers {
		if a.Version != "" && !whole.MatchString(a.Version) {
			delete(answers, key)
		}
	}
	return answers
}

// whole is what an answer that is kept may be: it reaches a model.
var whole = lazyregexp.New(`^\d+(\.\d+)+$`)

// write keeps answers. Without them nothing but time is lost.
func write(file string, answers map[string]known) {
	data, err := json.Marshal(answers)
	if err != nil || file == "" || os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".programs-")
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if closed := f.Close(); err != nil || closed != nil || os.Rename(f.Name(), file) != nil {
		_ = os.Remove(f.Name())
	}
}
