package contexts

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"time"

	"agent/forge"
	"agent/internal/fsx"
)

// The summary of the index says what [Store.Ended] asks of all lines of contexts.jsonl,
// so that a health check need not read them. It is index/ended.jsonl: a line that
// names the generation it belongs to and counts, then the lines of the contexts that
// ended last and of all that had not ended. One that is missing, damaged or of
// another generation is not used; all lines are read instead.
const (
	summaryFile = indexDir + "/ended.jsonl"
	summaryKept = 1000 + maxTail // each line of a tail may take away one of them
	maxSummary  = 64 << 20       // bytes
)

// summaryHead is the first line.
type summaryHead struct {
	Generation string         `json:"generation"`
	Lines      int            `json:"lines"`   // that follow
	Counts     map[string]int `json:"counts"`  // of contexts that ended, by state
	Created    time.Time      `json:"created"` // of the newest context in contexts.jsonl
}

// summing collects a summary while contexts.jsonl is written.
type summing struct {
	head summaryHead
	rows endedRows
	odd  bytes.Buffer // lines
}

func newSumming(generation string) *summing {
	counts := map[string]int{}
	return &summing{head: summaryHead{Generation: generation, Counts: counts}, rows: endedRows{counts: counts, newest: newestRows{most: summaryKept}}}
}

// add takes a row and its line.
func (s *summing) add(r row, line []byte) error {
	created, err := r.created()
	if err != nil {
		return err
	}
	if created.After(s.head.Created) {
		s.head.Created = created
	}
	if r.over() {
		s.rows.counts[r.State]++
		return s.rows.newest.add(r)
	}
	s.odd.Write(line)
	s.head.Lines++
	return nil
}

// created is when the context of a row began; zero of one whose log could not be read.
func (r *row) created() (at time.Time, err error) {
	if r.known != nil {
		return r.known.Created, nil
	}
	_, rest, found := bytes.Cut(r.line, []byte(`,"created":`)) // nowhere in a text: its quotes are escaped
	if !found {
		return at, nil
	}
	value, _, ok := cutString(rest)
	if !ok {
		return at, errIndex
	}
	return at, setField(&at, value)
}

func (s *summing) write(w io.Writer) error {
	s.rows.newest.cut()
	s.head.Lines += len(s.rows.newest.rows)
	head, err := json.Marshal(s.head)
	if err != nil {
		return err
	}
	b, _ := seal(nil, 0, head[:len(head)-1])
	if _, err := w.Write(b); err != nil {
		return err
	}
	for _, r := range s.rows.newest.rows {
		b = r.sealed(b[:0])
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	_, err = w.Write(s.odd.Bytes())
	return err
}

// summary reads the summary of x; ok is false if there is none that can be used.
func (s *Store) summary(x *snapshot) (head summaryHead, rows []row, ok bool) {
	if x.f == nil {
		return head, nil, false
	}
	data, err := fsx.ReadFile(s.fs, summaryFile, maxSummary)
	if err != nil {
		return head, nil, false
	}
	lines := bufio.NewReaderSize(bytes.NewReader(data), readAhead)
	first, err := readLine(lines)
	if err != nil {
		return head, nil, false
	}
	body, _, ok := unseal(first, 0)
	if !ok || json.Unmarshal(append(bytes.Clone(body), '}'), &head) != nil || head.Generation != x.trailer.Generation {
		return head, nil, false
	}
	for before := ""; ; {
		line, err := readLine(lines)
		if err == io.EOF {
			return head, rows, len(rows) == head.Lines
		}
		if err != nil {
			return head, nil, false
		}
		r, err := parseRow(bytes.Clone(line), before)
		if err != nil {
			return head, nil, false
		}
		rows, before = append(rows, r), r.TaskKey
	}
}

// summed is [snapshot.ended] from the summary; ok is false if that does not say it.
func (s *Store) summed(x *snapshot, n int) (all endedRows, ok bool, err error) {
	head, rows, ok := s.summary(x)
	if !ok || n > summaryKept-maxTail || len(x.tail) > maxTail {
		return all, false, nil
	}
	all = endedRows{counts: head.Counts, newest: newestRows{most: n}}
	listed := map[string]bool{}
	if x.steps == nil {
		x.steps = map[int64]probed{} // of the searches below
	}
	for _, r := range rows {
		if _, newer := x.tail[r.UUID]; !newer && r.over() {
			err = all.newest.add(r) // it is counted
		} else if !newer {
			err = all.add(r, nil)
		} else if r.over() {
			all.counts[r.State]--
		}
		if err != nil {
			return all, false, err
		}
		listed[r.UUID] = true
	}
	for _, i := range x.tail {
		if listed[i.UUID] || i.Created.After(head.Created) {
			continue // or else it may be an older one of contexts.jsonl
		}
		if i.TaskKey == "" {
			return all, false, nil // that is searched by its task
		}
		if err := x.uncount(&i, all.counts); err != nil {
			return all, false, err
		}
	}
	return all, true, nil
}

// uncount takes a context of the tail out of the counts that contexts.jsonl knows.
func (x *snapshot) uncount(i *Info, counts map[string]int) error {
	for r, err := range x.from(i.TaskKey, i.UUID) {
		if err == nil && r.over() && r.UUID == i.UUID && forge.CompareKeys(r.TaskKey, i.TaskKey) == 0 {
			counts[r.State]--
		}
		return err
	}
	return nil
}
