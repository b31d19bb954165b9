package projections

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/llm"
)

// What is kept of what was shown before never shows, whatever happens to the conversation
// and whoever it is shown to; what was given away stays, and a thread has one beginning.
func TestShownIsOfTheEntries(t *testing.T) {
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 1))
		var c Conversation
		threads := map[*llm.Thread][]llm.Message{}
		var given, copies [][]llm.Message
		protocol, most := "tools", 1000
		for seq := uint64(1); seq < 120; seq++ {
			for _, body := range happened(random, seq) {
				c.apply(event.Event{Seq: seq, Body: body})
			}
			if random.IntN(12) == 0 {
				protocol, most = []string{"tools", "json"}[random.IntN(2)], 40+random.IntN(2)*960
			}
			if random.IntN(4) == 0 {
				continue
			}
			got := c.Shown(protocol, most)
			again := Conversation{Entries: c.Entries, from: c.from}
			want := again.Shown(protocol, most)
			if !reflect.DeepEqual(got.Messages, want.Messages) || !slices.Equal(got.Weights, want.Weights) {
				t.Fatalf("seed %d, event %d: got\n%v\nwant\n%v", seed, seq, got, want)
			}
			before := threads[got.Thread]
			if len(before) > len(got.Messages) || !reflect.DeepEqual(before, got.Messages[:len(before)]) && before != nil {
				t.Fatalf("seed %d, event %d: %v does not begin with %v", seed, seq, got.Messages, before)
			}
			copied := slices.Clone(got.Messages)
			threads[got.Thread] = copied
			given, copies = append(given, got.Messages), append(copies, copied)
		}
		if !reflect.DeepEqual(given, copies) {
			t.Fatalf("seed %d: what was given away has changed", seed)
		}
	}
}

func happened(random *rand.Rand, seq uint64) []event.Body {
	words := event.T(fmt.Sprint("words ", seq, strings.Repeat(" and more", random.IntN(20))))
	message := func(role llm.Role, purpose event.MessagePurpose) []event.Body {
		return []event.Body{&event.MessageAdded{Role: string(role), Purpose: purpose, Content: words}}
	}
	switch random.IntN(12) {
	case 0:
		return message(llm.System, event.SystemMessage)
	case 1:
		return message(llm.User, []event.MessagePurpose{event.TaskMessage, event.CommentsMessage, event.PhaseMessage, event.ActionMessage}[random.IntN(4)])
	case 2:
		return message(llm.Assistant, event.InheritedMessage)
	case 3:
		to := seq - uint64(random.IntN(int(seq)))
		return []event.Body{&event.SummaryAdded{Purpose: event.CompactionSummary, From: to / 2, To: to, Text: words}}
	}
	call := event.ToolCall{ID: fmt.Sprint("c", seq), Name: "ws__read", Args: event.T(`{"path":"a"}`)}
	return []event.Body{
		&event.LLMReplied{Text: words, Calls: []event.ToolCall{call}, Opaque: event.T(`{"signature":"s"}`), From: fmt.Sprint("server ", seq/50), Usage: event.Usage{Reasoning: 7}},
		&event.ToolRequested{CallID: call.ID, Server: "ws", Tool: "read", Args: call.Args},
		&event.ToolReplied{Content: words},
	}
}
