package shapes

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/internal/loosejson"
)

var phases = slices.Sorted(maps.Keys(documented))

// FuzzShapes reads a shape out of a text, as it stands and mutated. The seed
// says which one: all of them each time would be too slow to find much.
func FuzzShapes(f *testing.F) {
	for i, phase := range phases {
		f.Add(documented[phase], uint64(i))
		f.Add(around["fence"](documented[phase]), uint64(i))
	}
	f.Add(`{"actions":[{"tool":"t","parameters":"{\"p\":\"\\ud83d\"}"}]}`, uint64(1))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		phase := phases[seed%uint64(len(phases))]
		checkRead(t, phase, text)
		checkRead(t, phase, mutated(text, seed))
	})
}

// TestMutatedShapes is some of what the fuzzer does, each time.
func TestMutatedShapes(t *testing.T) {
	usable := 0
	for seed := range uint64(80) {
		for _, phase := range phases {
			if checkRead(t, phase, mutated(documented[phase], seed)) {
				usable++
			}
		}
	}
	if all := 80 * len(phases); usable < all/4 || usable > all*9/10 {
		t.Errorf("%d of %d mutated replies are usable: too easy or too hard a test", usable, all)
	}
}

// checkRead says whether a reply is usable, and checks what holds for each.
func checkRead(t *testing.T, phase, text string) bool {
	t.Helper()
	value, problem := read(phase, text)
	if again, trouble := read(phase, text); !cmp.Equal(value, again) || trouble != problem {
		t.Fatalf("%s: two readings of %q differ", phase, text)
	}
	if problem != "" {
		if zero, _ := read(phase, ""); !cmp.Equal(zero, value) || strings.Contains(problem, "\n") {
			t.Fatalf("%s: problem %q and %+v of %q", phase, problem, value, text)
		}
		return false
	}
	data, err := json.Marshal(map[string]any{"value": value})
	if err == nil {
		err = eventlog.CheckData(data)
	}
	if err != nil {
		t.Fatalf("%s: %q cannot be logged: %v", phase, text, err)
	}
	checkCalls(t, text, value)
	return true
}

// checkCalls looks for arguments that are not in the text, and for plans that are none.
func checkCalls(t *testing.T, text string, value any) {
	t.Helper()
	known := given(text)
	for _, c := range calls(t, value) {
		if arguments := string(c.Parameters); arguments != "{}" && !known[arguments] {
			t.Fatalf("arguments %s were not given in %q", arguments, text)
		}
		if c.Tool != "" && !strings.Contains(text, c.Tool[:1]) {
			t.Fatalf("tool %q was not given in %q", c.Tool, text)
		}
	}
}

func calls(t *testing.T, value any) []event.Method {
	t.Helper()
	var actions []event.Action
	switch v := value.(type) {
	case event.Needs:
		var out []event.Method
		for _, n := range v.Required {
			out = append(out, n.Method)
		}
		return out
	case event.Plan:
		actions = planned(t, v.Actions)
	case event.Revision:
		actions = planned(t, v.Actions)
	case reflected:
		if v.Plan != nil {
			actions = planned(t, v.Plan.Actions)
		}
	case event.Replan:
		actions = v.Additional
	case checked:
		actions = v.Verification.Additional
	}
	var out []event.Method
	for _, a := range actions {
		out = append(out, event.Method{Tool: a.Tool, Parameters: a.Parameters})
	}
	return out
}

func planned(t *testing.T, p event.ActionPlan) []event.Action {
	t.Helper()
	seen := map[string]bool{}
	for i, a := range p.Actions {
		if a.ID == "" || seen[a.ID] || p.Order[i] != a.ID {
			t.Fatalf("ids are missing, double or out of order: %+v", p)
		}
		seen[a.ID] = true
	}
	if len(p.Actions) == 0 || len(p.Order) != len(p.Actions) || len(p.Actions) > maxItems {
		t.Fatalf("a plan of %d actions in an order of %d", len(p.Actions), len(p.Order))
	}
	return p.Actions
}

// given are all objects in the text, also those in texts, each as JSON with sorted keys.
func given(text string) map[string]bool {
	out := map[string]bool{}
	for data := range loosejson.Outermost(loosejson.StripThinking(text)) {
		collect(decoded(data), out)
	}
	return out
}

func collect(value any, out map[string]bool) {
	switch v := value.(type) {
	case map[string]any:
		out[encoded(v)] = true
		for _, inner := range v {
			collect(inner, out)
		}
	case []any:
		for _, inner := range v {
			collect(inner, out)
		}
	case string:
		if inner := decoded([]byte(v)); inner != nil && inner != v {
			collect(inner, out)
		}
	}
}

// decoded is nil for what is no JSON.
func decoded(data []byte) (value any) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if !json.Valid(data) || d.Decode(&value) != nil {
		return nil
	}
	return value
}

func encoded(value any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(value) != nil {
		return ""
	}
	return strings.TrimSpace(b.String())
}

// mutated changes a JSON text at a few places, and cuts some.
func mutated(text string, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	value := decoded([]byte(text))
	if value == nil {
		return text
	}
	for range 1 + r.IntN(4) {
		value = mutate(value, r)
	}
	out := encoded(value)
	if r.IntN(8) == 0 {
		out = out[:r.IntN(len(out)+1)]
	}
	return out
}

// mutate changes one value somewhere in value.
func mutate(value any, r *rand.Rand) any {
	switch v := value.(type) {
	case map[string]any:
		if len(v) > 0 && r.IntN(4) > 0 {
			return mutateField(v, r)
		}
	case []any:
		if len(v) > 0 && r.IntN(4) > 0 {
			i := r.IntN(len(v))
			v[i] = mutate(v[i], r)
			return v
		}
	}
	return swapped(value, r)
}

// mutateField removes, renames, moves or changes a field.
func mutateField(v map[string]any, r *rand.Rand) any {
	key := slices.Sorted(maps.Keys(v))[r.IntN(len(v))]
	field := v[key]
	switch r.IntN(8) {
	case 0:
		delete(v, key)
	case 1:
		delete(v, key)
		v[[]string{"actions", "reasoning", "id", "parameters", "comment", key + "s"}[r.IntN(6)]] = field
	case 2:
		v[key] = map[string]any{key: field}
	case 3:
		if inner, ok := field.(map[string]any); ok { // its fields one level up
			delete(v, key)
			maps.Copy(v, inner)
		}
	default:
		v[key] = mutate(field, r)
	}
	return v
}

// swapped is a value of another type.
func swapped(value any, r *rand.Rand) any {
	switch r.IntN(10) {
	case 0:
		return nil
	case 1:
		return json.Number("-7")
	case 2:
		return "yes"
	case 3:
		return []any{value, value}
	case 4:
		return map[string]any{"data": value}
	case 5:
		return encoded(value)
	case 6:
		return true
	case 7:
		return strings.Repeat("長い ", 3000)
	case 8:
		return map[string]any{}
	}
	return []any{}
}
