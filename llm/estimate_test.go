package llm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The counts are those of the o200k_base vocabulary; Japanese is not counted as
// a quarter of its bytes (B14).
func TestEstimateIsNearATokeniser(t *testing.T) {
	for name, want := range map[string]int{
		"english.txt":  132,
		"japanese.txt": 191,
		"kanji.txt":    77,
		"katakana.txt": 45,
		"schema.txt":   94,
		"source.txt":   249,
	} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if got := Estimate(string(text)); got < want*85/100 || got > want*120/100 {
			t.Errorf("%s: estimated %d tokens, a tokeniser counts %d", name, got, want)
		}
	}
}

func TestEstimateOfEdgeCases(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, " ": 1, "a": 1, "\n": 1, "\xff": 2, "hello world": 2, "123456": 2, "🙂": 2,
	} {
		if got := Estimate(text); got != want {
			t.Errorf("Estimate(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestEstimateOfARequestCountsEveryPart(t *testing.T) {
	long := strings.Repeat("word ", 1000)
	full := Request{
		Messages: []Message{
			{Role: System, Content: long},
			{Role: Assistant, Calls: []ToolCall{{ID: "a", Name: "f", Arguments: `{"text":"` + long + `"}`}}},
		},
		Tools: []Tool{{Name: "f", Description: long, Schema: []byte(`{"description":"` + long + `"}`)}},
	}
	if got := EstimateRequest(full); got < 4000 || got > 4100 {
		t.Errorf("four times 1000 words are estimated as %d tokens", got)
	}
	if got := EstimateRequest(Request{Messages: make([]Message, 10)}); got != 40 {
		t.Errorf("ten empty messages are estimated as %d tokens", got)
	}
}
