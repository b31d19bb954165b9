package contexts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"agent/forge"
	"agent/internal/fsx"
)

const (
	scanFile  = "scan.json"
	scanLock  = "scan.lock"
	scanForm  = 1
	maxScan   = 16 << 20 // bytes
	maxItems  = 5000
	maxReason = 500 // characters
)

// lockPatience is how long a short piece of work waits for the lock of another one.
const lockPatience = 5 * time.Second

// What a round did with an item.
const (
	Taken     = "taken"     // a context was made for it
	Continued = "continued" // a context that was begun was worked on
	Waiting   = "waiting"   // its context is paused, and nothing ends the pause yet
	Skipped   = "skipped"   // it was looked at and left
	Busy      = "busy"      // another process works on it
	Failed    = "failed"    // an error ended the attempt
)

// Scan is what rounds saw: the content of scan.json. It is a note for people,
// nothing is decided by it. Its zero value is that of a store without rounds.
type Scan struct {
	Format int                 `json:"format"`
	Round  time.Time           `json:"round,omitzero"` // end of the latest round, whatever it found
	Hosts  map[string]HostScan `json:"hosts"`          // by the host of task keys
	Items  []Sighting          `json:"items"`          // newest first, one for each task key, at most 5,000
	Polls  map[string]Poll     `json:"polls"`          // looks at waiting contexts, by uuid
	Fault  *FaultSeen          `json:"fault,omitempty"`
	Ended  map[string]Change   `json:"ended,omitempty"` // items whose task has ended, by task key
}

// Change is the latest change of an item, by its forge's clock, whose comments were read. That clock tells
// seconds, so they are read twice.
type Change struct {
	Time  time.Time `json:"time"`
	Twice bool      `json:"twice,omitempty"`
}

// FaultSeen is the latest fault of the machine that ended a round. In a note, one
// without a class says that the machine was looked at and is well.
type FaultSeen struct {
	Time  time.Time `json:"time"`
	Class string    `json:"class"`
	Text  string    `json:"text"` // with what to do
}

// HostScan is the latest scan of one forge.
type HostScan struct {
	Time    time.Time `json:"time,omitzero"`
	Success time.Time `json:"success,omitzero"` // of the latest scan without an error
	Found   int       `json:"found"`            // labelled items of that one
	Error   string    `json:"error,omitempty"`  // of the latest scan, one line
	Gaps    []int64   `json:"gaps,omitempty"`   // seconds between the latest successful scans, the newest last
	Ended   time.Time `json:"ended,omitzero"`   // when items whose task has ended were listed
}

const maxGaps = 5

// Distance is the usual time between two successful scans, as far as it is known: the
// median, since a machine may have been switched off.
func (h HostScan) Distance() time.Duration {
	if len(h.Gaps) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(h.Gaps))
	return time.Duration(sorted[len(sorted)/2]) * time.Second
}

// Sighting is what the latest round did with one item, and why.
type Sighting struct {
	TaskKey string    `json:"task_key"`
	Time    time.Time `json:"time"`
	Outcome string    `json:"verdict"`
	Reason  string    `json:"reason"`
	UUID    string    `json:"uuid,omitempty"` // of its context
}

// Poll counts the looks at a waiting context that appended nothing to its log.
type Poll struct {
	Count int       `json:"count"`
	Last  time.Time `json:"last"`
}

// Scan reads scan.json. A missing or damaged one is empty; damage goes to Options.Warn.
func (s *Store) Scan() (Scan, error) {
	var scan Scan
	data, err := fsx.ReadFile(s.fs, scanFile, maxScan)
	switch {
	case isMissing(err):
		return emptyScan(), nil
	case errors.Is(err, fsx.ErrTooLarge), errors.Is(err, fsx.ErrNotRegular):
	case err != nil:
		return emptyScan(), fmt.Errorf("read scan: %w", err)
	default:
		err = json.Unmarshal(data, &scan)
	}
	if err != nil || scan.Format != scanForm {
		s.o.Warn(&Warning{Name: scanFile, Reason: "it cannot be read, and is begun anew"})
		return emptyScan(), nil
	}
	return emptyScan().with(scan), nil
}

func emptyScan() Scan {
	return Scan{Format: scanForm, Hosts: map[string]HostScan{}, Items: []Sighting{}, Polls: map[string]Poll{}}
}

// Note adds what a round saw to scan.json: of two notes on one host or item the
// later one stays, polls add up. Processes that do it at once wait for each other.
func (s *Store) Note(seen Scan) error {
	lock, err := s.lockSoon(scanLock)
	if err != nil {
		return fmt.Errorf("write scan: %w", err)
	}
	defer lock.Close()
	old, err := s.Scan()
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(old.with(seen), "", " ")
	if err != nil {
		return fmt.Errorf("write scan: %w", err)
	}
	if err := s.put(scanFile, append(data, '\n'), s.fs.Rename); err != nil {
		return fmt.Errorf("write scan: %w", err)
	}
	return nil
}

// Add puts later notes on top.
func (n *Scan) Add(later Scan) { *n = emptyScan().with(*n).with(later) }

// News tells whether later notes say something else than these, times and counts aside.
func (n Scan) News(later Scan) bool {
	for host, h := range later.Hosts {
		if old, known := n.Hosts[host]; !known || old.Found != h.Found && !h.Success.IsZero() || old.Error != h.Error {
			return true
		}
	}
	items := make(map[string]Sighting, len(n.Items))
	for _, i := range n.Items {
		items[forge.FoldKey(i.TaskKey)] = i
	}
	for _, i := range later.Items {
		if old, known := items[forge.FoldKey(i.TaskKey)]; !known || old.Outcome != i.Outcome || old.Reason != firstRunes(i.Reason, maxReason) || old.UUID != i.UUID {
			return true
		}
	}
	return later.Fault != nil && (later.Fault.Class != "" || n.Fault != nil)
}

// Of says what was done with a task (TaskKey in text form).
func (n Scan) Of(taskKey string) (Sighting, bool) {
	i := slices.IndexFunc(n.Items, func(i Sighting) bool { return forge.CompareKeys(i.TaskKey, taskKey) == 0 })
	if i < 0 {
		return Sighting{}, false
	}
	return n.Items[i], true
}

// with is n with later notes on top, within its bounds.
func (n Scan) with(later Scan) Scan {
	if later.Round.After(n.Round) {
		n.Round = later.Round
	}
	if later.Fault != nil {
		n.Fault = later.Fault
	}
	if n.Fault != nil && n.Fault.Class == "" {
		n.Fault = nil
	}
	for host, h := range later.Hosts {
		n.Hosts[host] = n.Hosts[host].with(h)
	}
	for uuid, p := range later.Polls {
		old := n.Polls[uuid]
		n.Polls[uuid] = Poll{Count: old.Count + p.Count, Last: latest(old.Last, p.Last)}
	}
	n.Items = newestItems(slices.Concat(later.Items, n.Items))
	prunePolls(n.Polls)
	n.Ended = newestChanges(n.Ended, later.Ended)
	return n
}

func (h HostScan) with(later HostScan) HostScan {
	success, found, gaps, ended := latest(h.Success, later.Success), h.Found, h.Gaps, latest(h.Ended, later.Ended)
	if later.Success.After(h.Success) {
		found = later.Found
		if h.Success.IsZero() {
			gaps = later.Gaps
		} else {
			gaps = append(slices.Clone(gaps), int64(later.Success.Sub(h.Success).Seconds()))
			gaps = gaps[max(len(gaps)-maxGaps, 0):]
		}
	}
	if later.Time.Before(h.Time) {
		later = h
	}
	later.Success, later.Found, later.Gaps, later.Ended = success, found, gaps, ended
	return later
}

// newestItems sorts, keeps one note for each task, and forgets the oldest.
func newestItems(all []Sighting) []Sighting {
	slices.SortStableFunc(all, func(a, b Sighting) int {
		if c := b.Time.Compare(a.Time); c != 0 {
			return c
		}
		return strings.Compare(a.TaskKey, b.TaskKey)
	})
	known := map[string]bool{}
	kept := []Sighting{}
	for _, i := range all {
		if known[forge.FoldKey(i.TaskKey)] || len(kept) == maxItems {
			continue
		}
		known[forge.FoldKey(i.TaskKey)] = true
		i.Reason = firstRunes(i.Reason, maxReason)
		kept = append(kept, i)
	}
	return kept
}

func prunePolls(polls map[string]Poll) {
	if len(polls) <= maxItems {
		return
	}
	oldest := slices.SortedFunc(maps.Keys(polls), func(a, b string) int { return polls[a].Last.Compare(polls[b].Last) })
	for _, uuid := range oldest[:len(polls)-maxItems] {
		delete(polls, uuid)
	}
}

// newestChanges are both, without the oldest where they are too many.
func newestChanges(old, later map[string]Change) map[string]Change {
	if len(later) == 0 {
		return old
	}
	all := map[string]Change{}
	maps.Copy(all, old)
	maps.Copy(all, later)
	oldest := slices.SortedFunc(maps.Keys(all), func(a, b string) int { return all[a].Time.Compare(all[b].Time) })
	for _, key := range oldest[:max(len(all)-maxItems, 0)] {
		delete(all, key)
	}
	return all
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// lockSoon takes a lock that is only ever held for a moment, and waits for it.
func (s *Store) lockSoon(name string) (io.Closer, error) {
	const longest = 50 * time.Millisecond
	waited := time.Duration(0)
	for wait := time.Millisecond; ; wait = min(2*wait, longest) {
		lock, err := s.lock(name)
		if !errors.Is(err, ErrBusy) || waited > lockPatience {
			return lock, err
		}
		time.Sleep(wait)
		waited += wait
	}
}
