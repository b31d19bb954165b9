package contexts

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Ended gives how many contexts ended in each state, as the index knows it, and
// those that need to be looked at: the n that ended last, and those that lie among
// the ended ones without having ended or cannot be read. It reads no log but
// of those whose file is not the one that the index remembers, and of the latter.
func (s *Store) Ended(n int) (counts map[string]int, checked []Info, err error) {
	live, problems := s.dirsOfAll(func(error) {}, Running, Paused) // [Store.Unfinished] names what is no context
	var latest, odd []Info
	err = s.withIndex(func(x *snapshot) error {
		all, summed, err := s.summed(x, n)
		if err == nil && !summed {
			all, err = x.ended(n)
		}
		if err == nil {
			latest, err = all.latest(x)
		}
		counts, odd = all.counts, all.odd
		return err
	})
	if err = errors.Join(append(problems, err)...); err != nil {
		return nil, nil, fmt.Errorf("contexts that ended: %w", err)
	}
	changed := make([]bool, len(latest))
	inParallel(len(latest), func(n int) { changed[n] = !s.unchanged(&latest[n]) })
	for n, i := range latest {
		if changed[n] {
			counts[i.State]--
			i = s.again(i)
			counts[i.State]++
		}
		checked = append(checked, i)
	}
	for _, i := range odd {
		if _, ok := live[i.UUID]; ok {
			continue
		}
		if i = s.again(i); i.UUID != "" {
			counts[i.State]++
			checked = append(checked, i)
		}
	}
	return counts, slices.DeleteFunc(checked, func(i Info) bool { return i.UUID == "" }), nil
}

// inParallel calls do for 0 to n-1, on all processors.
func inParallel(n int, do func(int)) {
	var wait sync.WaitGroup
	var next atomic.Int64
	for range min(n, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wait.Wait()
}

// Lost lists the contexts whose directory is gone, see [LostError].
func (s *Store) Lost() ([]string, error) { return s.lostOnes() }

// endedRows is what [snapshot.ended] finds in a part of the index.
type endedRows struct {
	n           int
	counts      map[string]int
	newest      newestRows
	odd         []Info // that have not ended
	first, last row
	err         error
}

func (e *endedRows) add(r row, err error) error {
	if err != nil {
		return err
	}
	if !r.over() {
		i, err := r.whole()
		e.odd = append(e.odd, i)
		return err
	}
	e.counts[r.State]++
	return e.newest.add(r)
}

// read takes the rows of a part of contexts.jsonl, but those that the tail knows better.
func (e *endedRows) read(x *snapshot, of span) {
	for r, err := range x.sorted(of, readAhead) {
		if e.n == 0 {
			e.first = r
		}
		e.n, e.last = e.n+1, r
		if _, newer := x.tail[r.UUID]; newer && err == nil {
			continue
		}
		if e.err = e.add(r, err); e.err != nil {
			return
		}
	}
}

// spans cuts contexts.jsonl into parts of about the same length, that several
// processors can read at once.
func (x *snapshot) spans() (all []span, err error) {
	const shortest = 1 << 20
	from, n := int64(0), min(int64(runtime.GOMAXPROCS(0)), x.trailer.Bytes/shortest)
	for i := int64(1); i < n; i++ {
		to, _, err := x.lineAfter(x.trailer.Bytes/n*i, bufio.NewReaderSize(nil, probe))
		if err != nil {
			return nil, err
		}
		if to > from {
			all, from = append(all, span{from, to}), to
		}
	}
	return append(all, span{from, x.trailer.Bytes}), nil
}

// ended counts the rows of contexts.jsonl that ended, and finds the n latest of them and all others.
func (x *snapshot) ended(n int) (all endedRows, err error) {
	all = endedRows{counts: map[string]int{}, newest: newestRows{most: n}}
	spans, err := x.spans()
	if err != nil {
		return all, err
	}
	parts := make([]endedRows, len(spans))
	inParallel(len(spans), func(i int) {
		parts[i] = endedRows{counts: map[string]int{}, newest: newestRows{most: n}}
		parts[i].read(x, spans[i])
	})
	for i := range parts {
		if err := all.join(&parts[i]); err != nil {
			return all, err
		}
	}
	if all.n != x.trailer.Contexts {
		err = errIndex
	}
	return all, err
}

// latest takes the rows of the tail, too, and gives the ones that ended last.
func (e *endedRows) latest(x *snapshot) (latest []Info, err error) {
	for _, i := range x.tail {
		if i.gone {
			continue
		}
		if err := e.add(tailRow(i), nil); err != nil {
			return nil, err
		}
	}
	e.newest.cut()
	for _, r := range e.newest.rows {
		i, err := r.whole()
		if err != nil {
			return nil, err
		}
		latest = append(latest, i)
	}
	return latest, nil
}

// join adds the part that follows in the file.
func (e *endedRows) join(part *endedRows) error {
	if part.err != nil {
		return part.err
	}
	if e.n > 0 && part.n > 0 && compareRows(e.last, part.first) >= 0 {
		return errIndex
	}
	if part.n > 0 {
		e.n, e.last = e.n+part.n, part.last
	}
	for state, n := range part.counts {
		e.counts[state] += n
	}
	e.odd = append(e.odd, part.odd...)
	e.newest.rows = append(e.newest.rows, part.newest.rows...)
	return nil
}

// toSecond is how a time in a line begins: it sorts like the time as far as that.
const toSecond = `"2006-01-02T15:04:05`

// newestRows keeps the rows that ended last, at most twice as many as wanted.
type newestRows struct {
	most   int
	rows   []endedRow
	oldest int64  // unix ns; what ended before is not kept
	before []byte // oldest as the line of its row has it
}

type endedRow struct {
	row
	ended time.Time
}

func (k *newestRows) add(r row) error {
	if r.known != nil {
		k.keep(endedRow{r, r.known.Ended})
		return nil
	}
	_, rest, _ := bytes.Cut(r.line, []byte(`,"ended":`)) // nowhere in a text: its quotes are escaped
	value, _, ok := cutString(rest)
	if !ok || len(value) < len(toSecond) {
		return errIndex
	}
	if before := k.before; len(before) > 0 && bytes.HasSuffix(value, []byte(`Z"`)) && (bytes.Equal(value, before) || bytes.Compare(value[:len(toSecond)], before[:len(toSecond)]) < 0) {
		return nil // most rows: no time needs to be parsed
	}
	var ended time.Time
	if setField(&ended, value) != nil {
		return errIndex
	}
	k.keep(endedRow{r, ended})
	return nil
}

func (k *newestRows) keep(r endedRow) {
	if r.ended.UnixNano() <= k.oldest {
		return
	}
	n, line := len(k.rows), []byte(nil)
	if n < cap(k.rows) {
		line = k.rows[:n+1][n].line // of one that was cut
	}
	r.line = append(line[:0], r.line...)
	if k.rows = append(k.rows, r); len(k.rows) >= 2*k.most {
		k.cut()
	}
}

// cut keeps the newest ones, the latest first.
func (k *newestRows) cut() {
	slices.SortFunc(k.rows, func(a, b endedRow) int { return cmp.Or(b.ended.Compare(a.ended), strings.Compare(a.UUID, b.UUID)) })
	if len(k.rows) >= k.most && k.most > 0 {
		k.rows = k.rows[:k.most]
		last := k.rows[k.most-1].ended.UTC()
		k.oldest, k.before = last.UnixNano(), strconv.AppendQuote(nil, last.Format(time.RFC3339Nano))
	}
}
