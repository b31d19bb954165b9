package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sample is what the undisturbed loop and the disk hold at one moment.
type sample struct {
	at                     time.Duration
	memory, files, threads int // of the loop; KiB
	entries                int // files and directories beside those of what ended
	ended, endedEntries    int // contexts that ended, and what is in their directories
}

// figures are what must not grow, with what is no growth: a share and some more.
var figures = []struct {
	name  string
	of    func(sample) float64
	share float64
	more  float64
}{
	{"memory, KiB", func(s sample) float64 { return float64(s.memory) }, 1.15, 6 << 10},
	{"open files", func(s sample) float64 { return float64(s.files) }, 1, 8},
	{"threads", func(s sample) float64 { return float64(s.threads) }, 1, 6},
	{"files and directories beside what ended", func(s sample) float64 { return float64(s.entries) }, 1.1, 150},
	{"files and directories of a context that ended", func(s sample) float64 { return float64(s.endedEntries) / float64(max(s.ended, 1)) }, 1.1, 3},
}

// watch takes samples and prints a line every minute, six in all at least.
func (s *soak) watch() {
	every := min(time.Minute, s.length/6)
	for n := 1; s.pause(every / 6); n++ {
		s.take()
		if n%6 == 0 {
			s.line()
		}
	}
}

func (s *soak) take() {
	p := sample{at: time.Since(s.began)}
	proc := fmt.Sprintf("/proc/%d/", s.loop.cmd.Process.Pid)
	status, err := os.ReadFile(proc + "status")
	if err != nil {
		s.problem("the loop is gone: %v", err)
		return
	}
	p.memory, p.threads = field(string(status), "VmRSS:"), field(string(status), "Threads:")
	open, _ := os.ReadDir(proc + "fd")
	p.files = len(open)
	completed := s.world.Path("contexts", "completed") + "/"
	bounded := []string{
		s.world.Path("contexts", ".locks") + "/",   // of each context
		s.world.Path("contexts", ".answers") + "/", // by bytes, and those that nobody asks for by days
	}
	for _, top := range []string{"contexts", "workspaces", "tmp", "logs", ".cache"} {
		_ = filepath.WalkDir(s.world.Path(top), func(path string, _ fs.DirEntry, _ error) error { // files come and go meanwhile
			switch in, ended := strings.CutPrefix(path, completed); {
			case ended && !strings.Contains(in, "/"):
				p.ended++
			case ended:
				p.endedEntries++
			case s.keptWork(path):
				p.endedEntries++
			case !slices.ContainsFunc(bounded, func(dir string) bool { return strings.HasPrefix(path, dir) }):
				p.entries++
			}
			return nil
		})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples = append(s.samples, p)
}

// keptWork tells whether something belongs to the working copy of a task that was taken
// off: its work is nowhere else.
func (s *soak) keptWork(path string) bool {
	in, work := strings.CutPrefix(path, s.world.Path("workspaces")+"/")
	if !work {
		return false
	}
	uuid, _, _ := strings.Cut(in, "/")
	_, err := os.Lstat(s.world.Path("contexts", "completed", uuid))
	return err == nil
}

func field(status, name string) int {
	_, rest, _ := strings.Cut(status, name)
	n, _ := strconv.Atoi(strings.Fields(rest + " 0")[0])
	return n
}

// line prints how things stand.
func (s *soak) line() {
	open := s.openTasks()
	s.mu.Lock()
	defer s.mu.Unlock()
	last := sample{}
	if len(s.samples) > 0 {
		last = s.samples[len(s.samples)-1]
	}
	c := s.counts
	fmt.Fprintf(s.out, "%6s  %d tasks, %d open, %d wrong; %d kills, %d runs to their end, %d outages (%d used-up limits), %d pauses; loop: %.1f MiB, %d files, %d threads; %d entries on disk\n",
		time.Since(s.began).Round(time.Second), len(s.tasks), open, len(s.problems), c.kills, c.runs, c.outages, c.limits, c.pauses,
		float64(last.memory)/1024, last.files, last.threads, last.entries)
}

// levelsIn is the shortest soak whose first third is more than a beginning.
const levelsIn = 5 * time.Minute

// printFigures compares the last third with the first.
func (s *soak) printFigures() {
	samples := s.samples
	third := len(samples) / 3
	if third == 0 {
		s.problem("%d samples are too few", len(samples))
		return
	}
	for _, f := range figures {
		first, last := median(samples[:third], f.of), median(samples[len(samples)-third:], f.of)
		fmt.Fprintf(s.out, "%s: %.1f in the first third, %.1f in the last\n", f.name, first, last)
		if s.length >= levelsIn && last > first*f.share+f.more {
			s.problem("%s grow from %.1f to %.1f", f.name, first, last)
		}
	}
}

func median(samples []sample, of func(sample) float64) float64 {
	sorted := slices.SortedFunc(slices.Values(samples), func(a, b sample) int { return cmp.Compare(of(a), of(b)) })
	return of(sorted[len(sorted)/2])
}
