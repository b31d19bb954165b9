package contexts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"agent/eventlog/event"
	"agent/internal/fsx"
)

const (
	budgetDir  = "budget"
	budgetLock = "budget.lock"
	budgetForm = 1
	maxBudget  = 64 << 20 // bytes
	dayLayout  = time.DateOnly
)

// Day names the day of a moment in UTC, "2026-11-27".
func Day(t time.Time) string { return t.UTC().Format(dayLayout) }

// DayLimits bound what may be spent in a day over all contexts; 0 is no limit.
type DayLimits struct {
	MaxTokens  int
	MaxCostUSD float64
}

// ledger is the content of budget/<day>.json: what the model calls of a day cost. It is
// not synced, so it counts for the boot that wrote it: a machine that lost its power may
// have an older one of a context that nobody opens again.
type ledger struct {
	Format   int              `json:"format"`
	Day      string           `json:"day"`
	Boot     string           `json:"boot,omitempty"`
	Tokens   int              `json:"tokens"`
	CostUSD  float64          `json:"cost_usd"`
	Contexts map[string]spent `json:"contexts"` // by uuid
}

// spent is the part of one context. Calls are the seqs that are counted in it,
// sorted, so that a call that is noted again after a crash counts once.
type spent struct {
	Tokens  int      `json:"tokens"`
	CostUSD float64  `json:"cost_usd"`
	Calls   []uint64 `json:"calls"`
}

// Call is what the end of one model call spent (see [Spending]): the seq of its
// event, its day (see [Day]), tokens and US dollars.
type Call struct {
	Seq    uint64
	Day    string
	Tokens int
	USD    float64
}

// Spend counts calls of a context in the ledgers of their days. To count one
// again changes nothing. The logs are the truth, the ledger can always be made
// from them: so it is replaced in one step and not synced. After a crash
// whoever opens a context spends again what its log holds, and after a new start of the
// machine the ledger is made again. Processes that spend
// at once wait for each other.
func (s *Store) Spend(uuid string, calls ...Call) error {
	for len(calls) > 0 {
		day, n := calls[0].Day, 1
		for n < len(calls) && calls[n].Day == day {
			n++
		}
		if err := s.spend(day, func(l *ledger) bool { return l.addAll(uuid, calls[:n]) }); err != nil {
			return fmt.Errorf("budget of %s: %w", day, err)
		}
		calls = calls[n:]
	}
	return nil
}

// Spent is what all contexts together spent on a day. A ledger that is missing
// or damaged is made from the logs first.
func (s *Store) Spent(day string) (tokens int, usd float64, err error) {
	l, err := s.readLedger(day)
	if err == nil && l == nil && s.o.ReadOnly {
		l, err = s.foldDay(day)
	} else if err == nil && l == nil {
		err = s.spend(day, func(made *ledger) bool { l = made; return false })
	}
	if err != nil {
		return 0, 0, fmt.Errorf("budget of %s: %w", day, err)
	}
	return l.Tokens, l.CostUSD, nil
}

// DayLimit tells which limit of a day is reached, as the event that says so, or
// nil. It is asked before each model call; without limits it reads nothing. What
// persons granted on top is the caller's to add to the limits.
func (s *Store) DayLimit(day string, max DayLimits) (*event.LimitReached, error) {
	if max.MaxTokens <= 0 && max.MaxCostUSD <= 0 {
		return nil, nil
	}
	if err := s.countAll(); err != nil {
		return nil, err
	}
	tokens, usd, err := s.Spent(day)
	switch {
	case err != nil:
		return nil, err
	case max.MaxTokens > 0 && tokens >= max.MaxTokens:
		return &event.LimitReached{Limit: "tokens_per_day", Max: float64(max.MaxTokens), Used: float64(tokens)}, nil
	case max.MaxCostUSD > 0 && usd >= max.MaxCostUSD:
		return &event.LimitReached{Limit: "cost_per_day", Max: max.MaxCostUSD, Used: usd}, nil
	}
	return nil, nil
}

// countAll counts what all workers of the cluster have spent until now. The history is the
// shared counter: each call is in it before it counts, by an append that states what it follows.
func (s *Store) countAll() error {
	if s.o.Member == nil {
		return nil
	}
	ctx, cancel := shared()
	defer cancel()
	return s.CatchUp(ctx)
}

func (l *ledger) addAll(uuid string, calls []Call) (changed bool) {
	for _, c := range calls {
		changed = l.add(uuid, c.Seq, c.Tokens, c.USD) || changed
	}
	return changed
}

// add reports whether the ledger changed.
func (l *ledger) add(uuid string, seq uint64, tokens int, usd float64) bool {
	tokens, usd = max(tokens, 0), max(usd, 0)
	c := l.Contexts[uuid]
	i, counted := slices.BinarySearch(c.Calls, seq)
	if counted {
		return false
	}
	c.Calls = slices.Insert(c.Calls, i, seq)
	c.Tokens += tokens
	c.CostUSD += usd
	l.Contexts[uuid] = c
	l.Tokens += tokens
	l.CostUSD += usd
	return true
}

// drop forgets what was counted of a context.
func (l *ledger) drop(uuid string) {
	l.Tokens -= l.Contexts[uuid].Tokens
	l.CostUSD -= l.Contexts[uuid].CostUSD
	delete(l.Contexts, uuid)
}

// sound checks what was read: the sums, and an order that add relies on.
func (l *ledger) sound(day string) bool {
	tokens := 0
	for uuid, c := range l.Contexts {
		tokens += c.Tokens
		if !canonical(uuid) || c.Tokens < 0 || !slices.IsSorted(c.Calls) {
			return false
		}
	}
	return l.Format == budgetForm && l.Day == day && l.Tokens == tokens && l.CostUSD >= 0 && l.Contexts != nil
}

// spend changes a ledger under the lock, and writes it if it is new or changed.
func (s *Store) spend(day string, change func(*ledger) bool) error {
	if _, err := time.Parse(dayLayout, day); err != nil {
		return fmt.Errorf("%q is not a day: %w", day, fs.ErrInvalid)
	}
	lock, err := s.lockSoon(budgetLock)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := s.prepareDir(budgetDir); err != nil {
		return err
	}
	l, err := s.readLedger(day)
	if err != nil {
		return err
	}
	made := l == nil
	if made {
		if l, err = s.foldDay(day); err != nil {
			return err
		}
	}
	if changed := change(l); !made && !changed {
		return nil
	}
	return s.writeLedger(l)
}

func (l *ledger) file() string { return ledgerFile(l.Day) }

func ledgerFile(day string) string { return path.Join(budgetDir, day+".json") }

// readLedger gives nil for a ledger that has to be rebuilt.
func (s *Store) readLedger(day string) (*ledger, error) {
	data, err := fsx.ReadFile(s.fs, ledgerFile(day), maxBudget)
	var l ledger
	switch {
	case isMissing(err):
		return nil, nil
	case err != nil && !errors.Is(err, fsx.ErrTooLarge):
		return nil, err
	case err == nil && json.Unmarshal(data, &l) == nil && l.sound(day):
		if l.Boot != fsx.BootID() {
			return nil, nil
		}
		return &l, nil
	}
	s.o.Warn(&Warning{Name: ledgerFile(day), Reason: "it is damaged, and is rebuilt from the logs"})
	return nil, nil
}

func (s *Store) writeLedger(l *ledger) error {
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	tmp := l.file() + fsx.TempSuffix // nobody else writes: the lock is ours
	if err := s.overwrite(tmp, append(data, '\n')); err != nil {
		_ = s.fs.Remove(tmp) // best effort: the next write truncates it
		return err
	}
	return s.fs.Rename(tmp, l.file())
}

func (s *Store) overwrite(name string, data []byte) error {
	f, err := s.fs.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	n, err := f.Write(data)
	if err == nil && n != len(data) {
		err = io.ErrShortWrite
	}
	return errors.Join(err, f.Close())
}

// foldDay makes a ledger from the logs, of which it reads those that had an event since the day before:
// it is rebuilt each day, and most contexts wait for weeks. Of a damaged log the valid start counts.
func (s *Store) foldDay(day string) (*ledger, error) {
	l := &ledger{Format: budgetForm, Day: day, Boot: fsx.BootID(), Contexts: map[string]spent{}}
	begin, err := time.Parse(dayLayout, day)
	if err != nil {
		return nil, fmt.Errorf("%q is not a day: %w", day, fs.ErrInvalid)
	}
	const margin = 24 * time.Hour // for clocks that were set
	since := begin.Add(-margin)
	all, err := s.listed()
	if err != nil {
		return nil, err
	}
	if err := s.forgetOver(all, since); err != nil {
		return nil, err
	}
	for _, uuid := range slices.Sorted(maps.Keys(all)) {
		if _, last, err := s.lastOf(uuid); err == nil && last.When().Before(since) {
			continue
		}
		s.foldSpending(l, uuid)
	}
	return l, nil
}

// forgetOver takes out the contexts that ended before a time, as far as the index knows.
func (s *Store) forgetOver(all map[string]Dir, since time.Time) error {
	x, err := s.load()
	if err == nil {
		defer x.Close()
		for r, rowErr := range x.rows() {
			if err = rowErr; err != nil {
				break
			}
			if !r.over() || all[r.UUID] != Completed {
				continue
			}
			i, wholeErr := r.whole()
			if err = wholeErr; err != nil {
				break
			}
			if i.Updated.Before(since) {
				delete(all, i.UUID)
			}
		}
	}
	if errors.Is(err, errIndex) {
		return nil
	}
	return err
}

func (s *Store) foldSpending(l *ledger, uuid string) {
	var spending Spending
	for rec, err := range s.Records(uuid) {
		if err != nil {
			s.o.Warn(err)
			return
		}
		if string(rec.Type) == "context.forked" { // what was spent before is its origin's
			l.drop(uuid)
		}
		if !strings.HasPrefix(string(rec.Type), "llm.") {
			continue
		}
		ev, err := event.Decode(rec)
		if err != nil {
			continue // of a newer release
		}
		if tokens, usd, ok := spending.Of(ev); ok && Day(ev.Time) == l.Day {
			l.add(uuid, ev.Seq, tokens, usd)
		}
	}
}

// Spending follows a log, event by event, and says what each one adds to the
// ledger. Its zero value stands before the first event.
type Spending struct{ estimated int }

// Of gives what an event spent; ok is false for those that spend nothing. A call
// that was interrupted counts with the estimate of its prompt: otherwise a run
// that is killed in every call would never reach a limit.
func (s *Spending) Of(ev event.Event) (tokens int, usd float64, ok bool) {
	switch b := ev.Body.(type) {
	case *event.LLMRequested:
		s.estimated = b.Estimated
	case *event.LLMReplied:
		return b.Usage.Prompt + b.Usage.Completion, b.CostUSD, true
	case *event.LLMFailed:
		if b.Kind == event.Interrupted {
			return s.estimated, 0, true
		}
		tokens = b.Usage.Prompt + b.Usage.Completion
		return tokens, b.CostUSD, tokens > 0
	}
	return 0, 0, false
}
