package github

import (
	"context"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent/forge"
	"agent/forge/forgetest"
)

// writes are the requests of the log that change something, and their number.
func writes(s *forgetest.Server) []string {
	var all []string
	for _, r := range s.Requests() {
		if r.Method != http.MethodGet {
			all = append(all, r.Method+" "+r.Path)
		}
	}
	return all
}

var processing = forge.Label{Name: "agent: processing", Color: "aabbcc", Description: "In work"}

func TestChangeLabels(t *testing.T) {
	s := stage(t)
	s.AddLabels("o/r", 1, "a/b c", "keep")
	c := connect(t, s, nil)
	got, err := c.ChangeLabels(context.Background(), issueKey(s, 1), []forge.Label{processing, {Name: "KEEP"}}, []string{"TODO", "A/B c", "absent"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"keep", processing.Name}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, s.Labels("o/r", 1)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{
		"POST /repos/o/r/labels",
		"POST /repos/o/r/issues/1/labels",
		"DELETE /repos/o/r/issues/1/labels/todo",
		"DELETE /repos/o/r/issues/1/labels/a/b c",
	}, writes(s)); diff != "" {
		t.Error(diff)
	}
	if body := s.Requests()[2].Body; body != `{"name":"agent: processing","color":"aabbcc","description":"In work"}`+"\n" {
		t.Errorf("created with %s", body)
	}
}

func TestChangeLabelsDoneAlready(t *testing.T) {
	s := stage(t)
	s.AddLabels("o/r", 1, processing.Name)
	got, err := connect(t, s, nil).ChangeLabels(context.Background(), issueKey(s, 1), []forge.Label{processing}, []string{"gone"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"todo", processing.Name}, got); diff != "" {
		t.Error(diff)
	}
	if log := s.Requests(); len(log) != 1 {
		t.Errorf("%d requests, want one read", len(log))
	}
}

// TestChangeLabelsBeside: a person changes labels between our read and our writes.
func TestChangeLabelsBeside(t *testing.T) {
	s := stage(t)
	requests := 0
	c := connect(t, s, func(cfg *Config) {
		cfg.Transport = trip(func(*http.Request) {
			if requests++; requests == 2 {
				s.RemoveLabels("o/r", 1, "todo")
				s.AddLabels("o/r", 1, "urgent", processing.Name)
			}
		})
	})
	got, err := c.ChangeLabels(context.Background(), issueKey(s, 1), []forge.Label{processing}, []string{"todo"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"urgent", processing.Name}, got); diff != "" {
		t.Error(diff)
	}
}

// TestLabelCreatedBeside: another process creates the label after our look.
func TestLabelCreatedBeside(t *testing.T) {
	s := stage(t)
	s.AddIssue("o/r", "other", "", "ann")
	requests := 0
	c := connect(t, s, func(cfg *Config) {
		cfg.Transport = trip(func(r *http.Request) {
			if r.Method == http.MethodPost && requests == 0 {
				requests++
				s.AddLabels("o/r", 2, processing.Name)
			}
		})
	})
	got, err := c.ChangeLabels(context.Background(), issueKey(s, 1), []forge.Label{processing}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"todo", processing.Name}, got); diff != "" {
		t.Error(diff)
	}
}

func TestChangeLabelsFailures(t *testing.T) {
	for _, test := range []struct {
		name  string
		fault forgetest.Fault
		want  forge.ErrorKind
	}{
		{"read", forgetest.Fault{Path: ".*/issues/1/labels", Kind: forgetest.Store500}, forge.Transient},
		{"create", forgetest.Fault{Method: "POST", Path: "/repos/o/r/labels", Kind: forgetest.Store500}, forge.Ambiguous},
		{"invalid colour", forgetest.Fault{Method: "POST", Path: "/repos/o/r/labels", Kind: forgetest.Answer, Status: 422, Body: `{"errors":[{"code":"invalid"}]}`}, ""},
		{"may not create", forgetest.Fault{Method: "POST", Path: "/repos/o/r/labels", Kind: forgetest.Answer, Status: 403, Body: `{"message":"Resource not accessible"}`}, ""},
		{"add", forgetest.Fault{Method: "POST", Path: ".*/issues/1/labels", Kind: forgetest.StoreDrop}, forge.Ambiguous},
		{"remove", forgetest.Fault{Method: "DELETE", Kind: forgetest.Store502HTML}, forge.Ambiguous},
		{"read back", forgetest.Fault{Method: "GET", Path: ".*/issues/1/labels", Nth: 2, Kind: forgetest.Drop, Times: -1}, forge.Transient},
	} {
		s := stage(t)
		s.Fault(test.fault)
		c := connect(t, s, nil)
		change := func() ([]string, error) {
			return c.ChangeLabels(context.Background(), issueKey(s, 1), []forge.Label{processing}, []string{"todo"})
		}
		if _, err := change(); kind(err) != test.want {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
		s.ClearFaults()
		got, err := change()
		if diff := cmp.Diff([]string{processing.Name}, got); diff != "" || err != nil {
			t.Errorf("%s, again: %v, %s", test.name, err, diff)
		}
	}
}

func TestLabelsForbidden(t *testing.T) {
	s := stage(t)
	s.SetPermission("o/r", "agent-bot", "read")
	_, err := connect(t, s, nil).ChangeLabels(context.Background(), issueKey(s, 1), nil, []string{"todo"})
	if kind(err) != forge.Forbidden {
		t.Errorf("error %v", err)
	}
}
