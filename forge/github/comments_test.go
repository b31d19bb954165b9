package github

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent/forge"
	"agent/forge/forgetest"
)

func bodies(comments []forge.Comment) []string {
	var all []string
	for _, c := range comments {
		all = append(all, c.Body)
	}
	return all
}

func TestCommentsOverPages(t *testing.T) {
	s := stage(t)
	var want []string
	for i := range 250 {
		want = append(want, fmt.Sprint("comment ", i))
		s.AddComment("o/r", 1, "ann", want[i])
	}
	got, err := connect(t, s, nil).Comments(context.Background(), issueKey(s, 1), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, bodies(got)); diff != "" {
		t.Error(diff)
	}
	for _, r := range s.Requests() {
		if strings.HasSuffix(r.Path, "/comments") && r.Query.Get("per_page") != "100" {
			t.Errorf("per_page %q", r.Query.Get("per_page"))
		}
	}
}

func TestCommentFields(t *testing.T) {
	s := stage(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s.SetClock(func() time.Time { return at })
	s.AddComment("o/r", 1, "", "of a deleted account")
	s.AddComment("o/r", 1, "ci[bot]", "x")
	s.AddComment("o/r", 1, "agent-bot", "y")
	s.AddComment("o/r", 1, "robotics-fan", "z")
	got, err := connect(t, s, nil).Comments(context.Background(), issueKey(s, 1), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	var authors []forge.Account
	for i, c := range got {
		if c.Kind != "comment" || c.System || !c.CreatedAt.Equal(at) || !c.UpdatedAt.Equal(at) {
			t.Errorf("comment %d: %+v", i, c)
		}
		if want := "http://" + s.Host() + "/o/r/issues/1#issuecomment-" + c.ID; c.URL != want {
			t.Errorf("URL %q, want %q", c.URL, want)
		}
		authors = append(authors, forge.Account{Login: c.Author.Login, Bot: c.Author.Bot})
	}
	want := []forge.Account{{Login: "ghost"}, {Login: "ci[bot]", Bot: true}, {Login: "agent-bot", Bot: true}, {Login: "robotics-fan"}}
	if diff := cmp.Diff(want, authors); diff != "" {
		t.Error(diff)
	}
}

func TestCommentsSince(t *testing.T) {
	s := stage(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s.SetClock(func() time.Time { return at })
	old := s.AddComment("o/r", 1, "ann", "old")
	s.AddComment("o/r", 1, "ann", "old and quiet")
	at = at.Add(time.Hour)
	s.AddComment("o/r", 1, "ann", "new")
	s.EditComment("o/r", old, "old, but edited")
	got, err := connect(t, s, nil).Comments(context.Background(), issueKey(s, 1), at)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"old, but edited", "new"}, bodies(got)); diff != "" {
		t.Error(diff)
	}
}

// TestCommentsShift changes the list between two pages of the first pass.
func TestCommentsShift(t *testing.T) {
	for name, change := range map[string]func(s *forgetest.Server, ids []int64){
		"deleted":  func(s *forgetest.Server, ids []int64) { s.DeleteComment("o/r", ids[3]) },
		"appended": func(s *forgetest.Server, _ []int64) { s.AddComment("o/r", 1, "ann", "late") },
		"edited":   func(s *forgetest.Server, ids []int64) { s.EditComment("o/r", ids[0], "now in the list") },
	} {
		t.Run(name, func(t *testing.T) {
			s := stage(t)
			at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			s.SetClock(func() time.Time { return at })
			ids := []int64{s.AddComment("o/r", 1, "ann", "before")}
			at = at.Add(time.Hour)
			since := at
			for i := range 240 {
				ids = append(ids, s.AddComment("o/r", 1, "ann", fmt.Sprint(i)))
			}
			requests := 0
			c := connect(t, s, func(cfg *Config) {
				cfg.Transport = trip(func(*http.Request) {
					if requests++; requests == 2 {
						change(s, ids)
					}
				})
			})
			got, err := c.Comments(context.Background(), issueKey(s, 1), since)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, m := range s.Comments("o/r", 1) {
				if !m.UpdatedAt.Before(since) {
					want = append(want, m.Body)
				}
			}
			if diff := cmp.Diff(want, bodies(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCommentsNeverStill(t *testing.T) {
	s := stage(t)
	var ids []int64
	for i := range 150 {
		ids = append(ids, s.AddComment("o/r", 1, "ann", fmt.Sprint(i)))
	}
	c := connect(t, s, func(cfg *Config) {
		cfg.Transport = trip(func(*http.Request) {
			s.DeleteComment("o/r", ids[0])
			ids = ids[1:]
		})
	})
	_, err := c.Comments(context.Background(), issueKey(s, 1), time.Time{})
	if kind(err) != forge.Transient {
		t.Errorf("error %v, want transient", err)
	}
}

// TestLinkIsOnlyANumber: the next page is asked for at our own host, wherever Link points.
func TestLinkIsOnlyANumber(t *testing.T) {
	s := stage(t)
	s.AddComment("o/r", 1, "ann", "first")
	s.Fault(forgetest.Fault{Path: ".*/comments", Times: 2, Kind: forgetest.Answer, Status: 200,
		Header: http.Header{"Link": {`<http://127.0.0.1:1/elsewhere?page=2>; rel="next"`}},
		Body:   `[{"id":1,"body":"a"}]`})
	got, err := connect(t, s, nil).Comments(context.Background(), issueKey(s, 1), time.Time{})
	if err != nil || len(got) != 1 {
		t.Fatalf("%v, %v", got, err)
	}
	log := slices.DeleteFunc(s.Requests(), func(r forgetest.Request) bool { return !strings.HasSuffix(r.Path, "/comments") })
	if !slices.ContainsFunc(log, func(r forgetest.Request) bool { return r.Query.Get("page") == "2" }) {
		t.Errorf("requests: %v", log)
	}
}

func TestCommentsFullPageWithoutLink(t *testing.T) {
	s := stage(t)
	var page []string
	for i := range pageSize {
		page = append(page, fmt.Sprintf(`{"id":%d,"body":"x"}`, i+1))
	}
	for _, n := range []int{1, 2, 4, 6} { // the others ask for the second page
		s.Fault(forgetest.Fault{Path: ".*/comments", Nth: n, Kind: forgetest.Answer, Status: 200, Body: "[" + strings.Join(page, ",") + "]"})
	}
	got, err := connect(t, s, nil).Comments(context.Background(), issueKey(s, 1), time.Time{})
	if err != nil || len(got) != pageSize {
		t.Errorf("%d comments, %v", len(got), err)
	}
	if n := len(s.Requests()); n != 10 {
		t.Errorf("%d requests, want the first page, three passes of two pages, and three for the number of comments, which is another", n)
	}
}

func TestPostAndEdit(t *testing.T) {
	s := stage(t)
	c := connect(t, s, nil)
	ctx, key := context.Background(), issueKey(s, 1)
	body := "<b>日本語</b> \"quoted\" & 😀"
	posted, err := c.PostComment(ctx, key, body)
	if err != nil {
		t.Fatal(err)
	}
	if posted.Body != body || posted.Author.Login != "agent-bot" || !posted.Author.Bot {
		t.Errorf("posted %+v", posted)
	}
	edited, err := c.EditComment(ctx, key, posted.ID, "other")
	if err != nil || edited.ID != posted.ID || edited.Body != "other" {
		t.Errorf("edited %+v, %v", edited, err)
	}
	held := s.Comments("o/r", 1)
	if len(held) != 1 || held[0].Body != "other" || strconv.FormatInt(held[0].ID, 10) != posted.ID {
		t.Errorf("held %+v", held)
	}
	for _, id := range []string{"", "x", "-1", "0", "1/../2", "99999999999999999999"} {
		if _, err := c.EditComment(ctx, key, id, "x"); kind(err) != forge.Invalid {
			t.Errorf("id %q: %v", id, err)
		}
	}
	if _, err := c.EditComment(ctx, key, "1", "x"); kind(err) != forge.NotFound {
		t.Errorf("unknown id: %v", err)
	}
}

func TestLongestComment(t *testing.T) {
	s := stage(t)
	c := connect(t, s, nil)
	longest := strings.Repeat("語", c.MaxComment())
	if _, err := c.PostComment(context.Background(), issueKey(s, 1), longest); err != nil {
		t.Error(err)
	}
	_, err := c.PostComment(context.Background(), issueKey(s, 1), longest+"x")
	if kind(err) != forge.Invalid || !strings.Contains(err.Error(), "65536") {
		t.Errorf("one more: %v", err)
	}
	if n := len(s.Comments("o/r", 1)); n != 1 {
		t.Errorf("%d comments", n)
	}
}
