package policy_test

import (
	"testing"

	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers/policy"
	"agent/projections"
)

// Whose caches later attempts build with. Each line that is not KeepAll is a way by which
// a stranger's program would get into what others compile.
func TestKeepCaches(t *testing.T) {
	yes, no := true, false
	writer := &policy.Setter{Login: "w", May: forge.Write}
	for _, tt := range []struct {
		name   string
		change func(*projections.State)
		f      policy.CacheFacts
		want   policy.Caches
		need   policy.Need
	}{
		{"a writer's task", nil, policy.CacheFacts{Labeller: writer, AuthorMay: &yes}, policy.KeepAll, policy.Nothing},
		{"a stranger's task", nil, policy.CacheFacts{Labeller: writer, AuthorMay: &no}, policy.KeepDownloads, policy.Nothing},
		{"nobody was asked", nil, policy.CacheFacts{}, policy.KeepNothing, policy.Labeller},
		{"the author was not asked", nil, policy.CacheFacts{Labeller: writer}, policy.KeepNothing, policy.Permission},
		{"a reader's label", nil, policy.CacheFacts{Labeller: &policy.Setter{May: forge.Read}, AuthorMay: &yes}, policy.KeepNothing, policy.Nothing},
		{"a bot's label", nil, policy.CacheFacts{Labeller: &policy.Setter{May: forge.Write, Bot: true}, AuthorMay: &yes}, policy.KeepNothing, policy.Nothing},
		{"the forge does not say", nil, policy.CacheFacts{Labeller: &policy.Setter{Hidden: true, May: forge.Write}, AuthorMay: &yes}, policy.KeepNothing, policy.Nothing},
		{"a command, a writer's task", func(s *projections.State) { s.Created.Trigger = policy.ByCommand }, policy.CacheFacts{AuthorMay: &yes}, policy.KeepAll, policy.Nothing},
		{"a command, a stranger's task", func(s *projections.State) { s.Created.Trigger = policy.ByCommand }, policy.CacheFacts{AuthorMay: &no}, policy.KeepDownloads, policy.Nothing},
		{"anybody's comments", func(s *projections.State) { s.Lineage.Trust = projections.TrustAnybody }, policy.CacheFacts{Labeller: writer, AuthorMay: &yes}, policy.KeepDownloads, policy.Nothing},
		{"no words yet", func(s *projections.State) { s.Lineage.Trust = "" }, policy.CacheFacts{Labeller: writer, AuthorMay: &yes}, policy.KeepDownloads, policy.Nothing},
		{"a deleted author", func(s *projections.State) { s.Task.Author = "ghost" }, policy.CacheFacts{Labeller: writer, AuthorMay: &yes}, policy.KeepDownloads, policy.Nothing},
		{"a private project", func(s *projections.State) { s.Task.Private = true }, policy.CacheFacts{}, policy.KeepAll, policy.Nothing},
		{"failed", func(s *projections.State) { s.Status = projections.Failed }, policy.CacheFacts{Labeller: writer, AuthorMay: &yes}, policy.KeepNothing, policy.Nothing},
		{"stopped", func(s *projections.State) { s.Status = projections.Stopped }, policy.CacheFacts{Labeller: writer, AuthorMay: &yes}, policy.KeepNothing, policy.Nothing},
		{"paused", func(s *projections.State) { s.Status = projections.Paused }, policy.CacheFacts{Labeller: writer, AuthorMay: &yes}, policy.KeepNothing, policy.Nothing},
	} {
		s := projections.NewState()
		s.Status, s.Created, s.Task = projections.Completed, &event.ContextCreated{Trigger: policy.ByLabel}, &event.TaskFetched{Author: "a"}
		s.Lineage.Trust = projections.TrustAuthor
		if tt.change != nil {
			tt.change(s)
		}
		if got, need := policy.Keep(s, tt.f); got != tt.want || need != tt.need {
			t.Errorf("%s: %v and need %d, want %v and %d", tt.name, got, need, tt.want, tt.need)
		}
	}
}
