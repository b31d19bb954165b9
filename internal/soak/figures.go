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
	working                int // tasks that it works on, each of which has files open
	entries                int // files and directories that belong to no context
	ended, endedEntries    int // contexts that ended, and what is in their directories
}

// figures are what must not grow, with what is no growth: a share and some more. What
// running tasks hold and give back hides a leak from the median but not from the floor,
// the least tenth of the samples. Files are counted at moments without a task, if both thirds have any.
var figures = []struct {
	name     string
	quantile float64
	of       func(sample) float64
	share    float64
	more     float64
}{
	{"memory, KiB", middle, func(s sample) float64 { return float64(s.memory) }, 1.15, 6 << 10},
	{openFiles, floor, func(s sample) float64 { return float64(s.files) }, 1, 8},
	{"threads", floor, func(s sample) float64 { return float64(s.threads) }, 1, 6},
	{"files and directories of no context", floor, func(s sample) float64 { return float64(s.entries) }, 1.1, 50},
	{"files and directories of a context that ended", middle, func(s sample) float64 { return float64(s.endedEntries) / float64(max(s.ended, 1)) }, 1.1, 3},
}

const openFiles = "open files"

const (
	floor  = 0.1
	middle = 0.5
)

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
	p.files, p.working = len(open), len(openLogs(s.loop.cmd.Process.Pid))
	bounded := []string{
		s.world.Path("contexts", ".locks") + "/",   // of each context
		s.world.Path("contexts", ".answers") + "/", // by bytes, and those that nobody asks for by days
	}
	for _, top := range []string{"contexts", "workspaces", "tmp", "logs", ".cache"} {
		_ = filepath.WalkDir(s.world.Path(top), func(path string, _ fs.DirEntry, _ error) error { // files come and go meanwhile
			switch root, in := s.contextOf(path); {
			case root == "completed":
				if p.endedEntries++; in == "" {
					p.ended++
				}
			case root == "" && !slices.ContainsFunc(bounded, func(dir string) bool { return strings.HasPrefix(path, dir) }):
				p.entries++
			}
			return nil
		})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples = append(s.samples, p)
}

// contextOf tells in which directory of the store the context of a path is, completed for
// one that ended, and the path below the context's own; "" for a path of no context. A
// working copy belongs to its context: that of a task which was taken off is kept.
func (s *soak) contextOf(path string) (root, in string) {
	if copied, work := strings.CutPrefix(path, s.world.Path("workspaces")+"/"); work {
		uuid, _, _ := strings.Cut(copied, "/")
		for _, root := range []string{"running", "paused", "completed"} {
			if _, err := os.Lstat(s.world.Path("contexts", root, uuid)); err == nil {
				return root, copied
			}
		}
		return "", ""
	}
	for _, root := range []string{"running", "paused", "completed"} {
		if uuid, found := strings.CutPrefix(path, s.world.Path("contexts", root)+"/"); found {
			_, in, _ = strings.Cut(uuid, "/")
			return root, in
		}
	}
	return "", ""
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
	if s.nodes != nil {
		fmt.Fprintf(s.out, "        machines: %d stops (%d between intent and outcome), %d cut off, %d without a network, %d full disks, %d clocks set; %d nodes killed (%d as the leader)\n",
			c.stops, c.effects, c.cuts, c.partitions, c.full, c.steps, c.nodes, c.leaders)
	}
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
		early, late := samples[:third], samples[len(samples)-third:]
		if a, b := idle(early), idle(late); f.name == openFiles && len(a) > 0 && len(b) > 0 {
			early, late = a, b
		}
		first, last := quantile(early, f.quantile, f.of), quantile(late, f.quantile, f.of)
		fmt.Fprintf(s.out, "%s: %.1f in the first third, %.1f in the last\n", f.name, first, last)
		if s.length >= levelsIn && last > first*f.share+f.more {
			s.problem("%s grow from %.1f to %.1f", f.name, first, last)
		}
	}
}

// idle are the samples in which the loop worked on nothing.
func idle(of []sample) []sample {
	return slices.DeleteFunc(slices.Clone(of), func(s sample) bool { return s.working > 0 })
}

func quantile(samples []sample, share float64, of func(sample) float64) float64 {
	sorted := slices.SortedFunc(slices.Values(samples), func(a, b sample) int { return cmp.Compare(of(a), of(b)) })
	return of(sorted[int(share*float64(len(sorted)))])
}
