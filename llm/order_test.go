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

// An id that every server takes stays; of others the same one makes the same id.
func TestIDsOfCalls(t *testing.T) {
	for id, stays := range map[string]bool{
		"call_9-Z": true, "toolu_01AbCdEfGhIjKlMnOpQrStUvWx": true, strings.Repeat("a", longID): true,
		strings.Repeat("a", longID+1): false, "call.1": false, "call 1": false, "call@1": false, "call[1": false, "call`1": false, "call{1": false, "call/1": false, "call:1": false, "aufräumen": false,
	} {
		out := Profile{}.Messages([]Message{{Role: Assistant, Calls: []ToolCall{{ID: id}}}, {Role: ToolRole, CallID: id}})
		sent := out[0].Calls[0].ID
		if sent != out[1].CallID || (sent == id) != stays || !stays && (len(sent) != shortID || strings.Trim(sent, letters) != "") {
			t.Errorf("%q is sent as %q, its result as %q", id, sent, out[1].CallID)
		}
	}
	if got := ShortID("aB3456789"); got != "aB3456789" {
		t.Errorf("a short id became %q", got)
	}
	if got := ShortID("aB34-6789"); got == "aB34-6789" {
		t.Error("a dash stays in a short id")
	}
}
