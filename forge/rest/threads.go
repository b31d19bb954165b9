package rest

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"agent/forge"
)

const (
	threadsBytes = 16 << 20 // in memory
	threadsFront = 2 << 20  // in memory where the disk has all of them

	// ThreadsLag is after which every machine of a forge knows of an edit.
	ThreadsLag = 2 * time.Minute
)

// Threads keeps long lists of comments, so that of a thread only what is new is fetched.
// It holds no truth: what it gives is completed with what changed since, and counts only
// if there are then as many as the forge says.
type Threads struct {
	disk  *Disk // nil: memory only
	limit int   // bytes in memory

	mu    sync.Mutex
	byKey map[string]Thread
	bytes int
}

// Thread is a list of comments as it was read last.
type Thread struct {
	Of       int64           `json:"of"` // id of the item: another one may have its address by now
	Comments []forge.Comment `json:"comments"`
}

// NewThreads keeps lists in memory, and in disk as well if there is one.
func NewThreads(disk *Disk) *Threads {
	limit := threadsBytes
	if disk != nil {
		limit = threadsFront
	}
	return &Threads{disk: disk, limit: limit, byKey: map[string]Thread{}}
}

// Get gives what is kept under a name.
func (t *Threads) Get(name string) (Thread, bool) {
	t.mu.Lock()
	known, ok := t.byKey[name]
	t.mu.Unlock()
	if ok {
		return known, true
	}
	k := t.disk.read("thread " + name)
	if k == nil || json.Unmarshal(k.body, &known) != nil || len(known.Comments) == 0 {
		return Thread{}, false
	}
	t.put(name, known)
	return known, true
}

// Put keeps a list.
func (t *Threads) Put(name string, thread Thread) {
	t.put(name, thread)
	if t.disk == nil {
		return
	}
	if body, err := json.Marshal(thread); err == nil {
		t.disk.write(&kept{url: "thread " + name, tag: "thread", body: body})
	}
}

func (t *Threads) put(name string, thread Thread) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes += thread.size() - t.byKey[name].size()
	t.byKey[name] = thread
	for other, old := range t.byKey { // in random order
		if t.bytes <= t.limit {
			break
		}
		t.bytes -= old.size()
		delete(t.byKey, other)
	}
}

func (t Thread) size() (n int) {
	for _, c := range t.Comments {
		n += len(c.Body) + perAnswer
	}
	return n
}

// Since is from when on changes are to be asked for.
func (t Thread) Since() time.Time {
	var newest time.Time
	for _, c := range t.Comments {
		if c.UpdatedAt.After(newest) {
			newest = c.UpdatedAt
		}
	}
	return newest.Add(-ThreadsLag)
}

// Version is a comment as it was at a time.
type Version struct {
	ID      string
	Updated time.Time
}

// States are the states of the comments, by what is known of each.
func (t Thread) States() map[Version]string {
	states := map[Version]string{}
	for _, c := range t.Comments {
		states[Version{c.ID, c.UpdatedAt.UTC()}] = c.State
	}
	return states
}

// With is the list with what changed, ordered by time, kind and id.
func (t Thread) With(changed []forge.Comment) []forge.Comment {
	byID := map[string]forge.Comment{}
	for _, c := range slices.Concat(t.Comments, changed) {
		byID[c.Kind+":"+c.ID] = c
	}
	all := make([]forge.Comment, 0, len(byID))
	for _, c := range byID {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b forge.Comment) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.Kind, b.Kind), cmp.Compare(len(a.ID), len(b.ID)), strings.Compare(a.ID, b.ID))
	})
	return all
}

// UpdatedSince leaves out what is older.
func UpdatedSince(all []forge.Comment, since time.Time) []forge.Comment {
	return slices.DeleteFunc(slices.Clone(all), func(c forge.Comment) bool { return c.UpdatedAt.Before(since) })
}
