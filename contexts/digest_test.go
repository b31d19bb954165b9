package contexts

import (
	"math/rand"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/projections"
)

// summary is what both folds say.
type summary struct {
	State, Waits, TaskKey, Title string
	Created, Updated             time.Time
	LLM, Tools, Tokens           int
	Cost                         float64
}

func bothFolds(events []event.Event) (mine, theirs summary) {
	var i Info
	s := projections.NewState()
	for _, e := range events {
		i.apply(e)
		s.Apply(e)
	}
	mine = summary{i.State, i.Waits, i.TaskKey, i.Title, i.Created, i.Updated, i.LLMCalls, i.ToolCalls, i.Tokens, i.CostUSD}
	theirs = summary{State: string(s.Status), Created: s.Started, Updated: s.Now,
		LLM: s.Usage.LLMCalls, Tools: s.Usage.ToolCalls, Tokens: s.Usage.Tokens(), Cost: s.Usage.CostUSD}
	if s.Created != nil {
		theirs.TaskKey, theirs.Title = s.Created.TaskKey, s.Created.Title
	}
	if s.Paused != nil && s.Status == projections.Paused {
		theirs.Waits = s.Paused.Until.Kind
	}
	return mine, theirs
}

// What the index keeps is what projections.State says, for every prefix of the
// golden logs and of random ones.
func TestDigestAgreesWithTheState(t *testing.T) {
	logs, err := filepath.Glob("../eventlog/event/testdata/golden/logs/*.jsonl")
	must(t, err)
	var histories [][]event.Event
	for _, name := range logs {
		f, err := os.Open(name)
		must(t, err)
		var events []event.Event
		for rec, err := range eventlog.Read(f) {
			must(t, err)
			e, err := event.Decode(rec)
			must(t, err)
			events = append(events, e)
		}
		must(t, f.Close())
		histories = append(histories, events)
	}
	if len(histories) == 0 {
		t.Fatal("no golden logs")
	}
	rng := rand.New(rand.NewSource(1))
	for range 50 {
		histories = append(histories, randomHistory(rng))
	}
	for n, events := range histories {
		for upTo := 1; upTo <= len(events); upTo++ {
			mine, theirs := bothFolds(events[:upTo])
			if diff := cmp.Diff(theirs, mine); diff != "" {
				t.Fatalf("history %d, %s at seq %d: the state says (-), the index (+):\n%s", n, events[upTo-1].Body.Type(), upTo, diff)
			}
		}
	}
}

func randomHistory(rng *rand.Rand) []event.Event {
	events := []event.Event{{Seq: 1, Time: at, Body: created(idA)}}
	add := func(b event.Body) {
		n := len(events)
		events = append(events, event.Event{Seq: uint64(n + 1), Time: at.Add(time.Duration(n) * time.Second), Body: b})
	}
	for range 30 {
		switch rng.Intn(7) {
		case 0:
			add(&event.LLMRequested{Purpose: "work", Estimated: rng.Intn(1000)})
			add(&event.LLMReplied{Usage: event.Usage{Prompt: rng.Intn(900), Completion: rng.Intn(90)}, CostUSD: float64(rng.Intn(9)) / 8})
		case 1:
			add(&event.LLMRequested{Purpose: "summary", Estimated: rng.Intn(1000)})
			add(&event.LLMFailed{Kind: []string{event.Interrupted, "timeout"}[rng.Intn(2)]})
		case 2:
			add(&event.ToolRequested{Server: "s", Tool: "t"})
			add(&event.ToolReplied{Content: event.T("x")})
		case 3:
			add(&event.ContextPaused{Until: event.Until{Kind: []string{"signal", "time", "person"}[rng.Intn(3)]}})
		case 4:
			add(&event.ContextResumed{})
		case 5:
			add(&event.ContextAwaiting{})
		case 6:
			add(&event.MessageAdded{Role: "user", Purpose: event.TaskMessage, Content: event.T("y")})
		}
	}
	add([]event.Body{&event.ContextCompleted{}, &event.ContextStopped{}, &event.ContextFailed{}}[rng.Intn(3)])
	return events
}
