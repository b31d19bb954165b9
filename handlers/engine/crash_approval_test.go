package engine_test

import (
	"strconv"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers/policy"
	"agent/internal/exhaustive"
	"agent/projections"
)

const approval = "agent approve"

// approved is the task of planned, whose plan waits for an approval, as does each change
// that goes further.
var approved = talk{"approved", byApproval, []func(*world) error{
	comments("agent status"), comments("agent budget +5"), comments(approval), comments("The answer should be right."), comments(approval), comments("Please be exact."),
	comments(approval), comments(approval), comments(approval)}} // the last one of the change: the plan names no files

func byApproval(c *event.ConfigPinned) {
	byPlan(c)
	c.Commands = event.CommandRule{Enabled: true, Slash: true, Reactions: true}
	c.Limits.MaxTokens = 1_000_000
	c.Planning.Approval, c.Planning.ApprovalActions = "always", 0
}

// answered decides what people's comments mean for a plan that waits.
func (r *round) answered(s *projections.State) event.Body {
	var answers []policy.Answer
	for _, c := range r.forge.Comments(project, 1) {
		id := strconv.FormatInt(c.ID, 10)
		_, seen := s.Comments.Seen(id)
		a := policy.Answer{ID: id, Author: forge.Account{Login: c.Author, Bot: c.Author == "linter[bot]"}, Ours: c.Author == bot, New: !seen, Ordered: true, MayWrite: new(true)}
		a.Commands, a.Alone = policy.Commands(c.Body, policy.Grammar{})
		answers = append(answers, a)
	}
	wake, _, _ := policy.Wake(s, policy.Facts{Commands: true, Comments: &answers, Thumbs: &[]policy.Thumb{}, Listed: new(true)})
	return wake
}

// TestKilledWhileAPlanIsApproved: wherever the process is killed, each version of the plan
// is one comment, what was approved runs once, and who asks for the status gets one answer.
func TestKilledWhileAPlanIsApproved(t *testing.T) {
	_, want := approved.undisturbed(t)
	plans, reports := 0, 0
	for _, c := range want.Comments {
		if strings.Contains(c, "**Plan, version") {
			plans++
		}
		if strings.Contains(c, "📊") {
			reports++
		}
	}
	if t.Logf("%d operations, %d contacts, %d plans", want.operations, want.contacts, plans); plans < 2 || reports != 1 || want.Status != "completed" {
		t.Fatalf("%d plans were shown, %d reports, the task is %s: %q", plans, reports, want.Status, want.Comments)
	}
	stride := *every
	if exhaustive.Brief() {
		stride *= 3 // TestKilledInAPlan takes the same ways
	}
	sweep(t, want, pointsOf(approved, want, stride))
}
