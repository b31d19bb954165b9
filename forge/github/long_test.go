package github

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agent/forge"
	"agent/forge/forgetest"
	"agent/forge/rest"
	"agent/internal/exhaustive"
)

// A thread of 5,000 comments was read whole by each run, each page twice: 204 requests.
// Of what is known only what changed is fetched, in later processes, too. A deletion is
// seen by the number of comments.
func TestLongThread(t *testing.T) {
	long := exhaustive.Of(600, 5000)
	for _, kind := range []string{"comment", "review_comment"} {
		s, key := pullStage(t)
		var minutes atomic.Int64
		s.SetClock(func() time.Time { return time.Date(2026, 1, 2, 0, int(minutes.Load()), 0, 0, time.UTC) })
		add := func(body string) int64 {
			minutes.Add(1)
			if kind == "comment" {
				return s.AddComment("o/r", 2, "ann", body)
			}
			return s.AddReviewComment("o/r", 2, "ann", body, forgetest.DiffPlace{Path: "a.go", Line: 1})
		}
		var ids []int64
		for i := range long {
			ids = append(ids, add(fmt.Sprint(i)))
		}
		dir := t.TempDir()
		read := func() (all []forge.Comment, requests int) {
			t.Helper()
			from := len(s.Requests())
			c := connect(t, s, func(cfg *Config) { cfg.Disk = rest.NewDisk(dir, nil) }) // a process of its own
			all, err := c.Comments(context.Background(), key, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.IsSortedFunc(all, func(a, b forge.Comment) int { return a.CreatedAt.Compare(b.CreatedAt) }) {
				t.Error("not in order")
			}
			return all, len(s.Requests()) - from
		}
		_, whole := read()
		if most := long/100 + 8; kind == "comment" && whole > most || whole > 2*most {
			t.Errorf("%d of kind %s took %d requests", long, kind, whole) // of review comments it is asked which are resolved, too
		}
		for _, c := range []struct {
			what string
			do   func()
			few  bool
			want int
		}{
			{"nothing new", func() {}, true, long},
			{"one new", func() { add("new") }, true, long + 1},
			{"one is edited", func() { s.EditComment("o/r", ids[0], "edited") }, true, long + 1},
			{"one is new, one is deleted", func() { add("new"); s.DeleteComment("o/r", ids[1]) }, false, long + 1},
			{"nothing new again", func() {}, true, long + 1},
			{"one is deleted", func() { s.DeleteComment("o/r", ids[2]) }, false, long},
		} {
			minutes.Add(5)
			c.do()
			all, n := read()
			asked := 0
			if kind != "comment" && c.what == "one new" { // which threads are resolved: GraphQL gives a hundred at once
				asked = long/100 + 1
			}
			if len(all) != c.want || c.few && n > 6+asked || !c.few && n < whole/2 {
				t.Errorf("%s, %s: %d comments in %d requests (%d at first)", kind, c.what, len(all), n, whole)
			}
			if c.what == "one is edited" && !strings.Contains(all[0].Body, "edited") {
				t.Errorf("the edit is not seen: %q", all[0].Body)
			}
			if c.what == "one new" && kind != "comment" {
				break // the fake changes no review comments
			}
		}
		t.Logf("%d of kind %s: %d requests at first", long, kind, whole)
	}
}
