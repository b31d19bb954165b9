package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"agent/internal/supervise"
)

const (
	maxJobs   = 8
	startTime = 300 * time.Millisecond // until the first answer about a command in the background
	stopTime  = 5 * time.Second
)

// job is a command in the background. A supervisor runs it, this executable again,
// which kills all that the command has started when its lifeline ends: by us, or by our death.
type job struct {
	*recording
	cmd      *exec.Cmd
	lifeline *os.File
	done     chan struct{}
	stopped  string // why, if it was stopped
}

// records are the commands of this server whose output can be read.
type records struct {
	sync.Mutex
	last int
	all  []*recording
	jobs []*job // those that run
}

// pids are the processes that outlive a command.
func (r *records) pids() (pids []int) {
	r.Lock()
	defer r.Unlock()
	for _, j := range r.jobs {
		pids = append(pids, j.cmd.Process.Pid)
	}
	return pids
}

// record makes room for the output of one more command.
func (w *workspace) record(line string) *recording {
	w.jobs.Lock()
	defer w.jobs.Unlock()
	w.jobs.last++
	r := newRecording(w.jobs.last, line)
	r.refused = w.refusals()
	w.jobs.all = append(w.jobs.all, r)
	if len(w.jobs.all) > maxRecordings {
		old := slices.IndexFunc(w.jobs.all, func(r *recording) bool {
			return !slices.ContainsFunc(w.jobs.jobs, func(j *job) bool { return j.recording == r })
		})
		w.jobs.all[old].close()
		w.jobs.all = slices.Delete(w.jobs.all, old, old+1)
	}
	return r
}

// startJob starts a command and answers with what it says at first.
func (w *workspace) startJob(ctx context.Context, p program, line string) (string, error) {
	if len(w.jobs.pids()) >= maxJobs {
		return "", fmt.Errorf("%d commands run in the background already; stop one with stop_command", maxJobs)
	}
	select {
	case w.running <- struct{}{}: // no job may start while what a command left is looked for
		defer func() { <-w.running }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if _, err := exec.LookPath(p.argv[0]); err != nil && !strings.Contains(p.argv[0], "/") {
		return "", fmt.Errorf("cannot run %q: %w", p.argv[0], unwrapped(err))
	}
	out, theirs, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer theirs.Close()
	life, lifeline, err := os.Pipe()
	if err != nil {
		_ = out.Close()
		return "", err
	}
	defer life.Close()
	j := &job{recording: w.record(line), lifeline: lifeline, done: make(chan struct{})}
	p.argv = slices.Concat([]string{self}, supervise.Args(false, p.argv))
	j.cmd = w.command(p, theirs)
	j.cmd.ExtraFiles = []*os.File{life}
	if err := w.start(j.cmd); err != nil {
		_, _ = out.Close(), lifeline.Close()
		return "", fmt.Errorf("cannot run %q: %w", line, unwrapped(err))
	}
	w.jobs.Lock()
	w.jobs.jobs = append(w.jobs.jobs, j)
	w.jobs.Unlock()
	go w.watch(j, out)
	timer := time.NewTimer(startTime)
	defer timer.Stop()
	select {
	case <-j.done:
	case <-timer.C:
	}
	return "[" + j.status() + "; command_output shows what it writes, stop_command ends it]\n" + j.latest(), nil
}

// watch waits for a job, and stops it when it uses too much.
func (w *workspace) watch(j *job, out *os.File) {
	drained := make(chan struct{})
	go func() { _, _ = io.Copy(j, out); close(drained) }()
	exited := make(chan struct{})
	go func() { _ = j.cmd.Wait(); close(exited) }()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for running := true; running; {
		select {
		case <-exited:
			running = false
		case <-tick.C:
			if used := w.policy.Exceeded(w.dir, os.TempDir()); used != "" {
				j.stop("it used " + used)
			}
		}
	}
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-drained:
	case <-timer.C:
	}
	_ = out.Close()
	<-drained
	_ = j.lifeline.Close()
	w.jobs.Lock()
	w.jobs.jobs = slices.DeleteFunc(w.jobs.jobs, func(other *job) bool { return other == j })
	w.jobs.Unlock()
	j.mu.Lock()
	why := j.stopped
	j.mu.Unlock()
	end := fmt.Sprint(exitCode(j.cmd))
	if why != "" {
		end = "killed"
	}
	j.finish(end, why)
	w.sweep()
	close(j.done)
}

// sweep ends what a job has left, should its supervisor have been killed. While a
// command runs its end does that.
func (w *workspace) sweep() {
	select {
	case w.running <- struct{}{}:
		_, _ = w.endProcesses()
		<-w.running
	default:
	}
}

// stop lets the supervisor end all.
func (j *job) stop(why string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.stopped == "" {
		j.stopped = why
		_ = j.lifeline.Close()
	}
}

// close ends all jobs.
func (r *records) close() {
	r.Lock()
	jobs, all := slices.Clone(r.jobs), r.all
	r.Unlock()
	for _, j := range jobs {
		j.stop("the server ends")
	}
	for _, j := range jobs {
		<-j.done
	}
	for _, one := range all {
		one.close()
	}
}

type outputArgs struct {
	ID      *int   `json:"id"`
	Start   *int   `json:"start_line"`
	End     *int   `json:"end_line"`
	Column  *int   `json:"column"`
	Limit   *int   `json:"limit"`
	Pattern string `json:"pattern"`
	Wait    int    `json:"wait_seconds"`
}

// find is the recording of an id, and the job if it runs.
func (r *records) find(id *int) (*recording, *job, error) {
	r.Lock()
	defer r.Unlock()
	var known []string
	for _, one := range r.all {
		if id != nil && one.id == *id {
			at := slices.IndexFunc(r.jobs, func(j *job) bool { return j.recording == one })
			if at < 0 {
				return one, nil, nil
			}
			return one, r.jobs[at], nil
		}
		known = append(known, fmt.Sprint(one.id))
	}
	if known == nil {
		return nil, nil, errors.New("no command was run yet")
	}
	return nil, nil, fmt.Errorf("id must be that of a command: %s", strings.Join(known, ", "))
}

// commandOutput pages through the output of a command.
func (w *workspace) commandOutput(ctx context.Context, args outputArgs) (string, error) {
	r, j, err := w.jobs.find(args.ID)
	if err != nil {
		return "", err
	}
	asked, err := readArgs{Start: args.Start, End: args.End, Column: args.Column, Limit: args.Limit}.window()
	if err != nil {
		return "", err
	}
	if j != nil && args.Wait > 0 {
		stop := reportProgress(ctx, r.latest)
		timer := time.NewTimer(time.Duration(min(args.Wait, maxTimeout)) * time.Second)
		select {
		case <-j.done:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		stop()
	}
	head := "[" + r.status() + "]\n"
	if args.Pattern != "" {
		found, err := r.grep(args.Pattern)
		return head + found, err
	}
	v := view{asked: asked}
	if args.Start == nil && args.End == nil { // what is new stands at the end
		v.asked.first = max(1, r.lines()-200)
	}
	if err := v.read(r.text()); err != nil {
		return "", err
	}
	if v.total == 0 {
		return head + "[no output]", nil
	}
	text, err := v.answer()
	return head + r.tests.summary() + text, err
}

func (r *recording) lines() (n int) {
	text, _ := io.ReadAll(r.text())
	return strings.Count(string(text), "\n") + 1
}

// grep shows the lines of the output that match.
func (r *recording) grep(expression string) (string, error) {
	re, err := regexp.Compile(expression)
	if err != nil {
		re = regexp.MustCompile(regexp.QuoteMeta(expression))
	}
	text, err := io.ReadAll(r.text())
	if err != nil {
		return "", err
	}
	var found []string
	number := 0
	for line := range strings.Lines(string(text)) {
		if number++; re.MatchString(strings.TrimRight(line, "\n")) {
			found = append(found, fmt.Sprintf("%d\t%s", number, shorten([]byte(line))))
		}
	}
	shown := page(found, 0, 300)
	if len(shown) < len(found) {
		shown = append(slices.Clone(shown), fmt.Sprintf("[%d of %d lines]", len(shown), len(found)))
	}
	if len(found) == 0 {
		return "no matches", nil
	}
	return strings.Join(shown, "\n"), nil
}

type stopArgs struct {
	ID *int `json:"id"`
}

func (w *workspace) stopCommand(_ context.Context, args stopArgs) (string, error) {
	r, j, err := w.jobs.find(args.ID)
	if err != nil {
		return "", err
	}
	if j != nil {
		j.stop("it was stopped")
		timer := time.NewTimer(stopTime)
		defer timer.Stop()
		select {
		case <-j.done:
		case <-timer.C:
			return "", errors.New("it does not end")
		}
	}
	return "[" + r.status() + "]\n" + r.latest(), nil
}
