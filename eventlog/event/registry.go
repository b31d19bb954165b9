package event

import "slices"

type entry struct {
	version int
	make    func() Body
}

func of[T any, P interface {
	*T
	Body
}](version int) entry {
	return entry{version, func() Body { return P(new(T)) }}
}

// registry lists every kind that this build can write, with its current version.
var registry = map[string]entry{
	"context.created":       of[ContextCreated](1),
	"context.forked":        of[ContextForked](1),
	"config.pinned":         of[ConfigPinned](1),
	"task.fetched":          of[TaskFetched](1),
	"workspace.prepared":    of[WorkspacePrepared](1),
	"workspace.saved":       of[WorkspaceSaved](1),
	"workspace.restored":    of[WorkspaceRestored](1),
	"workspace.changed":     of[WorkspaceChanged](1),
	"project.read":          of[ProjectRead](1),
	"change.measured":       of[ChangeMeasured](1),
	"tools.listed":          of[ToolsListed](1),
	"comments.fetched":      of[CommentsFetched](1),
	"context.inherited":     of[ContextInherited](1),
	"process.started":       of[ProcessStarted](1),
	"process.recovered":     of[ProcessRecovered](1),
	"process.ended":         of[ProcessEnded](1),
	"timer.fired":           of[TimerFired](1),
	"task.changed":          of[TaskChanged](1),
	"task.moved":            of[TaskMoved](1),
	"read.refused":          of[ReadRefused](1),
	"image.missing":         of[ImageMissing](1),
	"limit.reached":         of[LimitReached](1),
	"pause.requested":       of[PauseRequested](1),
	"resume.requested":      of[ResumeRequested](1),
	"stop.requested":        of[StopRequested](1),
	"status.requested":      of[StatusRequested](1),
	"limit.raised":          of[LimitRaised](1),
	"blob.forgotten":        of[BlobForgotten](1),
	"llm.requested":         of[LLMRequested](1),
	"llm.replied":           of[LLMReplied](1),
	"llm.failed":            of[LLMFailed](1),
	"llm.adapted":           of[LLMAdapted](1),
	"llm.switched":          of[LLMSwitched](1),
	"tool.requested":        of[ToolRequested](1),
	"tool.replied":          of[ToolReplied](1),
	"tool.failed":           of[ToolFailed](1),
	"tool.interrupted":      of[ToolInterrupted](1),
	"comment.requested":     of[CommentRequested](1),
	"comment.posted":        of[CommentPosted](1),
	"comment.failed":        of[CommentFailed](1),
	"reaction.requested":    of[ReactionRequested](1),
	"reaction.added":        of[ReactionAdded](1),
	"reaction.failed":       of[ReactionFailed](1),
	"labels.requested":      of[LabelsRequested](1),
	"labels.changed":        of[LabelsChanged](1),
	"labels.failed":         of[LabelsFailed](1),
	"change.requested":      of[ChangeRequested](1),
	"change.opened":         of[ChangeOpened](1),
	"change.failed":         of[ChangeFailed](1),
	"message.added":         of[MessageAdded](1),
	"summary.added":         of[SummaryAdded](1),
	"phase.entered":         of[PhaseEntered](1),
	"understanding.made":    of[UnderstandingMade](1),
	"information.planned":   of[InformationPlanned](1),
	"information.collected": of[InformationCollected](1),
	"assumption.made":       of[AssumptionMade](1),
	"plan.made":             of[PlanMade](1),
	"plan.revised":          of[PlanRevised](1),
	"action.started":        of[ActionStarted](1),
	"action.finished":       of[ActionFinished](1),
	"reflection.made":       of[ReflectionMade](1),
	"verification.made":     of[VerificationMade](1),
	"replan.decided":        of[ReplanDecided](1),
	"task.skipped":          of[TaskSkipped](1),
	"context.paused":        of[ContextPaused](1),
	"context.resumed":       of[ContextResumed](1),
	"context.awaiting":      of[ContextAwaiting](1),
	"context.completed":     of[ContextCompleted](1),
	"context.stopped":       of[ContextStopped](1),
	"context.failed":        of[ContextFailed](1),
}

// Types lists every known type in alphabetical order.
func Types() []string {
	types := make([]string, 0, len(registry))
	for k := range registry {
		types = append(types, k)
	}
	slices.Sort(types)
	return types
}

// New makes an empty body of a kind, or nil if the kind is unknown.
func New(kind string) Body {
	if e, ok := registry[kind]; ok {
		return e.make()
	}
	return nil
}

// Version is the current version of a body's shape.
func Version(b Body) int {
	if e, ok := registry[b.Type()]; ok {
		return e.version
	}
	return 1
}
