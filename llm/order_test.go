package llm

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A longer conversation begins with the bytes of the shorter one, in every profile:
// caches of prompts hold only then. Texts begin and end with lines, as models' do.
func TestMessagesGrowAtTheEnd(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		talk := conversation(random)
		for _, p := range Profiles {
			before := ""
			for n := 1; n <= len(talk); n++ {
				if n < len(talk) && talk[n].Role == ToolRole {
					continue // no request is sent before all results are there
				}
				data, err := json.Marshal(p.Messages(talk[:n]))
				if err != nil {
					t.Fatal(err)
				}
				now := strings.TrimRight(string(data), `]}"`)
				if !strings.HasPrefix(now, before) {
					t.Fatalf("%s:\n%s\n%s", p.Name, before, now)
				}
				before = now
			}
		}
	}
}

func conversation(random *rand.Rand) []Message {
	texts := []string{"a", "\nb\n", "\n\nc", "d\n"}
	text := func() string { return texts[random.IntN(len(texts))] }
	out := []Message{{Role: System, Content: text()}}
	for i := range 12 {
		switch random.IntN(4) {
		case 0:
			out = append(out, Message{Role: User, Content: text()})
		case 1:
			out = append(out, Message{Role: Assistant, Content: text()})
		case 2:
			out = append(out, Message{Role: System, Content: text()})
		default:
			call := Message{Role: Assistant, Content: text()}
			var results []Message
			for n := range 1 + random.IntN(3) {
				id := fmt.Sprintf("call_%d_%d", i, n)
				call.Calls = append(call.Calls, ToolCall{ID: id, Name: "f", Arguments: "{}"})
				results = append(results, Message{Role: ToolRole, Content: text(), CallID: id, Name: "f"})
			}
			out = append(append(out, call), results...)
		}
	}
	return out
}
