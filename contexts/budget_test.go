package contexts

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/internal/fsx"
)

const (
	today    = "2026-11-27" // of at
	tomorrow = "2026-11-28"
)

func wantSpent(t *testing.T, s *Store, day string, tokens int, usd float64) {
	t.Helper()
	gotTokens, gotUSD, err := s.Spent(day)
	if err != nil || gotTokens != tokens || gotUSD != usd {
		t.Errorf("%s: %d tokens and %v USD, want %d and %v: %v", day, gotTokens, gotUSD, tokens, usd, err)
	}
}

func reply(tokens int, usd float64) *event.LLMReplied {
	return &event.LLMReplied{Usage: event.Usage{Prompt: tokens - 1, Completion: 1, Cached: 5}, CostUSD: usd}
}

func TestSpendCountsEachCallOnce(t *testing.T) {
	s, dir := realStore(t, Options{})
	wantSpent(t, s, today, 0, 0)
	must(t, s.Spend(idA, Call{9, today, 100, 0.25}), s.Spend(idA, Call{6, today, 10, 0.5}), s.Spend(idB, Call{9, today, 1000, 1}))
	for range 3 { // as after crashes
		must(t, s.Spend(idA, Call{9, today, 100, 0.25}), s.Spend(idA, Call{6, today, 10, 0.5}))
	}
	must(t, s.Spend(idA, Call{12, tomorrow, 7, 0}))
	wantSpent(t, s, today, 1110, 1.75)
	wantSpent(t, s, tomorrow, 7, 0)
	other, err := openReal(dir, Options{ReadOnly: true})
	must(t, err)
	wantSpent(t, other, today, 1110, 1.75)
	for _, name := range []string{budgetDir, filepath.Join(budgetDir, today+".json")} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
}

// A ledger is made again from the logs, whatever became of it.
func TestLedgerIsRebuiltFromLogs(t *testing.T) {
	for name, content := range map[string]string{
		"missing": "", "torn": `{"format":1,"day":"2026-11-27","tok`, "zeros": "\x00\x00\x00", "other day": `{"format":1,"day":"2026-11-26","contexts":{}}`,
		"sum": `{"format":1,"day":"2026-11-27","tokens":5,"contexts":{}}`, "null": `null`, "another boot": `{"format":1,"day":"2026-11-27","boot":"before the power failed","tokens":0,"contexts":{}}`, "newer": `{"format":9,"day":"2026-11-27","contexts":{}}`,
		"order": `{"format":1,"day":"2026-11-27","tokens":0,"contexts":{"` + idA + `":{"tokens":0,"calls":[4,3]}}}`,
	} {
		for _, readOnly := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				s, dir := realStore(t, Options{})
				made(t, s, idA, reply(100, 0.5), reply(10, 0.25), &event.ContextCompleted{Reason: "done"})
				made(t, s, idB, reply(1000, 1))
				if name != "missing" {
					must(t, os.Mkdir(filepath.Join(dir, budgetDir), 0o700), os.WriteFile(filepath.Join(dir, ledgerFile(today)), []byte(content), 0o600))
				}
				s, err := openReal(dir, Options{ReadOnly: readOnly})
				must(t, err)
				wantSpent(t, s, today, 1110, 1.75)
				wantSpent(t, s, tomorrow, 0, 0)
				if !readOnly {
					must(t, s.Spend(idA, Call{2, today, 100, 0.5})) // its log holds it: it is counted already
					wantSpent(t, s, today, 1110, 1.75)
				}
			})
		}
	}
}

func TestDamagedLogCountsUpToItsDamage(t *testing.T) {
	s, dir := realStore(t, Options{})
	made(t, s, idA, reply(100, 0.5), reply(10, 0.25))
	made(t, s, idB, reply(1000, 1))
	file := filepath.Join(dir, "running", idA, "events.jsonl")
	data, err := os.ReadFile(file)
	must(t, err)
	data[len(data)-40] ^= 1
	must(t, os.WriteFile(file, data, 0o600))
	wantSpent(t, s, today, 1100, 1.5)
}

// A call that a kill interrupted counts with its estimate, one that failed does not.
func TestInterruptedCallsCount(t *testing.T) {
	s, _ := realStore(t, Options{})
	made(t, s, idA, &event.LLMRequested{Estimated: 70}, &event.LLMFailed{Kind: event.Interrupted},
		&event.LLMRequested{Estimated: 80}, &event.LLMFailed{Kind: "transient"},
		&event.LLMRequested{Estimated: 90}, reply(100, 0.5))
	wantSpent(t, s, today, 170, 0.5)
}

// A context counts its calls some at a time, also over midnight and again.
func TestSpendMany(t *testing.T) {
	s, _ := realStore(t, Options{})
	calls := []Call{{3, today, 100, 0.25}, {6, today, 10, 0.5}, {9, tomorrow, 7, 0}, {12, tomorrow, 1, 1}}
	must(t, s.Spend(idA, calls[:3]...), s.Spend(idA, calls...), s.Spend(idA))
	wantSpent(t, s, today, 110, 0.75)
	wantSpent(t, s, tomorrow, 8, 1)
}

func TestSpendAtOnce(t *testing.T) {
	s, dir := realStore(t, Options{})
	var all sync.WaitGroup
	for i := range 6 {
		other, err := openReal(dir, Options{})
		must(t, err)
		all.Go(func() {
			for seq := range uint64(5) {
				if err := errors.Join(other.Spend(idA, Call{seq, today, 10, 0.5}), other.Spend(idB, Call{uint64(i)*100 + seq, today, 1, 0})); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	wantSpent(t, s, today, 50+30, 2.5)
}

func TestDayLimit(t *testing.T) {
	s, _ := realStore(t, Options{})
	must(t, s.Spend(idA, Call{3, today, 1000, 2}))
	for _, c := range []struct {
		max   DayLimits
		day   string
		limit string
	}{
		{DayLimits{}, today, ""},
		{DayLimits{MaxTokens: 1001, MaxCostUSD: 2.01}, today, ""},
		{DayLimits{MaxTokens: 1000}, today, "tokens_per_day"},
		{DayLimits{MaxTokens: 1}, tomorrow, ""},
		{DayLimits{MaxCostUSD: 2}, today, "cost_per_day"},
		{DayLimits{MaxTokens: 2000, MaxCostUSD: 0.5}, today, "cost_per_day"},
		{DayLimits{MaxTokens: 1, MaxCostUSD: 0.5}, today, "tokens_per_day"},
	} {
		got, err := s.DayLimit(c.day, c.max)
		must(t, err)
		if limit := limitOf(got); limit != c.limit {
			t.Errorf("%+v on %s: %q, want %q", c.max, c.day, limit, c.limit)
		}
	}
	if _, _, err := s.Spent("../../etc"); err == nil {
		t.Error("a day that is none was taken")
	}
}

func limitOf(e *event.LimitReached) string {
	if e == nil {
		return ""
	}
	return e.Limit
}

// A crash loses at most what was spent since; whoever spends it again repairs that.
func TestLedgerAfterCrashes(t *testing.T) {
	m := fsx.NewMem()
	s, err := Open(m, Options{})
	must(t, err, s.Spend(idA, Call{3, today, 1000, 2}))
	m = m.Kill()
	s, err = Open(m, Options{})
	must(t, err)
	wantSpent(t, s, today, 1000, 2)
	for seed := range int64(20) {
		s, err := Open(m.Crash(seed, 0.5), Options{})
		must(t, err, s.Spend(idA, Call{3, today, 1000, 2}), s.Spend(idA, Call{6, today, 1, 0}))
		wantSpent(t, s, today, 1001, 2)
	}
}

func TestDayIsUTC(t *testing.T) {
	tokyo := time.FixedZone("JST", 9*3600)
	if got := Day(time.Date(2026, 11, 28, 8, 59, 0, 0, tokyo)); got != today {
		t.Error(got)
	}
}
