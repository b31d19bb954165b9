package github

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"agent/forge/forgetest"
)

func statuses(s *forgetest.Server, from int) (all []int) {
	for _, r := range s.Requests()[from:] {
		all = append(all, r.Status)
	}
	return all
}

// TestUnchangedIsNotSentAgain: what is polled costs nothing while nothing
// happens, and each change is seen at once.
func TestUnchangedIsNotSentAgain(t *testing.T) {
	s, key := pullStage(t)
	s.AddComment("o/r", 2, "ann", "first")
	c := connect(t, s, nil)
	poll := func() (state string, n int, codes []int) {
		t.Helper()
		from := len(s.Requests())
		task, err := c.Task(context.Background(), key)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.ListTasks(context.Background(), "todo"); err != nil {
			t.Fatal(err)
		}
		all, err := c.Comments(context.Background(), key, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		return task.State, len(all), statuses(s, from)
	}
	if state, n, codes := poll(); state != "open" || n != 1 || slices.Contains(codes, 304) {
		t.Errorf("first: %s, %d comments, %v", state, n, codes)
	}
	if state, n, codes := poll(); state != "open" || n != 1 || !slices.Equal(codes, []int{304, 304, 304, 304, 304, 304}) {
		t.Errorf("unchanged: %s, %d comments, %v", state, n, codes)
	}
	s.AddComment("o/r", 2, "ann", "second")
	s.CloseIssue("o/r", 2)
	if state, n, _ := poll(); state != "closed" || n != 2 {
		t.Errorf("changed: %s, %d comments", state, n)
	}
}

// TestPagesFromCache: the next page is found by the kept Link header too.
func TestPagesFromCache(t *testing.T) {
	s := stage(t)
	for i := range 250 {
		s.AddComment("o/r", 1, "ann", fmt.Sprint(i))
	}
	c := connect(t, s, nil)
	if got, err := c.Comments(context.Background(), issueKey(s, 1), time.Time{}); err != nil || len(got) != 250 {
		t.Fatalf("%d comments, %v", len(got), err)
	}
	if got := statuses(s, 0); !slices.Equal(got, []int{200, 200, 304, 200, 200, 304, 304}) {
		t.Errorf("%v: the first page and the issue are unchanged", got)
	}
}

// TestBrokenIsNotKept: a broken answer with a tag would come back for ever.
func TestBrokenIsNotKept(t *testing.T) {
	s := stage(t)
	s.AddComment("o/r", 1, "ann", "x")
	for _, body := range []string{`[{"id":1,`, `"text"`, `{"message":"x"}`, `null`, ``} {
		s.Fault(forgetest.Fault{Path: ".*/comments", Kind: forgetest.Answer, Status: 200, Body: body, Header: http.Header{"Etag": {`"x"`}}})
		c := connect(t, s, nil)
		if err := comments(c, issueKey(s, 1)); err == nil {
			t.Errorf("%s: no error", body)
		}
		asked := ""
		s.Watch(func(e forgetest.Exchange) { asked = e.Request.Header.Get("If-None-Match") })
		if err := comments(c, issueKey(s, 1)); err != nil || asked != "" {
			t.Errorf("%s: afterwards %v, If-None-Match %q", body, err, asked)
		}
	}
}

// TestRefusalBesideCache: an error is an error, whatever is kept.
func TestRefusalBesideCache(t *testing.T) {
	s := stage(t)
	s.AddComment("o/r", 1, "ann", "x")
	c := connect(t, s, nil)
	if err := comments(c, issueKey(s, 1)); err != nil {
		t.Fatal(err)
	}
	s.Fault(forgetest.Fault{Path: ".*/comments", Kind: forgetest.Unauthorized})
	if err := comments(c, issueKey(s, 1)); err == nil {
		t.Error("the cache hid a refusal")
	}
}
