package policy_test

import (
	"testing"
	"time"

	"agent/forge"
	"agent/handlers/policy"
)

// Which edits of a text count, by who made them and whether the label came later. Times
// are the forge's own, in whole seconds.
func TestSeen(t *testing.T) {
	yes, no := true, false
	label := forge.Labelling{Event: 7, At: now}
	edited := func(after time.Duration) forge.Edit { return forge.Edit{Known: true, At: now.Add(after)} }
	for _, tt := range []struct {
		name string
		e    policy.Edit
		want bool
		need policy.Need
	}{
		{"never edited", policy.Edit{First: true, Last: forge.Edit{Known: true}, Label: label}, true, policy.Nothing},
		{"before the label", policy.Edit{First: true, Last: edited(-time.Second), Label: label}, true, policy.Nothing},
		{"after it", policy.Edit{First: true, Last: edited(time.Second), Label: label}, false, policy.Permission},
		{"in its second", policy.Edit{First: true, Last: edited(0), Label: label}, false, policy.Permission},
		{"after it, by a writer", policy.Edit{First: true, Last: edited(time.Second), Label: label, EditorMay: &yes}, true, policy.Nothing},
		{"after it, by another", policy.Edit{First: true, Last: edited(time.Second), Label: label, EditorMay: &no}, false, policy.Nothing},
		{"edits are not told of", policy.Edit{First: true, Label: label}, true, policy.Nothing},
		{"labels are not told of", policy.Edit{First: true, Last: edited(time.Second)}, true, policy.Nothing},

		{"differs, nobody tells", policy.Edit{Label: label}, false, policy.Nothing},
		{"differs, and was never edited", policy.Edit{Last: forge.Edit{Known: true}, Label: label}, false, policy.Nothing},
		{"differs, no label", policy.Edit{Last: edited(time.Second)}, false, policy.Permission},
		{"differs, before a label", policy.Edit{Last: edited(-time.Second), Label: label}, false, policy.Labeller},
		{"differs, before a writer's label", policy.Edit{Last: edited(-time.Second), Label: label, LabellerMay: &yes}, true, policy.Nothing},
		{"differs, before a triager's label", policy.Edit{Last: edited(-time.Second), Label: label, LabellerMay: &no}, false, policy.Permission},
		{"differs, before a triager's label, by a writer", policy.Edit{Last: edited(-time.Second), Label: label, LabellerMay: &no, EditorMay: &yes}, true, policy.Nothing},
		{"differs, after a writer's label", policy.Edit{Last: edited(time.Second), Label: label, LabellerMay: &yes, EditorMay: &no}, false, policy.Nothing},
	} {
		if got, need := policy.Seen(tt.e); got != tt.want || need != tt.need {
			t.Errorf("%s: %v and need %d, want %v and %d", tt.name, got, need, tt.want, tt.need)
		}
	}
}
