package rounds

import (
	"context"

	"agent/forge"
	"agent/handlers/policy"
	"agent/internal/app"
	"agent/projections"
)

// closeCaches is for when no tool of a context runs any more. It keeps of an ended context's caches what later ones may build with.
func (r *round) closeCaches(ctx context.Context, at app.Site, s *projections.State) {
	if ctx.Err() != nil {
		return
	}
	if !s.Status.Ended() {
		r.TrimCaches(ctx, s)
		return
	}
	if !r.HasCaches(ctx, s) {
		r.CloseCaches(ctx, s, policy.KeepNothing)
		return
	}
	var facts policy.CacheFacts
	keep, need := policy.Keep(s, facts)
	for range 2 { // facts
		switch need {
		case policy.Labeller:
			facts.Labeller = r.setterOf(ctx, at, s)
		case policy.Permission:
			may, err := at.Client.Permission(ctx, s.Key, s.Task.Author)
			writes := err == nil && may >= forge.Write
			facts.AuthorMay = &writes
		default:
		}
		keep, need = policy.Keep(s, facts)
	}
	r.CloseCaches(ctx, s, keep)
}

// setterOf is who set the label that began the task. One that the forge does not name has no rights.
func (r *round) setterOf(ctx context.Context, at app.Site, s *projections.State) *policy.Setter {
	label := policy.Item{Kind: s.Key.Kind, Labels: s.Task.Labels}.Trigger(at.Config.Triggers())
	if label == "" {
		return &policy.Setter{Hidden: true}
	}
	by, err := r.labeller(ctx, at, s.Key, label, forge.Account{Login: s.Task.Author})
	if err != nil {
		return &policy.Setter{Hidden: true}
	}
	return &by
}
