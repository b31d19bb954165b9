package workspace

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	maxCommandShown = 20 << 10 // bytes shown of each end of a command's output
	maxRecorded     = 64 << 20 // bytes of it that can be paged
	maxRecordings   = 16       // commands whose output can be paged
	latestSize      = 2 << 10  // bytes of the output that a progress notification has
)

// recording is the output of one command: its ends for the answer, all of it in a
// file that has no name, and what its tests say.
type recording struct {
	mu       sync.Mutex
	id       int
	line     string // the command
	began    time.Time
	took     time.Duration // once it has ended
	end      string        // how it ended, "" while it runs: the exit code, or "killed"
	why      string        // more about that
	ends     output
	fold     folder
	file     *os.File // nil if there is no room for one
	recorded int64
	tests    testReport
	refused  refusals
}

func newRecording(id int, line string) *recording {
	r := &recording{id: id, line: line, began: time.Now()}
	r.ends.most = maxCommandShown
	r.fold.out = r.keep
	if f, err := os.CreateTemp("", "output-"); err == nil {
		_ = os.Remove(f.Name()) // it lives as long as it is open
		r.file = f
	}
	return r
}

func (r *recording) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fold.Write(p)
}

// keep takes a line that a terminal would show.
func (r *recording) keep(line []byte) {
	_, _ = r.ends.Write(line)
	r.refused.line(line)
	r.tests.line(strings.TrimRight(string(line), "\n"))
	if r.file != nil && r.recorded+int64(len(line)) <= maxRecorded {
		n, _ := r.file.Write(line)
		r.recorded += int64(n)
	}
}

// finish notes how the command ended.
func (r *recording) finish(end, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fold.flush(false)
	r.end, r.took = end, time.Since(r.began)
	r.why = strings.Trim(why+"; "+r.refused.text(end), "; ")
}

func (r *recording) close() {
	if r.file != nil {
		_ = r.file.Close()
	}
}

// latest is the end of what was written so far.
func (r *recording) latest() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, tail := r.ends.parts()
	if tail == "" {
		tail, _ = r.ends.parts()
	}
	tail += string(r.fold.line)
	return shown(tail[max(0, len(tail)-latestSize):])
}

// answer says how a command ended, how long it took, what is not shown, and which
// tests failed, always in this order; then comes its output.
func (r *recording) answer() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "exit code: %s\n", r.end)
	head, tail := r.ends.parts()
	notes := []string{fmt.Sprintf("%.1f s", r.took.Seconds())}
	if r.why != "" {
		notes = append(notes, r.why)
	}
	if left := r.ends.total - len(head) - len(tail); left > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d bytes of output left out: command_output with id %d shows them", left, r.ends.total, r.id))
		head = strings.TrimSuffix(head, "\n") + fmt.Sprintf("\n[%d bytes left out]\n", left)
	}
	fmt.Fprintf(&b, "[%s]\n", strings.Join(notes, "; "))
	b.WriteString(r.tests.summary())
	b.WriteString(shown(head + tail))
	return b.String()
}

// text is all that was recorded, with the line that is being written.
func (r *recording) text() io.Reader {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return strings.NewReader(r.ends.String() + string(r.fold.line))
	}
	return io.MultiReader(io.NewSectionReader(r.file, 0, r.recorded), bytes.NewReader(bytes.Clone(r.fold.line)))
}

// status is how a command is doing, in one line.
func (r *recording) status() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.end == "" {
		return fmt.Sprintf("command %d runs since %.0f s: %s", r.id, time.Since(r.began).Seconds(), r.line)
	}
	text := fmt.Sprintf("command %d ended after %.1f s with exit code %s: %s", r.id, r.took.Seconds(), r.end, r.line)
	if r.why != "" {
		text += "; " + r.why
	}
	return text
}
