package world_test

import (
	"testing"

	"agent/internal/config"
	"agent/internal/world"
	"agent/llm/llmtest"
)

// The configuration of every kind of forge is one that the program accepts, and
// the issue is there with its label.
func TestForges(t *testing.T) {
	if len(world.Forges()) < 2 {
		t.Fatalf("only %v", world.Forges())
	}
	for _, name := range world.Forges() {
		w, err := world.New(world.Options{Dir: t.TempDir(), Forge: name, Files: map[string]string{"a.txt": "a\n"},
			Model: llmtest.New(func(int, llmtest.Request) llmtest.Reply { return llmtest.Text("done") })})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Close)
		w.Forge.Open("A title", "A text")
		w.Forge.Comment("alice", "A comment")
		cfg, _, err := config.Load(w.ConfigFile(), func(string) string { return "" })
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if f := cfg.Forges(); len(f) != 1 || f[0].Kind != name || f[0].BotName != world.Bot {
			t.Errorf("%s: configured are %+v", name, f)
		}
		if c := w.Forge.Comments(); len(c) != 1 || c[0].Author != "alice" || c[0].Body != "A comment" {
			t.Errorf("%s: comments %+v", name, c)
		}
		if l := w.Forge.Labels(); len(l) != 1 || l[0] != world.Label {
			t.Errorf("%s: labels %q", name, l)
		}
		before := w.Forge.Labelled("alice")[world.Label]
		w.Forge.Label() // it is there already
		if again := w.Forge.Labelled("alice"); len(again) != 1 || before != 1 || again[world.Label] != 1 || len(w.Forge.Labelled(world.Bot)) > 0 {
			t.Errorf("%s: alice gave the label %d times, then %v", name, before, again)
		}
	}
}

// Two forges have a configuration in common, and a project each.
func TestBeside(t *testing.T) {
	w, err := world.New(world.Options{Dir: t.TempDir(), Forge: "gitlab", Beside: "github", Files: map[string]string{"a.txt": "a\n"},
		Model: llmtest.New(func(int, llmtest.Request) llmtest.Reply { return llmtest.Text("done") })})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	cfg, _, err := config.Load(w.ConfigFile(), func(string) string { return "" })
	if err != nil || len(cfg.Forges()) != 2 {
		t.Fatalf("%v, %d forges", err, len(cfg.Forges()))
	}
	for _, f := range []world.Forge{w.Forge, w.Beside} {
		first, second := f.Open("One", "A text"), f.Open("Two", "A text")
		f.Issue(second).Unlabel(world.Label)
		if first != 1 || second != 2 || len(f.Labels()) != 1 || len(f.Issue(2).Labels()) != 0 {
			t.Errorf("%s: issues %d and %d with %v and %v", f.Host(), first, second, f.Labels(), f.Issue(2).Labels())
		}
	}
}

func TestUnknownForge(t *testing.T) {
	_, err := world.New(world.Options{Dir: t.TempDir(), Forge: "other", Files: map[string]string{"a.txt": "a\n"},
		Model: llmtest.New(func(int, llmtest.Request) llmtest.Reply { return llmtest.Text("done") })})
	if err == nil {
		t.Error("a forge without a fake was made")
	}
}
