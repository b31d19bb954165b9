package gitlab

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agent/forge"
	"agent/forge/rest"
	"agent/internal/exhaustive"
)

// A thread of 5,000 notes was read whole at each poll, each page twice. Of what is known
// only what changed last is fetched, in later processes, too. A deletion is seen by the
// number of notes.
func TestLongThread(t *testing.T) {
	long := exhaustive.Of(600, 5000)
	g, item := stage(t)
	var minutes atomic.Int64
	g.SetClock(func() time.Time { return time.Date(2026, 1, 2, 0, int(minutes.Load()), 0, 0, time.UTC) })
	add := func(body string) int64 { minutes.Add(1); return item.AddNote("ann", body) }
	var ids []int64
	for i := range long {
		ids = append(ids, add(fmt.Sprint(i)))
	}
	dir := t.TempDir()
	read := func() (all []forge.Comment, requests int) {
		t.Helper()
		from := len(g.Requests())
		c := connect(t, g, func(cfg *Config) { cfg.Disk = rest.NewDisk(dir, nil) }) // a process of its own
		all, err := c.Comments(context.Background(), issue(c, 1), time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.IsSortedFunc(all, func(a, b forge.Comment) int { return a.CreatedAt.Compare(b.CreatedAt) }) {
			t.Error("not in order")
		}
		return all, len(g.Requests()) - from
	}
	minutes.Add(5) // none may be so new that it came meanwhile
	_, whole := read()
	if whole > long/100+2 {
		t.Errorf("%d notes took %d requests", long, whole)
	}
	for _, c := range []struct {
		what string
		do   func()
		few  bool
		want int
	}{
		{"nothing new", func() {}, true, long},
		{"one new", func() { add("new") }, true, long + 1},
		{"one is edited", func() { item.EditNote(ids[0], "edited") }, true, long + 1},
		{"one is new, one is deleted", func() { add("new"); item.DeleteNote(ids[1]) }, false, long + 1},
		{"nothing new again", func() {}, true, long + 1},
		{"one is deleted", func() { item.DeleteNote(ids[2]) }, false, long},
	} {
		minutes.Add(5)
		c.do()
		all, n := read()
		if len(all) != c.want || c.few && n > 2 || !c.few && n < whole/2 {
			t.Errorf("%s: %d notes in %d requests (%d at first)", c.what, len(all), n, whole)
		}
		if c.what == "one is edited" && !strings.Contains(all[0].Body, "edited") {
			t.Errorf("the edit is not seen: %q", all[0].Body)
		}
	}
	t.Logf("%d notes: %d requests at first", long, whole)
}
