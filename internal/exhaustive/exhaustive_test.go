package exhaustive

import (
	"flag"
	"slices"
	"strconv"
	"testing"
)

func TestTiers(t *testing.T) {
	for value, stride := range map[string]int{"": 7, "0": 7, "1": 1} {
		t.Setenv("AGENT_EXHAUSTIVE", value)
		ran := false
		t.Run("only", func(t *testing.T) { Only(t); ran = true })
		if Every(7) != stride || On() != (stride == 1) || ran != On() || Of(3, 30) != map[int]int{7: 3, 1: 30}[stride] {
			t.Errorf("AGENT_EXHAUSTIVE=%q: Every(7) = %d, On() = %t, Only ran the test: %t", value, Every(7), On(), ran)
		}
	}
}

func TestSlow(t *testing.T) {
	for _, c := range []struct {
		short      bool
		exhaustive string
		runs       bool
	}{{false, "0", true}, {true, "0", false}, {true, "1", true}} {
		t.Setenv("AGENT_EXHAUSTIVE", c.exhaustive)
		short := flag.Lookup("test.short").Value
		was := short.String()
		if err := short.Set(strconv.FormatBool(c.short)); err != nil {
			t.Fatal(err)
		}
		ran := false
		t.Run("slow", func(t *testing.T) { Slow(t); ran = true })
		_ = short.Set(was)
		if ran != c.runs {
			t.Errorf("short: %t, AGENT_EXHAUSTIVE=%s: the test ran: %t", c.short, c.exhaustive, ran)
		}
	}
}

func TestSample(t *testing.T) {
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8}
	for value, want := range map[string][]int{"": {0, 3, 6}, "1": all} {
		t.Setenv("AGENT_EXHAUSTIVE", value)
		if got := Sample(all, 3); !slices.Equal(got, want) {
			t.Errorf("AGENT_EXHAUSTIVE=%q: %v", value, got)
		}
		if got := SampleMap(map[string]int{"b": 1, "c": 2, "a": 0, "d": 3}, 3); len(got) != map[int]int{3: 2, 9: 4}[len(want)] || got["d"] != 3 {
			t.Errorf("AGENT_EXHAUSTIVE=%q: %v", value, got)
		}
		if got := One(t, all); len(got) != map[int]int{3: 1, 9: 9}[len(want)] {
			t.Errorf("AGENT_EXHAUSTIVE=%q: one case is %v", value, got)
		}
	}
}
