package forgetest_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"agent/forge/forgetest"
)

// TestCallsOfPullRequests goes through the calls in their order; every answer
// is held against the official description beside.
func TestCallsOfPullRequests(t *testing.T) {
	s := stage(t)
	s.AddToken("reader's", "reader")
	s.SetPermission("o/r", "reader", "read")
	s.AddPullRequest("o/r", "change", "", "", "b", "main", "todo")
	review := s.AddReview("o/r", 2, "", "APPROVED", "")
	remark := s.AddReviewComment("o/r", 2, "", "why?", forgetest.DiffPlace{Path: "a.go", StartLine: 2, Line: 3})
	draft := s.AddReview("o/r", 2, "agent-bot", "PENDING", "not sent yet")
	for _, test := range []struct {
		method, path, token, body string
		status                    int
		holds                     string
	}{
		{"GET", "/repos/o/r/pulls/2/reviews", "secret", "", 200, "not sent yet"},
		{"POST", "/repos/o/r/pulls/2/reviews", "reader's", `{"body":"no","event":"REQUEST_CHANGES","comments":[{"path":"b.go","line":1,"body":"here"}]}`, 200, "CHANGES_REQUESTED"},
		{"POST", "/repos/o/r/pulls/2/reviews", "secret", `{"event":"COMMENT"}`, 422, "body is missing"},
		{"POST", "/repos/o/r/pulls/2/reviews", "secret", `{"event":"SHRUG"}`, 422, "event"},
		{"POST", "/repos/o/r/pulls/1/reviews", "secret", `{"event":"APPROVE"}`, 404, "Not Found"},
		{"GET", "/repos/o/r/pulls/2/comments", "", "", 200, `"here"`},
		{"POST", "/repos/o/r/pulls/2/comments", "secret", `{"body":"x","path":"c.go","line":4,"commit_id":"abc"}`, 201, `"c.go"`},
		{"POST", "/repos/o/r/pulls/2/comments", "secret", `{"body":"","path":"c.go","line":4,"commit_id":"abc"}`, 422, "missing_field"},
		{"POST", fmt.Sprintf("/repos/o/r/pulls/2/comments/%d/replies", remark), "secret", `{"body":"because"}`, 201, fmt.Sprintf(`"in_reply_to_id":%d`, remark)},
		{"POST", "/repos/o/r/pulls/2/comments/1/replies", "secret", `{"body":"because"}`, 404, "Not Found"},
		{"GET", fmt.Sprintf("/repos/o/r/pulls/comments/%d", remark), "secret", "", 200, `"line":3`},
		{"PATCH", fmt.Sprintf("/repos/o/r/pulls/comments/%d", remark), "reader's", `{"body":"y"}`, 403, "not accessible"},
		{"PATCH", fmt.Sprintf("/repos/o/r/pulls/comments/%d", remark), "secret", `{"body":"changed"}`, 200, "changed"},
		{"DELETE", fmt.Sprintf("/repos/o/r/pulls/comments/%d", remark), "secret", "", 204, ""},
		{"GET", fmt.Sprintf("/repos/o/r/pulls/comments/%d", remark), "secret", "", 404, "Not Found"},
		{"GET", "/repos/o/r/pulls/2", "secret", "", 200, `"review_comments":3`},
		{"GET", "/repos/o/r/pulls?head=o:b", "secret", "", 200, `"number":2`},
		{"GET", "/repos/o/r/issues/1/sub_issues", "secret", "", 200, "[]"},
		{"GET", "/rate_limit", "secret", "", 200, `"remaining"`},
		{"POST", "/repos/o/r/issues", "secret", `{"title":"New","body":"B","labels":["todo"],"assignees":["bob"]}`, 201, `"todo"`},
		{"POST", "/repos/o/r/issues", "reader's", `{"title":"New","labels":["todo"]}`, 201, `"labels":[]`},
		{"POST", "/repos/o/r/issues", "secret", `{"title":""}`, 422, "title is missing"},
	} {
		got, err := send(t, test.method, s.URL()+test.path, test.token, test.body, nil)
		if err != nil || got.status != test.status || !strings.Contains(got.body, test.holds) {
			t.Errorf("%s %s: %d %s, %v, want %d with %s", test.method, test.path, got.status, got.body, err, test.status, test.holds)
		}
	}
	if ids := reviewIDs(t, s, "reader's"); slices.Contains(ids, draft) || !slices.Contains(ids, review) {
		t.Errorf("others see %v: a review that was not sent, %d, is its author's", ids, draft)
	}
}

func reviewIDs(t *testing.T, s *forgetest.Server, token string) (ids []int64) {
	t.Helper()
	got, err := send(t, "GET", s.URL()+"/repos/o/r/pulls/2/reviews", token, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	var list []struct{ ID int64 }
	if err := json.Unmarshal([]byte(got.body), &list); err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		ids = append(ids, r.ID)
	}
	return ids
}
