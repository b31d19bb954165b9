package viewer

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/fsnotify/fsnotify"

	"agent/eventlog"
)

// Follow gives the bytes of a log that still grows: where it ends, a read waits
// until there is more. It ends when ctx does. name is where the file lies now; its
// directory moves when the context pauses or ends, and the file is still followed.
func Follow(ctx context.Context, log io.Reader, name string) (io.Reader, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { watcher.Close() })
	_ = watcher.Add(name) // it may just have moved: then the clock below is enough
	return &follower{ctx, log, watcher}, nil
}

type follower struct {
	ctx     context.Context
	log     io.Reader
	watcher *fsnotify.Watcher
}

// again is when a log is read again although nobody said that it grew.
const again = time.Second

func (f *follower) Read(p []byte) (int, error) {
	for {
		n, err := f.log.Read(p)
		if n > 0 || !errors.Is(err, io.EOF) {
			return n, err
		}
		select {
		case <-f.ctx.Done():
			return 0, io.EOF
		case <-f.watcher.Events:
		case <-f.watcher.Errors: // such as an overflow: there is more
		case <-time.After(again):
		}
	}
}

// UntilEnd yields the lines of a log up to the end of its context, which is the
// last event of a log.
func UntilEnd(log io.Reader) iter.Seq2[eventlog.Line, error] {
	return func(yield func(eventlog.Line, error) bool) {
		for line, err := range eventlog.ReadAll(log) {
			kind := string(line.Record.Type)
			if !yield(line, err) || kind == "context.completed" || kind == "context.stopped" || kind == "context.failed" {
				return
			}
		}
	}
}
