package contexts

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
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
		counts, latest, odd, err = x.ended(n)
		return err
	})
	if err = errors.Join(append(problems, err)...); err != nil {
		return nil, nil, fmt.Errorf("contexts that ended: %w", err)
	}
	for _, i := range latest {
		if !s.unchanged(&i) {
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

// Lost lists the contexts whose directory is gone, see [LostError].
func (s *Store) Lost() ([]string, error) { return s.lostOnes() }

// ended counts the rows of contexts that ended, and gives the n latest of them and all others.
func (x *snapshot) ended(n int) (counts map[string]int, latest, odd []Info, err error) {
	counts = map[string]int{}
	newest := newestRows{most: n}
	for r, err := range x.rows() {
		if err != nil {
			return nil, nil, nil, err
		}
		if !r.over() {
			i, err := r.whole()
			if err != nil {
				return nil, nil, nil, err
			}
			odd = append(odd, i)
			continue
		}
		counts[r.State]++
		if err := newest.add(r); err != nil {
			return nil, nil, nil, err
		}
	}
	newest.cut()
	for _, r := range newest.rows {
		i, err := r.whole()
		if err != nil {
			return nil, nil, nil, err
		}
		latest = append(latest, i)
	}
	return counts, latest, odd, nil
}

// toSecond is how a time in a line begins: it sorts like the time as far as that.
const toSecond = `"2006-01-02T15:04:05`

// newestRows keeps the rows that ended last, at most twice as many as wanted.
type newestRows struct {
	most   int
	rows   []row
	oldest int64  // unix ns; what ended before is not kept
	before []byte // oldest as the line of its row has it
}

func (k *newestRows) add(r row) error {
	if r.line != nil {
		_, rest, _ := bytes.Cut(r.line, []byte(`,"ended":`)) // nowhere in a text: its quotes are escaped
		value, _, ok := cutString(rest)
		if !ok || len(value) < len(toSecond) {
			return errIndex
		}
		if before := k.before; len(before) > 0 && bytes.HasSuffix(value, []byte(`Z"`)) && (bytes.Equal(value, before) || bytes.Compare(value[:len(toSecond)], before[:len(toSecond)]) < 0) {
			return nil // most rows: no time needs to be parsed
		}
		if setField(&r.Ended, value) != nil {
			return errIndex
		}
	}
	if r.Ended.UnixNano() <= k.oldest {
		return nil
	}
	r.line = bytes.Clone(r.line)
	if k.rows = append(k.rows, r); len(k.rows) >= 2*k.most {
		k.cut()
	}
	return nil
}

// cut keeps the newest ones, the latest first.
func (k *newestRows) cut() {
	slices.SortStableFunc(k.rows, func(a, b row) int { return b.Ended.Compare(a.Ended) })
	if len(k.rows) >= k.most && k.most > 0 {
		k.rows = k.rows[:k.most]
		last := k.rows[k.most-1].Ended.UTC()
		k.oldest, k.before = last.UnixNano(), strconv.AppendQuote(nil, last.Format(time.RFC3339Nano))
	}
}
