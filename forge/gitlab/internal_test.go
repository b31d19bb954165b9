package gitlab

import (
	"encoding/json"
	"testing"

	"agent/forge"
)

// TestOlderConfidentialNotesAreInternal: GitLab before 15.3 has no field
// "internal". Its notes must not become input whose words an answer would show.
func TestOlderConfidentialNotesAreInternal(t *testing.T) {
	g, _ := stage(t)
	c := connect(t, g, nil)
	key := forge.TaskKey{Host: c.Host(), Project: "g/p", Kind: forge.GitLabIssue, Number: 1}
	for raw, want := range map[string]bool{
		`{"id":1,"body":"x","confidential":true}`:                   true,
		`{"id":1,"body":"x","internal":true}`:                       true,
		`{"id":1,"body":"x","internal":true,"confidential":true}`:   true,
		`{"id":1,"body":"x","internal":false,"confidential":false}`: false,
		`{"id":1,"body":"x"}`:                                       false,
	} {
		var n note
		if err := json.Unmarshal([]byte(raw), &n); err != nil {
			t.Fatal(err)
		}
		if got := c.commentOf(key, &n).Internal; got != want {
			t.Errorf("%s: internal is %v, want %v", raw, got, want)
		}
	}
}
