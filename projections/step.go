package projections

import "agent/eventlog/event"

// Step is a kind of step that a context has taken: [State.Steps] has the event of the
// latest one of each kind.
type Step string

// Steps whose purpose is given.
const (
	StepConfig   Step = "config"   // the configuration was recorded
	StepTools    Step = "tools"    // the tools were listed
	StepMeasured Step = "measured" // the change was measured
	StepKept     Step = "kept"     // work was kept that could not be published
	StepChange   Step = "change"   // the change was published, or could not be

	FetchedAtStart   Step = "fetch:" + Step(event.FetchStart) // all comments were read
	FetchedAtResume  Step = "fetch:" + Step(event.FetchResume)
	FetchedPeriodic  Step = "fetch:" + Step(event.FetchPeriodic)
	FetchedToPublish Step = "fetch:" + Step(event.FetchPublish)
	FetchedForPlan   Step = "fetch:" + Step(event.FetchPlan)

	LabelsStart     Step = "labels:start" // they were set, or could not be
	LabelsResumed   Step = "labels:resumed"
	LabelsPaused    Step = "labels:" + Step(Paused)
	LabelsAwaiting  Step = "labels:" + Step(Awaiting)
	LabelsCompleted Step = "labels:" + Step(Completed)

	CommentInherited     Step = "comment:inherited" // it was written, or could not be
	CommentResumed       Step = "comment:resumed"
	CommentClarification Step = "comment:" + Clarification
	CommentRound         Step = "comment:round"
	CommentFetch         Step = "comment:fetch"
	CommentPaused        Step = "comment:" + Step(Paused)
	CommentPlan          Step = "comment:" + PlanComment

	DraftedSummary    Step = "drafted:summary" // the model wrote one, or failed to
	DraftedCompaction Step = "drafted:compaction"
)

// MessageStep is a message that was added.
func MessageStep(p event.MessagePurpose) Step { return "message:" + Step(p) }

// SummaryStep is a summary that was added.
func SummaryStep(p event.SummaryPurpose) Step { return "summary:" + Step(p) }

// CommentStep is a comment that was written, or could not be.
func CommentStep(purpose string) Step { return "comment:" + Step(purpose) }

// LabelsStep is a change of labels that was made, or could not be.
func LabelsStep(purpose string) Step { return "labels:" + Step(purpose) }
