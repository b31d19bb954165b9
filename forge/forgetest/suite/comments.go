package suite

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent/forge"
	"agent/forge/forgetest"
)

func bodies(comments []forge.Comment) []string {
	all := []string{}
	for _, c := range comments {
		if !c.System {
			all = append(all, c.Body)
		}
	}
	return all
}

func (w *world) comments(t *testing.T, since time.Time) []forge.Comment {
	t.Helper()
	got, err := w.Comments(background(), w.Key, since)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func commentsOverPages(t *testing.T, w *world) {
	want := []string{}
	for i := range 250 {
		want = append(want, fmt.Sprint("comment ", i))
		w.Comment("ann", want[i])
	}
	if diff := cmp.Diff(want, bodies(w.comments(t, time.Time{}))); diff != "" {
		t.Error(diff)
	}
}

func commentFields(t *testing.T, w *world) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w.SetClock(func() time.Time { return at })
	first := w.Comment("ann", "of ann")
	w.Comment("", "of nobody")
	w.Comment(Login, "ours, it seems")
	at = at.Add(time.Hour)
	w.Edit(first, "of ann, edited")
	got := w.comments(t, time.Time{})
	if len(got) != 3 {
		t.Fatalf("%d comments", len(got))
	}
	ids := map[string]bool{}
	for i, author := range []string{"ann", w.Nobody, Login} {
		c := got[i]
		ids[c.ID] = true
		if c.Author.Login != author || c.System || c.Kind == "" || !strings.Contains(c.URL, "://"+w.web()+"#") {
			t.Errorf("comment %d: %+v", i, c)
		}
	}
	if len(ids) != 3 || got[0].ID != first || got[0].Body != "of ann, edited" {
		t.Errorf("ids or bodies: %+v", got)
	}
	if !got[0].CreatedAt.Equal(at.Add(-time.Hour)) || !got[0].UpdatedAt.Equal(at) {
		t.Errorf("times: %+v", got[0])
	}
}

func commentsSince(t *testing.T, w *world) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w.SetClock(func() time.Time { return at })
	old := w.Comment("ann", "old")
	w.Comment("ann", "old and quiet")
	at = at.Add(time.Hour)
	w.Comment("ann", "new")
	w.Edit(old, "old, but edited")
	if diff := cmp.Diff([]string{"old, but edited", "new"}, bodies(w.comments(t, at))); diff != "" {
		t.Error(diff)
	}
}

// commentsShift changes the list between two pages of the first pass.
func commentsShift(t *testing.T, w *world) {
	want, ids := []string{}, []string{}
	for i := range 240 {
		want = append(want, fmt.Sprint(i))
		ids = append(ids, w.Comment("ann", want[i]))
	}
	requests := 0
	w.on(func(*http.Request) {
		if requests++; requests == 2 {
			w.Delete(ids[3])
			w.Comment("ann", "late")
		}
	})
	want = append(slices.Delete(want, 3, 4), "late")
	if diff := cmp.Diff(want, bodies(w.comments(t, time.Time{}))); diff != "" {
		t.Error(diff)
	}
}

func postAndEdit(t *testing.T, w *world) {
	w.Comment("ann", "before")
	text := "Hello\n\n> 引用 <b>&amp; \"x\"\n```\ncode\n```"
	posted, err := w.PostComment(background(), w.Key, text)
	if err != nil || posted.ID == "" || posted.Body != text || posted.Author.Login != Login || posted.CreatedAt.IsZero() {
		t.Fatalf("%+v, %v", posted, err)
	}
	w.Comment("ann", "after")
	edited, err := w.EditComment(background(), w.Key, posted.ID, "changed")
	if err != nil || edited.ID != posted.ID || edited.Kind != posted.Kind || edited.Body != "changed" {
		t.Fatalf("%+v, %v", edited, err)
	}
	if diff := cmp.Diff([]string{"before", "changed", "after"}, w.Stored()); diff != "" {
		t.Error(diff)
	}
	listed := w.comments(t, time.Time{})
	if len(listed) != 3 || listed[1].ID != posted.ID || listed[1].Kind != posted.Kind || listed[1].URL != posted.URL {
		t.Errorf("%+v is not the second of %+v", posted, listed)
	}
	w.wantWrites(t, 2)
	_, err = w.PostComment(background(), w.Key, strings.Repeat("語", w.MaxComment()))
	if err != nil {
		t.Errorf("the longest comment: %v", err)
	}
	_, err = w.PostComment(background(), w.Key, strings.Repeat("x", w.MaxComment()+1))
	wantKind(t, "too long", err, forge.Invalid)
	_, err = w.PostComment(background(), w.Key, "")
	wantKind(t, "empty", err, forge.Invalid)
}

func editGone(t *testing.T, w *world) {
	gone := w.Comment(Login, "x")
	w.Delete(gone)
	_, err := w.EditComment(background(), w.Key, gone, "y")
	wantKind(t, "deleted", err, forge.NotFound)
	for _, id := range []string{"", "x", "-1", "0", "1/../2", "99999999999999999999"} {
		_, err := w.EditComment(background(), w.Key, id, "y")
		wantKind(t, "id "+id, err, forge.Invalid)
	}
}

func listLag(t *testing.T, w *world) {
	w.Server.Fault(forgetest.Fault{Method: "POST", Path: commentPath, Kind: forgetest.ListLag, Lists: 2})
	if _, err := w.PostComment(background(), w.Key, "late"); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{0, 0, 1} {
		if got := w.comments(t, time.Time{}); len(got) != want {
			t.Errorf("list %d: %d comments, want %d", i, len(got), want)
		}
	}
}
