package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// talk is a conversation as its owner keeps it: turns are added, and a change of others
// begins a new thread.
type talk struct {
	turns  []Message
	thread *Thread
}

func (c *talk) step(random *rand.Rand, n int) {
	switch k := random.IntN(14); {
	case k == 0 && len(c.turns) > 3: // compacted
		*c = talk{slices.Concat(c.turns[:1], []Message{{Role: Assistant, Content: fmt.Sprint("summary ", n)}}, c.turns[3:]), new(Thread)}
	case k == 1 && len(c.turns) > 0: // another system message
		*c = talk{slices.Concat([]Message{{Role: System, Content: fmt.Sprint("rules ", n)}}, c.turns[1:]), new(Thread)}
	case k == 2 && len(c.turns) > 0: // cut
		*c = talk{slices.Clone(c.turns[:random.IntN(len(c.turns))]), new(Thread)}
	case k == 3:
		*c = talk{thread: new(Thread)}
	case k == 4: // nothing new
	case k < 7:
		c.turns = append(c.turns, Message{Role: []Role{System, User, Assistant}[random.IntN(3)], Content: fmt.Sprint("words ", n)})
	case k < 9 && len(c.turns) > 0 && c.turns[len(c.turns)-1].Role == ToolRole: // of a call before
		c.turns = append(c.turns, Message{Role: ToolRole, CallID: fmt.Sprintf("call.%d.%d", n-1, 1), Content: fmt.Sprint("late result ", n)})
	default:
		answer := Message{Role: Assistant, Content: "I look."}
		for i := range 1 + random.IntN(3) {
			answer.Calls = append(answer.Calls, ToolCall{ID: fmt.Sprintf("call.%d.%d", n, i), Name: "f", Arguments: "{}"})
		}
		c.turns = append(c.turns, answer)
		for _, call := range answer.Calls[:random.IntN(len(answer.Calls)+1)] {
			c.turns = append(c.turns, Message{Role: ToolRole, CallID: call.ID, Content: fmt.Sprint("result ", n)})
		}
	}
}

func equal(a, b Message) bool { return reflect.DeepEqual(a, b) }

// Conversations grow, are changed, cut, sent in part and come by turns, in the shapes of
// several servers: what is kept of them never shows, and what was given away stays.
func TestThreadsNeverShow(t *testing.T) {
	for _, p := range Profiles {
		random := rand.New(rand.NewPCG(1, 2))
		var orders Orders
		var encodings Encodings
		all := make([]talk, mostKept+1)
		threads := map[*Thread][]Message{}
		type sent struct{ got, want []Message }
		var given []sent
		for n := range 200 {
			c := &all[max(0, random.IntN(3*len(all))-2*len(all))]
			c.step(random, n)
			r := Request{Model: fmt.Sprint("m", random.IntN(2)), Messages: slices.Clip(c.turns), Thread: c.thread}
			switch random.IntN(8) {
			case 0:
				r.Messages = r.Messages[:random.IntN(len(r.Messages)+1)]
			case 1: // others that begin alike
				r.Thread, r.Messages = nil, append(r.Messages, Message{Role: Assistant, Content: fmt.Sprint("aside ", n)})
			}
			if sum := sha256.Sum256(r.Canonical()); r.Messages != nil && r.Hash() != hex.EncodeToString(sum[:]) {
				t.Fatalf("%s, step %d: another hash", p.Name, n)
			}
			shape := p
			if random.IntN(6) == 0 {
				shape = p.With(StepStrictRoles)
			}
			got, thread := orders.Of(shape, r)
			want := shape.Messages(r.Messages)
			if !slices.EqualFunc(want, got, equal) {
				t.Fatalf("%s, step %d: %s", p.Name, n, cmp.Diff(want, got))
			}
			if thread != nil {
				longer, shorter := threads[thread], got
				if len(longer) < len(shorter) {
					longer, shorter = shorter, longer
				}
				if !slices.EqualFunc(shorter, longer[:len(shorter)], equal) {
					t.Fatalf("%s, step %d: one thread has two beginnings: %s", p.Name, n, cmp.Diff(shorter, longer))
				}
				threads[thread] = longer
			}
			data, err := encodings.Of(fmt.Sprint(shape.Roles), thread, got, Listed(func(m Message) ([]byte, error) { return json.Marshal(m) }))
			if whole, _ := json.Marshal(want); err != nil || string(data) != string(whole[1:len(whole)-1]) {
				t.Fatalf("%s, step %d: %v\n%s\nwant\n%s", p.Name, n, err, data, whole)
			}
			given = append(given, sent{got, slices.Clone(want)})
		}
		for n, s := range given {
			if !slices.EqualFunc(s.want, s.got, equal) {
				t.Fatalf("%s, step %d: what was given away changed: %s", p.Name, n, cmp.Diff(s.want, s.got))
			}
		}
	}
}

// The turns of a thread that is known are not compared again.
func BenchmarkStep(b *testing.B) {
	for _, n := range []int{50, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var orders Orders
			var encodings Encodings
			r := Request{Thread: new(Thread)}
			step := func(i int) {
				id := fmt.Sprint("call_", i)
				r.Messages = append(r.Messages, Message{Role: Assistant, Calls: []ToolCall{{ID: id, Name: "f", Arguments: "{}"}}}, Message{Role: ToolRole, CallID: id, Content: "some line of code\n"})
			}
			for i := range n {
				step(i)
			}
			for i := 0; b.Loop(); i++ {
				step(n + i)
				r.Hash()
				turns, thread := orders.Of(Profiles[0], r)
				if _, err := encodings.Of("", thread, turns, Listed(func(m Message) ([]byte, error) { return json.Marshal(m) })); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
