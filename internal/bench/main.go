// Bench measures what docs/performance.md promises, beside others where there
// are others. All sides of a comparison take turns within one process, and what
// counts is the median of the ratios: the machine may be busy.
//
//	go run . [-only append,scan,run,files,memory,open,start,index,status,search,large] [-dir DIR] [-rounds N] [-steps N] [-log MIB]
//
// It is a module of its own, so that the peers are no dependencies of the agent.
// SQLite needs a C compiler. DIR must lie on the disk that contexts lie on.
// Nothing here fails because something is slow.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// bench is what all sections share.
type bench struct {
	dir    string // for files, removed at the end
	rounds int
	steps  int
	log    int64 // bytes of the long log

	realSize int64  // bytes of the logs of realStore
	timed    string // build of the agent that notes its syncs, while it plays; "": the usual one plays
	report
}

var sections = []struct {
	name string
	run  func(*bench) error
}{
	{"append", (*bench).appends},
	{"scan", (*bench).scans},
	{"run", (*bench).runs},
	{"files", (*bench).files},
	{"memory", (*bench).memory},
	{"open", (*bench).opens},
	{"start", (*bench).starts},
	{"first", (*bench).first},
	{"index", (*bench).indexes},
	{"status", (*bench).statuses},
	{"search", (*bench).searches},
	{"large", (*bench).large},
}

func main() {
	var b bench
	only := flag.String("only", "", "sections, separated by commas: append scan run files memory open start first index status search large")
	dir := flag.String("dir", "", "where files are written (default: the directory for temporary files)")
	mib := flag.Int64("log", 128, "MiB of the log in the section memory")
	flag.IntVar(&b.rounds, "rounds", 100, "rounds of a comparison")
	flag.IntVar(&b.steps, "steps", 200, "tool calls in the section run")
	flag.Parse()
	b.log = *mib << 20
	if err := b.all(*dir, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (b *bench) all(dir, only string) (err error) {
	if b.dir, err = os.MkdirTemp(dir, "agent-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	b.out = os.Stdout
	fmt.Fprintf(b.out, "%s/%s, %d cores, %s\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	for _, s := range sections {
		if only != "" && !slices.Contains(strings.Split(only, ","), s.name) {
			continue
		}
		if err := s.run(b); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		b.flush()
	}
	return nil
}

// build makes a program of the agent's module, once.
func (b *bench) build(pkg, name string) (string, error) {
	return b.buildWith("CGO_ENABLED=0", pkg, name)
}

// buildTagged is the agent with a tag of the build.
func (b *bench) buildTagged(tag, name string) (string, error) {
	return b.buildWith("CGO_ENABLED=0", agentPackage, name, "-tags", tag)
}

// buildC is build for a program that needs a C compiler.
func (b *bench) buildC(pkg, name string) (string, error) {
	return b.buildWith("CGO_ENABLED=1", pkg, name)
}

func (b *bench) buildWith(setting, pkg, name string, flags ...string) (string, error) {
	path := filepath.Join(b.dir, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	cmd := exec.Command("go", slices.Concat([]string{"build", "-trimpath", "-o", path}, flags, []string{pkg})...)
	cmd.Env = append(os.Environ(), setting)
	if pkg == agentPackage {
		cmd.Dir = filepath.Join("..", "..")
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("build %s: %w", pkg, err)
	}
	return path, nil
}

const agentPackage = "./cmd/agent"

// must ends the benchmark: what it guards cannot fail but by a fault of ours or of the machine.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
