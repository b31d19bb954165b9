package policy_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent/eventlog/event"
	"agent/handlers/policy"
	"agent/projections"
)

// wake is policy.Wake. It decides once more from what rounds keep of a state, which
// must say the same.
func wake(t *testing.T, s *projections.State, f policy.Facts) (event.Body, *policy.Refusal, policy.Need) {
	t.Helper()
	body, refusal, need := policy.Wake(s, f)
	if !policy.Waiting(s) {
		return body, refusal, need
	}
	data, err := json.Marshal(projections.WaiterOf(s))
	if err != nil {
		t.Fatal(err)
	}
	var w projections.Waiter
	if err := json.Unmarshal(data, &w); err != nil {
		t.Fatal(err)
	}
	again, againRefusal, againNeed := policy.Wake(w.State(), f)
	if diff := cmp.Diff([]any{body, refusal, need}, []any{again, againRefusal, againNeed}, cmp.AllowUnexported(event.ResumeRequested{}, event.StopRequested{}, event.TimerFired{}, event.StatusRequested{}, event.LimitRaised{})); diff != "" {
		t.Errorf("what is kept decides otherwise: %s", diff)
	}
	return body, refusal, need
}
