package llm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// repeated is a request of the text, n times, which has n times count tokens of o200k_base.
func repeated(t *testing.T, file string, n int) Request {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return Request{ContextLength: 32768, Messages: []Message{{Role: System, Content: "s"}, {Role: User, Content: strings.Repeat(string(text)+"\n", n)}}}
}

var counts = map[string]int{"english.txt": 132, "japanese.txt": 191, "kanji.txt": 77, "katakana.txt": 45, "schema.txt": 94, "source.txt": 249}

func TestPromptCut(t *testing.T) {
	for file, count := range counts {
		r := repeated(t, file, 20000/count)
		whole := 20000 / count * count
		for name, c := range map[string]struct {
			usage Usage
			want  bool
		}{
			"whole":                    {Usage{Prompt: whole, Known: true}, false},
			"a thriftier tokeniser":    {Usage{Prompt: whole * 75 / 100, Known: true}, false},
			"a quarter":                {Usage{Prompt: whole / 4, Known: true}, true},
			"a window":                 {Usage{Prompt: 8192, Known: true}, true},
			"a quarter, of no account": {Usage{Prompt: whole / 4}, false},
			"nothing":                  {Usage{Known: true}, false},
			"the rest was cached":      {Usage{Prompt: whole / 4, Cached: whole * 3 / 4, Known: true}, false},
		} {
			if got := PromptCut(r, c.usage); got != c.want {
				t.Errorf("%s, %s (%+v of %d): %v", file, name, c.usage, whole, got)
			}
		}
	}
}

// Measured once: 6,018 tokens of English sent, 4,096 counted.
func TestPromptCutAtTheWindowOfTheServer(t *testing.T) {
	r := repeated(t, "english.txt", 6018/132)
	for counted, want := range map[int]bool{4096: true, 6018: false, 5000: false} {
		if got := PromptCut(r, Usage{Prompt: counted, Known: true}); got != want {
			t.Errorf("%d: %v", counted, got)
		}
	}
	r.ContextLength = 4000
	if !PromptCut(r, Usage{Prompt: 4000, Known: true}) {
		t.Error("a count of just the window asked for passes")
	}
}

func TestPromptCutSparesWhatOnlyLooksShort(t *testing.T) {
	table := strings.Repeat("│ name │ "+strings.Repeat("─", 60)+" │\n", 200)
	for name, c := range map[string]struct {
		r       Request
		counted int
	}{
		"short prompts":        {Request{Messages: []Message{{Content: strings.Repeat("word ", 900)}}}, 100},
		"tools left out":       {Request{Messages: []Message{{Content: "hello"}}, Tools: []Tool{{Schema: []byte(strings.Repeat("word ", 3500))}}}, 20},
		"tables drawn by line": {Request{Messages: []Message{{Content: table}}}, 200 * 12},
		"rules of dashes":      {Request{Messages: []Message{{Content: strings.Repeat(strings.Repeat("-", 4000)+"\n", 100)}}}, 100 * 64},
	} {
		if PromptCut(c.r, Usage{Prompt: c.counted, Known: true}) {
			t.Errorf("%s: accused", name)
		}
	}
}
