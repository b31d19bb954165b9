package projections

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/llm"
)

// counted are the tokens of llm/testdata in two vocabularies, counted by js-tiktoken 1.0.
var counted = map[string]map[string]int{
	"o200k_base":  {"english": 132, "japanese": 191, "kanji": 77, "katakana": 45, "schema": 94, "source": 249},
	"cl100k_base": {"english": 131, "japanese": 268, "kanji": 123, "katakana": 64, "schema": 90, "source": 247},
}

// TestCalibrated: from the second call on, what is recorded as the estimate is
// within 15 % of what the provider counts, also as the conversation turns from
// one kind of text to another, and with a provider that counts half as much again.
func TestCalibrated(t *testing.T) {
	const margin = 0.15
	for provider, count := range counted {
		for _, turns := range [][]string{
			{"english", "source", "schema", "source"},
			{"japanese", "kanji", "katakana", "japanese"},
			{"source", "english", "source", "schema"},
			{"english schema japanese", "source", "source", "japanese", "kanji"}, // prompt, tools and task; then files
			{"english schema source", "source", "japanese", "english"},
			{"japanese", "schema", "source", "japanese", "english"},
		} {
			for _, more := range []float64{1, 1.5} {
				u, estimated, reported, worst := Usage{}, 0.0, 0.0, 0.0
				for n, name := range turns {
					for part := range strings.FieldsSeq(name) {
						text, err := os.ReadFile("../llm/testdata/" + part + ".txt")
						if err != nil {
							t.Fatal(err)
						}
						estimated += float64(llm.Estimate(string(text)))
						reported += more * float64(count[part])
					}
					recorded := u.Scale(estimated)
					if n > 0 {
						worst = max(worst, math.Abs(recorded/reported-1))
					}
					u.apply(event.Event{Body: &event.LLMRequested{Estimated: int(math.Ceil(recorded))}}, time.Time{}, Running)
					u.apply(event.Event{Body: &event.LLMReplied{Usage: event.Usage{Prompt: int(reported)}}}, time.Time{}, Running)
				}
				if worst > margin {
					t.Errorf("%s, %v, times %v: %.0f %% away", provider, turns, more, worst*100)
				}
			}
		}
	}
}
