package projections

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent/eventlog/event"
	"agent/forge"
)

// Nothing of a Waiter is lost on its way through JSON and a state. Each field must be
// set here: a new one that is not carried over fails.
func TestWaiterIsWhole(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	want := Waiter{Seq: 7, Now: at, Started: at, Created: &event.ContextCreated{UUID: "u", Forge: "example.com/git"},
		Key:  address{Host: "example.com/git", Project: "a/b/c", Kind: forge.GitLabMergeRequest, Number: 3},
		Item: "1", Home: "2", Names: &event.Labels{Paused: "paused"}, Task: true, Author: "ann", Assigned: true, Labels: []string{"x"},
		Status: Paused, Paused: &event.ContextPaused{Reason: "requested", Until: event.Until{Kind: "time", Time: at}}, PausedAt: at,
		Wait: &event.ContextAwaiting{Reason: "clarification", Until: event.Until{Kind: "time", Time: at}}, Before: Before{Label: 4, Comment: "5"},
		Plan:     Proposal{Hash: "h", Comment: "6", Seq: 8},
		Measured: true, Tree: "tree", Seen: map[string]string{"1": "hash"}, Own: map[string]bool{"2": true},
		Obeyed: Obeyed{Begun: "1", Control: "2", Status: "3", Budget: "4"}, Limits: event.Limits{MaxTokens: 5}, Grants: map[string]float64{"tokens": 6}, Usage: Usage{Prompt: 7}}
	for v, i := reflect.ValueOf(want), 0; i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Errorf("%s is not set in this test", v.Type().Field(i).Name)
		}
	}
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Waiter
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	same := cmp.AllowUnexported(event.ContextCreated{}, event.ContextPaused{}, event.ContextAwaiting{}, Usage{})
	if diff := cmp.Diff(want, WaiterOf(got.State()), same); diff != "" {
		t.Error(diff)
	}
}
