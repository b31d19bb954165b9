//go:build fixtures

package forgetest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agent/forge/forgetest"
)

// recorded is one call of the real GitHub.
type recorded struct {
	Method   string          `json:"method"`
	Path     string          `json:"path"`
	Body     json.RawMessage `json:"body"`
	Status   int             `json:"status"`
	Response json.RawMessage `json:"response"`
	Headers  map[string]any  `json:"headers"`
}

// left are keys of the recordings that the fake leaves out, with the reason.
var left = map[string]string{
	"organization":     "the fake has no organizations",
	"reactions":        "the fake has no reactions",
	"temp_clone_token": "a secret that nobody here uses",
}

// headers that clients read.
var headers = []string{
	"Content-Type", "Etag", "Link", "X-Github-Media-Type", "X-Github-Request-Id", "X-Oauth-Scopes",
	"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", "X-Ratelimit-Resource", "X-Ratelimit-Used",
}

// TestRecorded sends recorded calls to the fake and looks for every key of the
// recorded answers, with a value of the same type.
func TestRecorded(t *testing.T) {
	dir := os.Getenv("FIXTURES")
	for scenario, wanted := range map[string]func(recorded) bool{
		"add-labels-to-issue": func(recorded) bool { return true },
		"errors":              func(recorded) bool { return true },
		"get-repository":      func(recorded) bool { return true },
		"search-issues":       func(recorded) bool { return true },
		"labels":              func(r recorded) bool { return r.Method == "get" || r.Method == "post" },
		"paginate-issues":     func(r recorded) bool { return strings.HasPrefix(r.Path, "/repos/") },
	} {
		t.Run(scenario, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(dir, scenario, "normalized-fixture.json"))
			if err != nil {
				t.Fatal(err)
			}
			var calls []recorded
			if err := json.Unmarshal(data, &calls); err != nil {
				t.Fatal(err)
			}
			s := recordedStage(t)
			compared := 0
			for _, call := range calls {
				if wanted(call) {
					compared++
					compareCall(t, s, call)
				}
			}
			if compared == 0 {
				t.Error("nothing was compared")
			}
		})
	}
}

// recordedStage has the repositories of the recordings.
func recordedStage(t *testing.T) *forgetest.Server {
	s := stage(t)
	for _, name := range []string{"add-labels-to-issue", "errors", "hello-world", "labels", "paginate-issues", "search-issues"} {
		s.AddRepository("octokit-fixture-org/"+name, forgetest.Repository{})
	}
	s.AddIssue("octokit-fixture-org/labels", "T", "", "ann", "bug", "wontfix")
	for i := range 13 {
		s.AddIssue("octokit-fixture-org/paginate-issues", fmt.Sprint("Test issue ", i), "", "ann")
	}
	s.AddIssue("octokit-fixture-org/search-issues", "The doors don’t open", "Open sesame", "ann")
	return s
}

func compareCall(t *testing.T, s *forgetest.Server, call recorded) {
	t.Helper()
	body := string(call.Body)
	if body == `""` {
		body = ""
	}
	got, err := send(t, strings.ToUpper(call.Method), s.URL()+call.Path, "secret", body, nil)
	if err != nil || got.status != call.Status {
		t.Errorf("%s %s: %d %s, %v, recorded %d", call.Method, call.Path, got.status, got.body, err, call.Status)
		return
	}
	var want, have any
	if err := json.Unmarshal(call.Response, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(got.body), &have); err != nil {
		t.Fatal(err)
	}
	ours, theirs := map[string][]string{}, map[string][]string{}
	shape(ours, "", have)
	shape(theirs, "", want)
	for path, types := range theirs {
		parent, last := path[:max(strings.LastIndexByte(path, '/'), 0)], path[strings.LastIndexByte(path, '/')+1:]
		switch {
		case compatible(ours[path], types), left[last] != "":
		case ours[path] == nil && (last == "*" || ours[parent] == nil || slices.Contains(ours[parent], "<nil>")):
			// an empty list or null is one as well
		default:
			t.Errorf("%s %s: %s is %v, recorded %v", call.Method, call.Path, path, ours[path], types)
		}
	}
	for _, name := range headers {
		if _, wanted := call.Headers[strings.ToLower(name)]; wanted && got.header.Get(name) == "" {
			t.Errorf("%s %s: no header %s", call.Method, call.Path, name)
		}
	}
}

// shape notes the types of all values by their paths; elements of a list share one.
func shape(into map[string][]string, path string, v any) {
	name := fmt.Sprintf("%T", v)
	if !slices.Contains(into[path], name) {
		into[path] = append(into[path], name)
	}
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			shape(into, path+"/"+key, value)
		}
	case []any:
		for _, value := range v {
			shape(into, path+"/*", value)
		}
	}
}

// compatible reports whether a value of ours can stand for a recorded one; null says nothing.
func compatible(ours, theirs []string) bool {
	const null = "<nil>"
	if len(ours) == 0 {
		return false
	}
	for _, name := range ours {
		if name != null && !slices.Contains(theirs, name) && !slices.Equal(theirs, []string{null}) {
			return false
		}
	}
	return true
}
