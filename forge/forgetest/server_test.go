package forgetest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"agent/forge/forgetest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	}))
}

// stage has a public and a private repository, each with one issue.
func stage(t *testing.T) *forgetest.Server {
	t.Helper()
	s := forgetest.New()
	t.Cleanup(func() {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		s.Close()
	})
	checkAnswers(t, s)
	s.AddToken("secret", "agent-bot")
	s.AddRepository("o/r", forgetest.Repository{})
	s.AddRepository("o/p", forgetest.Repository{Private: true})
	s.AddIssue("o/r", "T", "B", "ann", "todo")
	s.AddIssue("o/p", "T", "B", "ann", "todo")
	return s
}

type result struct {
	status int
	header http.Header
	body   string
}

func send(t *testing.T, method, url, token, body string, header http.Header) (result, error) {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		r.Header = header
	}
	if token != "" {
		r.Header.Set("Authorization", "token "+token)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return result{}, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	return result{response.StatusCode, response.Header, string(data)}, err
}

func TestAccess(t *testing.T) {
	s := stage(t)
	s.AddToken("reader's", "reader")
	s.SetPermission("o/r", "reader", "read")
	s.SetPermission("o/p", "reader", "none")
	s.AddRepository("o/old", forgetest.Repository{Archived: true})
	s.AddIssue("o/old", "T", "", "ann")
	for _, test := range []struct {
		method, path, token, body string
		want                      int
	}{
		{"GET", "/repos/o/r/issues/1", "", "", 200},
		{"GET", "/repos/o/p/issues/1", "", "", 404},
		{"GET", "/repos/o/p/issues/1", "secret", "", 200},
		{"GET", "/repos/o/p/issues/1", "reader's", "", 404},
		{"GET", "/repos/O/R/issues/1", "secret", "", 200},
		{"GET", "/repos/o/r/issues/2", "secret", "", 404},
		{"GET", "/repos/o/r/issues/1", "wrong", "", 401},
		{"POST", "/repos/o/r/issues/1/comments", "", `{"body":"x"}`, 401},
		{"POST", "/repos/o/r/issues/1/comments", "reader's", `{"body":"x"}`, 201},
		{"POST", "/repos/o/r/issues/1/labels", "reader's", `["x"]`, 403},
		{"POST", "/repos/o/r/issues/1/comments", "secret", `{"body":`, 400},
		{"POST", "/repos/o/old/issues/1/comments", "secret", `{"body":"x"}`, 403},
		{"PATCH", "/repos/o/r/issues/1", "secret", `{"assignees":["bob"],"state":"closed"}`, 200},
		{"HEAD", "/", "secret", "", 200},
		{"GET", "/no/such/thing", "secret", "", 404},
	} {
		for _, base := range []string{s.URL(), "http://" + s.Host(), "http://" + s.Host() + "/forge/api/v3"} {
			got, err := send(t, test.method, base+test.path, test.token, test.body, nil)
			if err != nil || got.status != test.want {
				t.Errorf("%s %s%s as %q: %d %s, %v, want %d", test.method, base, test.path, test.token, got.status, got.body, err, test.want)
			}
		}
	}
	if s.Open("o/r", 1) || !slices.Equal(s.Assignees("o/r", 1), []string{"bob"}) {
		t.Error("the patch did not arrive")
	}
	for _, r := range s.Requests() {
		if strings.Contains(fmt.Sprint(r), "secret") {
			t.Errorf("the log holds a token: %v", r)
		}
	}
}

func TestPagesAndLinks(t *testing.T) {
	s := stage(t)
	for i := range 249 {
		s.AddComment("o/r", 1, "ann", fmt.Sprint(i))
	}
	for _, test := range []struct {
		query      string
		size       int
		next, last string
	}{
		{"", 30, "page=2", "page=9"},
		{"?per_page=200", 100, "page=2", "page=3"}, // the cap, without an error
		{"?per_page=100&page=3", 49, "", ""},
		{"?per_page=100&page=4", 0, "", ""},
	} {
		got, err := send(t, "GET", s.URL()+"/repos/o/r/issues/1/comments"+test.query, "", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		var list []struct{ ID int64 }
		if err := json.Unmarshal([]byte(got.body), &list); err != nil || len(list) != test.size {
			t.Errorf("%q: %d comments, %v, want %d", test.query, len(list), err, test.size)
		}
		if !slices.IsSortedFunc(list, func(a, b struct{ ID int64 }) int { return int(a.ID - b.ID) }) {
			t.Errorf("%q: the ids do not rise", test.query)
		}
		for rel, page := range map[string]string{"next": test.next, "last": test.last} {
			found := ""
			for link := range strings.SplitSeq(got.header.Get("Link"), ", ") {
				if strings.Contains(link, `rel="`+rel+`"`) {
					found = link
				}
			}
			if (page == "") != (found == "") || !strings.Contains(found, page) ||
				(found != "" && !strings.HasPrefix(found, "<"+s.URL()+"/repos/o/r/issues/1/comments?")) {
				t.Errorf("%q: %s is %q, want %q", test.query, rel, found, page)
			}
		}
	}
}

func TestConditional(t *testing.T) {
	s := stage(t)
	s.SetClock(func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC) })
	url := s.URL() + "/repos/o/r/issues/1/comments"
	first, err := send(t, "GET", url, "", "", nil)
	if err != nil || first.header.Get("Date") != "Fri, 02 Jan 2026 03:04:05 GMT" {
		t.Errorf("%v, %v", first.header, err)
	}
	ask := func() int {
		got, err := send(t, "GET", url, "", "", http.Header{"If-None-Match": {first.header.Get("Etag")}})
		if err != nil {
			t.Fatal(err)
		}
		return got.status
	}
	if got := ask(); got != http.StatusNotModified {
		t.Errorf("unchanged: %d", got)
	}
	s.AddComment("o/r", 1, "ann", "x")
	if got := ask(); got != http.StatusOK {
		t.Errorf("changed: %d", got)
	}
}

func TestFaultCounts(t *testing.T) {
	s := stage(t)
	s.Fault(forgetest.Fault{Method: "GET", Path: "/repos/o/r", Nth: 2, Times: 2, Kind: forgetest.Unauthorized})
	var got []int
	for range 4 {
		for _, path := range []string{"/repos/o/p", "/repos/o/r"} {
			r, err := send(t, "GET", s.URL()+path, "secret", "", nil)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, r.status)
		}
	}
	if want := []int{200, 200, 200, 401, 200, 401, 200, 200}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestListLagByClock(t *testing.T) {
	s := stage(t)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s.SetClock(func() time.Time { return now })
	url := s.URL() + "/repos/o/r/issues/1/comments"
	s.Fault(forgetest.Fault{Method: "POST", Kind: forgetest.ListLag, Delay: 30 * time.Second})
	if got, err := send(t, "POST", url, "secret", `{"body":"late"}`, nil); err != nil || got.status != 201 {
		t.Fatal(got, err)
	}
	for after, want := range map[time.Duration]bool{29 * time.Second: false, 30 * time.Second: true} {
		at := now
		now = now.Add(after)
		if got, err := send(t, "GET", url, "", "", nil); err != nil || strings.Contains(got.body, "late") != want {
			t.Errorf("after %v: %s, %v", after, got.body, err)
		}
		now = at
	}
}

// TestCloseEndsHeldRequests: a fault that waits for an hour does not hold up Close.
func TestCloseEndsHeldRequests(t *testing.T) {
	s := forgetest.New()
	s.Fault(forgetest.Fault{Kind: forgetest.Slow, Delay: time.Hour})
	ended := make(chan error)
	go func() {
		_, err := send(t, "GET", s.URL()+"/rate_limit", "", "", nil)
		ended <- err
	}()
	for len(s.Requests()) == 0 { // until the request is held
		runtime.Gosched()
	}
	s.Close()
	if err := <-ended; err == nil {
		t.Error("an answer came")
	}
}

// TestNoTestingPackage: the demonstration uses the server outside of tests.
func TestNoTestingPackage(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(strings.Fields(string(out)), "testing") {
		t.Error("the package imports testing")
	}
}
