package gitlab

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"agent/forge"
)

// said is a server that answers everything alike.
type said struct {
	status int
	body   []byte
}

func (s said) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: s.status, Header: http.Header{"X-Next-Page": {"1"}}, Request: r,
		Body: io.NopCloser(bytes.NewReader(s.body))}, nil
}

// FuzzAnswers: whatever a server says becomes a value or an error of the port, on one line and without the token.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{
		`[]`, `{}`, `null`, `[null]`, `7`, `"text"`, `[{"id":1,"iid":1,"state":"opened","labels":["todo"]}]`,
		`[{"id":"1","body":"x"}]`, `[{"id":1,"labels":[{"name":"x"},null,7]}]`, `{"id":1,"iid":1,"state":"opened","labels":[{}]}`,
		`{"iid":1e30}`, `{"iid":1,"assignees":[null,{"username":null}],"author":{"id":-1}}`, `{"message":{"a":[{"b":null}]}}`,
		`{"id":1,"path_with_namespace":"../..","visibility":"private"}`, `[{"id":9,"created_at":"yesterday"}]`, `{"id":1,"position":7}`,
	} {
		f.Add(200, []byte(seed))
		f.Add(400, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		if status < 200 || status > 599 {
			return
		}
		c, err := New(Config{APIURL: "https://h.example", Token: token, Projects: []string{"g/p", "7"}, Transport: said{status, body}})
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []forge.TaskKey{issue(c, 1), merge(c, 1)} {
			for _, err := range try(c, key) {
				var e *forge.Error
				if err != nil && !errors.As(err, &e) {
					t.Errorf("%T %v is no error of the port", err, err)
				}
				if err != nil && (strings.Contains(err.Error(), token) || strings.ContainsAny(err.Error(), "\n\r\x1b")) {
					t.Errorf("error %q", err)
				}
			}
		}
	})
}

func try(c *Client, key forge.TaskKey) []error {
	ctx := context.Background()
	_, list := c.ListTasks(ctx, "todo")
	_, task := c.Task(ctx, key)
	_, comments := c.Comments(ctx, key, time.Time{})
	_, post := c.PostComment(ctx, key, "x")
	_, labels := c.ChangeLabels(ctx, key, []forge.Label{{Name: "x"}}, []string{"todo"})
	_, permission := c.Permission(ctx, key, "ann")
	_, change := c.FindChange(ctx, key, "b")
	_, me := c.Me(ctx)
	_, repository := c.Repository(ctx, key)
	return []error{list, task, comments, post, labels, permission, change, me, repository}
}
