package webui

import (
	"io/fs"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/fsx"
)

// counting counts the bytes that are read of files.
type counting struct {
	fsx.FS
	read atomic.Int64
}

func (c *counting) OpenFile(name string, flag int, perm fs.FileMode) (fsx.File, error) {
	f, err := c.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return counted{f, c}, nil
}

type counted struct {
	fsx.File
	c *counting
}

func (f counted) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.c.read.Add(int64(n))
	return n, err
}

func (f counted) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.File.ReadAt(p, at)
	f.c.read.Add(int64(n))
	return n, err
}

// The first page of a log, the page of an event and the list take a few parts of a large log,
// however large it is: that they come at once is this, not the clock.
func TestPagesOfALargeLogReadLittle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const mostRead = 3 << 20
	output := event.T(strings.Repeat("A line of the output of a command.\n", 1700)) // as much as a line holds
	for i, calls := range []int{200, 600} {
		c := w.context(i, "Much to do")
		for range calls {
			w.append(c, &event.ToolRequested{Server: "workspace", Tool: "run_command"}, &event.ToolReplied{Content: output})
		}
		must(t, c.Close())
	}
	below, err := fsx.OpenOS(w.home)
	must(t, err)
	files := &counting{FS: below}
	w.store, err = contexts.Open(files, contexts.Options{Dir: w.home})
	must(t, err)
	at := w.serve(Options{})
	for _, path := range []string{"/", "/c/" + id(0), "/c/" + id(1), "/c/" + id(1) + "?until=40", "/c/" + id(1) + "/e/7"} {
		files.read.Store(0)
		code, body := get(t, at+path)
		if n := files.read.Load(); code != http.StatusOK || n > mostRead || !strings.Contains(path, "/c/") && !strings.Contains(body, "Much to do") {
			t.Errorf("%s: %d, %d KiB were read", path, code, n>>10)
		} else {
			t.Logf("%s: %d KiB were read, the page has %d", path, n>>10, len(body)>>10)
		}
	}
}
