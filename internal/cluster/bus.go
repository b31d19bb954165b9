// Package cluster lets several machines work on one queue with one history.
//
// [Bus] is the port to the engine that they share: an ordered history, objects,
// keys and a queue. Package jetstream implements it with NATS; clustertest holds one
// in memory and the suite that every implementation passes. On top of a bus this
// package makes the things that workers need: sessions and locks.
//
// The local log stays the first durable copy of what a worker does. The history is the
// replicated one. Each heals the other, and the hash chain of the log tells which of
// them is right. Ownership is the position that an append expects; leases only save
// work and keep effects apart.
package cluster

import (
	"context"
	"errors"
	"iter"
	"time"
)

var (
	// ErrStale says that the position or the revision that was expected is not the last one:
	// somebody else was first. Or nobody was, the change was made, its answer was lost, and
	// somebody followed. Who asked is the owner no more in both cases.
	ErrStale = errors.New("another worker was first")
	// ErrMissing says that there is no such object or key.
	ErrMissing = errors.New("not in the cluster")
	// ErrUnreachable says that the engine did not answer. What was asked for may have
	// been done or not.
	ErrUnreachable = errors.New("the cluster does not answer")
)

// Bus is what the workers of a cluster share. Its methods may be called by several
// goroutines. Errors are those above, or of the context.
type Bus interface {
	History
	Objects
	Keys
	Queue
	Close() error
}

// History is a sequence of lines, each of one context. Positions grow, over all contexts
// and from 1 on; they may have gaps.
type History interface {
	// Append adds a line to a context whose last line is at position after, 0 for a
	// context without lines, and fails with ErrStale if it is not. It returns at once;
	// wait gives the position of the line when it is durable on a majority, and is
	// called once. The line is not kept after Append returned.
	//
	// To repeat an append whose outcome is unknown is no harm: if the last line is this
	// very line, appended after the same position, wait gives its position.
	Append(ctx context.Context, uuid string, after uint64, line []byte) (wait func() (uint64, error))
	// Last gives the last line of a context, with position 0 if there is none.
	Last(ctx context.Context, uuid string) (Line, error)
	// Lines gives the lines of a context in order, beginning at a position, up to the
	// last one that it had when it was asked.
	Lines(ctx context.Context, uuid string, from uint64) iter.Seq2[Line, error]
	// Follow gives the lines of all contexts in order, beginning at a position, and
	// waits for new ones. It ends with an error, that of ctx at last, or ErrMissing if the
	// history ends before that position or is not the one that was followed: it has lost lines.
	Follow(ctx context.Context, from uint64) iter.Seq2[Line, error]
	// End is the position of the last line of all.
	End(ctx context.Context) (uint64, error)
	// Forget removes all lines of a context.
	Forget(ctx context.Context, uuid string) error
}

// Line is a line of a context's log, without its newline.
type Line struct {
	UUID string
	Pos  uint64
	Data []byte
}

// Objects are texts and files that lines name. To put one again is no harm, and replaces it. Names hold letters, digits and . _ - /, as "uuid/blobs/sha256"; a
// prefix ends with a slash, or is a whole name. What is asked about a prefix costs as much
// as what it holds, not as all objects.
type Objects interface {
	// PutObject returns when the object is durable on a majority.
	PutObject(ctx context.Context, name string, data []byte) error
	Object(ctx context.Context, name string) ([]byte, error)
	// ObjectNames lists those with a prefix, in any order.
	ObjectNames(ctx context.Context, prefix string) ([]string, error)
	// RemoveObjects removes those with a prefix.
	RemoveObjects(ctx context.Context, prefix string) error
}

// Keys are small values that are compared and set. Keys hold letters, digits and . _ -
// and /; revisions are never 0.
type Keys interface {
	Key(ctx context.Context, key string) (Value, error)
	// SetKey changes a key whose revision is the given one, 0 for a key that is not there,
	// and fails with ErrStale if it is not. After ErrUnreachable Key tells.
	SetKey(ctx context.Context, key string, data []byte, revision uint64) (uint64, error)
	// DeleteKey removes a key whose revision is the given one.
	DeleteKey(ctx context.Context, key string, revision uint64) error
	// WatchKeys gives the keys with a prefix as they are, then one Value whose Key is empty,
	// and then every change. It ends with an error, that of ctx at last.
	WatchKeys(ctx context.Context, prefix string) iter.Seq2[Value, error]
}

// Value is that of a key.
type Value struct {
	Key      string
	Data     []byte
	Revision uint64
	Deleted  bool // only of WatchKeys
}

// Queue holds what is to be done. A job is given to one worker at a time, and to
// another one if that one does not say for some time that it works on it.
type Queue interface {
	// Offer adds a job, unless one of this id waits in its lane or is worked on: then
	// nothing changes, and that is no error. Of several jobs that wait, those with the
	// lowest lane, 0 to 9, come first, as far as the replicas have seen them. Ids hold what keys hold.
	Offer(ctx context.Context, id string, lane int, data []byte) error
	// Take waits for a job for at most a span of time; a nil job says that there was none.
	Take(ctx context.Context, wait time.Duration) (Job, error)
}

// Job is one that was taken. An error of these methods means at worst that it is given
// to somebody once more.
type Job interface {
	Data() []byte
	Working() error                  // for some more time
	Done() error                     // it is never given to anybody again
	Later(after time.Duration) error // it is given to anybody after a while
}
