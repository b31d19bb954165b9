package event

// Type names the event in logs.
func (*ContextCreated) Type() string { return "context.created" }

// Type names the event in logs.
func (*ContextForked) Type() string { return "context.forked" }

// Type names the event in logs.
func (*ConfigPinned) Type() string { return "config.pinned" }

// Type names the event in logs.
func (*TaskFetched) Type() string { return "task.fetched" }

// Type names the event in logs.
func (*WorkspacePrepared) Type() string { return "workspace.prepared" }

// Type names the event in logs.
func (*WorkspaceSaved) Type() string { return "workspace.saved" }

// Type names the event in logs.
func (*WorkspaceRestored) Type() string { return "workspace.restored" }

// Type names the event in logs.
func (*WorkspaceChanged) Type() string { return "workspace.changed" }

// Type names the event in logs.
func (*ProjectRead) Type() string { return "project.read" }

// Type names the event in logs.
func (*ChangeMeasured) Type() string { return "change.measured" }

// Type names the event in logs.
func (*ToolsListed) Type() string { return "tools.listed" }

// Type names the event in logs.
func (*CommentsFetched) Type() string { return "comments.fetched" }

// Type names the event in logs.
func (*ContextInherited) Type() string { return "context.inherited" }

// Type names the event in logs.
func (*ProcessStarted) Type() string { return "process.started" }

// Type names the event in logs.
func (*ProcessRecovered) Type() string { return "process.recovered" }

// Type names the event in logs.
func (*ProcessEnded) Type() string { return "process.ended" }

// Type names the event in logs.
func (*TimerFired) Type() string { return "timer.fired" }

// Type names the event in logs.
func (*TaskChanged) Type() string  { return "task.changed" }
func (*TaskMoved) Type() string    { return "task.moved" }
func (*ReadRefused) Type() string  { return "read.refused" }
func (*ImageMissing) Type() string { return "image.missing" }

// Type names the event in logs.
func (*LimitReached) Type() string { return "limit.reached" }

// Type names the event in logs.
func (*PauseRequested) Type() string { return "pause.requested" }

// Type names the event in logs.
func (*ResumeRequested) Type() string { return "resume.requested" }

// Type names the event in logs.
func (*StopRequested) Type() string { return "stop.requested" }

// Type names the event in logs.
func (*StatusRequested) Type() string { return "status.requested" }

// Type names the event in logs.
func (*LimitRaised) Type() string { return "limit.raised" }

// Type names the event in logs.
func (*BlobForgotten) Type() string { return "blob.forgotten" }

// Type names the event in logs.
func (*LLMRequested) Type() string { return "llm.requested" }

// Type names the event in logs.
func (*LLMReplied) Type() string { return "llm.replied" }

// Type names the event in logs.
func (*LLMFailed) Type() string { return "llm.failed" }

// Type names the event in logs.
func (*ToolRequested) Type() string { return "tool.requested" }

// Type names the event in logs.
func (*LLMAdapted) Type() string { return "llm.adapted" }

// Type names the event in logs.
func (*LLMSwitched) Type() string { return "llm.switched" }

// Type names the event in logs.
func (*ToolReplied) Type() string { return "tool.replied" }

// Type names the event in logs.
func (*ToolFailed) Type() string { return "tool.failed" }

// Type names the event in logs.
func (*ToolInterrupted) Type() string { return "tool.interrupted" }

// Type names the event in logs.
func (*CommentRequested) Type() string { return "comment.requested" }

// Type names the event in logs.
func (*CommentPosted) Type() string { return "comment.posted" }

// Type names the event in logs.
func (*CommentFailed) Type() string { return "comment.failed" }

// Type names the event in logs.
func (*ReactionRequested) Type() string { return "reaction.requested" }

// Type names the event in logs.
func (*ReactionAdded) Type() string { return "reaction.added" }

// Type names the event in logs.
func (*ReactionFailed) Type() string { return "reaction.failed" }

// Type names the event in logs.
func (*LabelsRequested) Type() string { return "labels.requested" }

// Type names the event in logs.
func (*LabelsChanged) Type() string { return "labels.changed" }

// Type names the event in logs.
func (*LabelsFailed) Type() string { return "labels.failed" }

// Type names the event in logs.
func (*ChangeRequested) Type() string { return "change.requested" }

// Type names the event in logs.
func (*ChangeOpened) Type() string { return "change.opened" }

// Type names the event in logs.
func (*ChangeFailed) Type() string { return "change.failed" }

// Type names the event in logs.
func (*MessageAdded) Type() string { return "message.added" }

// Type names the event in logs.
func (*SummaryAdded) Type() string { return "summary.added" }

// Type names the event in logs.
func (*PhaseEntered) Type() string { return "phase.entered" }

// Type names the event in logs.
func (*UnderstandingMade) Type() string { return "understanding.made" }

// Type names the event in logs.
func (*InformationPlanned) Type() string { return "information.planned" }

// Type names the event in logs.
func (*InformationCollected) Type() string { return "information.collected" }

// Type names the event in logs.
func (*AssumptionMade) Type() string { return "assumption.made" }

// Type names the event in logs.
func (*PlanMade) Type() string { return "plan.made" }

// Type names the event in logs.
func (*PlanRevised) Type() string { return "plan.revised" }

// Type names the event in logs.
func (*ActionStarted) Type() string { return "action.started" }

// Type names the event in logs.
func (*ActionFinished) Type() string { return "action.finished" }

// Type names the event in logs.
func (*ReflectionMade) Type() string { return "reflection.made" }

// Type names the event in logs.
func (*VerificationMade) Type() string { return "verification.made" }

// Type names the event in logs.
func (*ReplanDecided) Type() string { return "replan.decided" }

// Type names the event in logs.
func (*TaskSkipped) Type() string { return "task.skipped" }

// Type names the event in logs.
func (*ContextPaused) Type() string { return "context.paused" }

// Type names the event in logs.
func (*ContextResumed) Type() string { return "context.resumed" }

// Type names the event in logs.
func (*ContextAwaiting) Type() string { return "context.awaiting" }

// Type names the event in logs.
func (*ContextCompleted) Type() string { return "context.completed" }

// Type names the event in logs.
func (*ContextStopped) Type() string { return "context.stopped" }

// Type names the event in logs.
func (*ContextFailed) Type() string { return "context.failed" }
