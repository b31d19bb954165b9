package openapi_test

import (
	"net/http"
	"strings"
	"testing"

	"agent/forge/forgetest"
	"agent/forge/forgetest/openapi"
)

// TestNotices: the check itself can fail, and where it must.
func TestNotices(t *testing.T) {
	d, err := openapi.Load("../testdata/github-openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	const label = `{"id":1,"node_id":"x","url":"http://h/l","name":"n","color":"ededed","default":false,"description":null}`
	for _, test := range []struct {
		method, path, body string
		status             int
		answer             string
		request, response  string // parts of the errors
	}{
		{"GET", "/repos/o/r/labels", "", 200, "[" + label + "]", "", ""},
		{"GET", "/repos/o/r/labels/a%2Fb", "", 200, label, "", ""},
		{"GET", "/repos/o/r/labels", "", 200, "[{}]", "", "missing"},
		{"GET", "/repos/o/r/labels", "", 200, label, "", "array"},
		{"GET", "/repos/o/r/labels", "", 418, "{}", "", "status"},
		{"GET", "/repos/o/r/labels", "", 403, `{"message":"no","documentation_url":"http://h"}`, "", ""},
		{"GET", "/repos/o/r/labels", "", 403, `{"message":"no"}`, "", "documentation_url"},
		{"GET", "/repos/o/r/labels", "", 401, `<html>`, "", "invalid character"},
		{"POST", "/repos/o/r/labels", `{"color":"ededed"}`, 201, label, "name", ""},
		{"POST", "/repos/o/r/labels", `{"name":7}`, 201, label, "name", ""},
		{"GET", "/repos/o/r/issues/x", "", 404, `{"message":"no","documentation_url":"http://h"}`, "issue_number", ""},
		{"GET", "/repos/o/r/unheard-of", "", 200, "{}", "operation", "operation"},
		{"POST", "/api/graphql", `{}`, 200, "{}", "", ""},
	} {
		r, err := http.NewRequest(test.method, "http://h"+test.path, strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		e := forgetest.Exchange{Request: r, Body: []byte(test.body), Status: test.status, Answer: []byte(test.answer)}
		for what, check := range map[string]struct {
			err  error
			want string
		}{"request": {d.Request(e), test.request}, "response": {d.Response(e), test.response}} {
			if (check.err != nil) != (check.want != "") || (check.err != nil && !strings.Contains(check.err.Error(), check.want)) {
				t.Errorf("%s of %s %s, %d %s: %v, want %q", what, test.method, test.path, test.status, test.answer, check.err, check.want)
			}
		}
	}
}
