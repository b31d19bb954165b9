// Package contexts is the store on disk: every attempt at a task is one directory.
//
//	running/<uuid>/  paused/<uuid>/  completed/<uuid>/   a context; completed also holds stopped and failed ones
//	  events.jsonl                                       the log, see package eventlog
//	  events.jsonl.zst                                   the log of one that ended long ago: [Store.Archive]
//	  blobs/<sha256>                                     texts too large for a line
//	  objects/pack/                                      the files that were saved: [Context.Objects]
//	  change.patch                                       work that could not be pushed: [Context.KeepPatch]
//	  *.json *.jsonl planning/<uuid>.jsonl               projection files, rebuildable from the log
//	index/                                               what lists show of all contexts: index.go
//	pause_signal                                         exists: running tasks pause
//	.locks/<uuid>.lock  .locks/<hash of TaskKey>.lock    never moved; [Store.Collect] removes orphans
//	.control/<uuid>.<signal>                             wishes of commands
//	scan.json                                            what rounds saw, for people: [Scan]
//	budget/<day>.json                                    what a day's model calls cost, rebuildable: [Store.Spend]
//	gc.json                                              what was collected last
//	checks.json                                          how far contexts that ended were checked: [Store.CheckPart]
//	.waiting/<uuid>.json                                 what wakes a paused context, rebuildable: [Store.NoteWaiting]
//	.notices/<uuid>.json                                 up to where people were told of a context that is worked on: [Notices]
//	.answers/<hash>                                      what forges answered, kept by their adapters: [AnswersDir]
//	.key                                                 32 random bytes for comment markers
//	cluster.json                                         how far [Store.Mirror] has followed the cluster's history
//	.staging/  .quarantine/                              half-made and set-aside things
//
// Invariants
//
//   - Only the holder of a context's lock writes to it, and the lock is taken
//     before looking where the context is. Readers take no lock and never write.
//   - The log decides the state, the directory follows: a lifecycle event is
//     durable before the rename. A directory behind its log is moved by
//     [Store.Acquire]; one in completed/ whose log never ended is damage.
//   - A context becomes visible only with its first event durable: it is built in
//     .staging/ and renamed into running/.
//   - At any moment, crashes included, a context is in exactly one directory. If
//     somebody copied one by hand, the longer valid log wins and the other copy
//     goes to .quarantine/.
//   - One broken context never stops the others.
//   - The index is written after the event and before the directory moves. It
//     answers quickly or not at all, never wrongly; it can always be made from
//     the logs ([Store.Heal], [Store.RebuildIndex]). It also remembers how far
//     each log had come: one that is shorter is damaged.
//   - A context leaves the store in one step: its directory is renamed into
//     .staging/, and removed there.
//
// Errors: [ExitCode] maps every error of this package to a process exit code.
package contexts

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"agent/internal/cluster"
	"agent/internal/fsx"
)

// Dir is the directory that a context lies in.
type Dir string

// The directories.
const (
	Running   Dir = "running"
	Paused    Dir = "paused"
	Completed Dir = "completed"
)

// Dirs lists them in the order they are searched.
var Dirs = []Dir{Running, Paused, Completed}

const (
	locksDir      = ".locks"
	controlDir    = ".control"
	stagingDir    = ".staging"
	quarantineDir = ".quarantine"
	keyFile       = ".key"
)

var layout = []string{
	string(Running), string(Paused), string(Completed), locksDir, controlDir, stagingDir, quarantineDir,
}

// Options of [Open]. Rand and Warn are called by every goroutine that uses the store.
type Options struct {
	Now      fsx.Clock   // for the age of leftovers; nil leaves them alone
	Rand     io.Reader   // for the key and temporary names; nil is crypto/rand
	Warn     func(error) // gets what was skipped; nil drops it
	Dir      string      // path of the store as the user knows it, for error texts
	Force    bool        // also on network and FUSE file systems, where locks cannot be trusted
	ReadOnly bool        // make and change nothing, a missing layout is an empty store

	Bus    cluster.Bus     // of the cluster that this machine belongs to; nil: it is alone
	Member *cluster.Member // its session there, without which nothing is changed; nil where the store is only read
	Behind bool            // what other machines did could not be asked: what is unknown here may be known there
}

// Store is the tree below one directory. It may be used by several goroutines
// and processes.
type Store struct {
	fs   fsx.FS
	o    Options
	tail int           // entries of the index's tail from which it is merged
	wait time.Duration // how long a name is looked for before it is called unknown
	seen sync.Map      // payload by file of the signals that Pending returned

	missed   sync.Map      // names of objects that the cluster does not have
	claims   sync.Map      // revisions of the keys of tasks that were looked for
	behind   atomic.Bool   // what others did could not be asked
	followed atomic.Uint64 // position of the line that the mirror of this process took last, 0 if there is none

	cache cache
}

// Open checks the store, makes what is missing of its layout, and removes what
// crashed processes left in .staging/. A store that belongs to somebody else or
// is open to others is an [AccessError].
func Open(fsys fsx.FS, o Options) (*Store, error) {
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Warn == nil {
		o.Warn = func(error) {}
	}
	if o.Dir == "" {
		o.Dir = "contexts"
	}
	s := &Store{fs: fsys, o: o, tail: maxTail, wait: lookTime}
	s.behind.Store(o.Behind)
	if err := s.prepare(); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	return s, nil
}

func (s *Store) prepare() error {
	if err := s.checkAccess("."); err != nil {
		return err
	}
	for _, dir := range layout {
		if err := s.prepareDir(dir); err != nil {
			return err
		}
	}
	if s.o.ReadOnly {
		return nil
	}
	if err := s.fs.SyncDir("."); err != nil {
		return err
	}
	if err := s.checkMedium(); err != nil {
		return err
	}
	s.sweep()
	return nil
}

func (s *Store) prepareDir(dir string) error {
	err := s.checkAccess(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if s.o.ReadOnly {
		return nil
	}
	if err := s.fs.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return s.checkAccess(dir)
}
