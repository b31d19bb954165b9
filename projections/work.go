package projections

import (
	"slices"
	"strings"
	"time"

	"agent/eventlog/event"
	"agent/llm"
)

// Work is where the conversation with the model stands, and the counters that bound it.
type Work struct {
	Reply        *event.LLMReplied // the latest reply
	ReplySeq     uint64
	Latest       *event.LLMReplied // the latest reply, also once it was dealt with
	Redacted     bool              // the reply's arguments may hold placeholders instead of secrets
	Answered     int               // how many of its calls have an outcome
	Corrections  int               // replies in a row that could not be used
	corrected    bool              // the latest reply is counted in Corrections
	Refusal      string            // kind of the latest refusal that is counted in Corrections, as of tool.failed
	Attempts     int               // model calls in a row that failed
	Failure      *event.LLMFailed
	FailureSeq   uint64
	FailedAt     time.Time
	NotBefore    time.Time // earliest time of the next model call
	ToolsRefused uint64    // seq of the first failure that said so, 0 if none
	Repeats      int       // replies in a row that asked for the same call, and for no other after it
	Errors       int       // times in a row that the same tool gave an error, whatever the action
	faulty       string    // that tool
	lastCall     string
	lastCaller   uint64 // seq of the reply that asked for it
	SinceCheck   int    // tool calls since comments were read
	Facts        []Fact
	Files        []string // paths that tools wrote, in order of first writing
	writesDone   int      // calls that wrote files
	background   map[string]background
	calling      *event.ToolRequested
	edited       map[string]bool // paths that calls named which changed files
}

// Fact is a tool call in one line, for summaries and for the final comment.
type Fact struct {
	Seq      uint64
	Tool     string // server/tool
	Subject  string // the command, or the path
	Command  string // the command as a shell takes it
	OK       bool
	ExitCode string // of a command, as its tool reported it; or Killed, Interrupted
	Writes   bool   // it is of a tool that changes a file
	Setup    bool   // it was done before the work began
	Stale    bool   // a file was written while the command ran: it shows nothing of that
}

const maxFacts = 50

func (w *Work) apply(e event.Event) {
	switch b := e.Body.(type) {
	case *event.LLMReplied:
		b = withoutRaw(b)
		w.Reply, w.ReplySeq, w.Redacted = b, e.Seq, e.Redacted
		w.Latest, w.Refusal = b, ""
		w.Answered, w.Attempts, w.Failure, w.corrected = 0, 0, nil, false
		w.NotBefore = time.Time{}
	case *event.LLMFailed:
		w.failed(e, b)
	case *event.TimerFired:
		w.NotBefore = time.Time{} // whatever the clock says by now
	case *event.ToolRequested:
		w.requested(e, b)
	case *event.ToolReplied:
		w.Answered++
		w.Corrections = 0
		w.outcome(b)
		if !b.IsError {
			w.edit()
		}
		w.failure(b.IsError)
	case *event.ToolFailed:
		w.Answered++
		w.refused(b)
		w.failure(true)
	case *event.ToolInterrupted:
		w.Answered++
		w.edit() // it may have happened
		w.interrupted()
	case *event.MessageAdded:
		if b.Purpose == event.CorrectionMessage {
			w.count()
			w.Attempts, w.Failure, w.NotBefore = 0, nil, time.Time{}
		}
		if b.Role == string(llm.User) {
			w.Reply = nil // it was dealt with: the model speaks next
		}
	case *event.ContextAwaiting:
		w.Reply = nil // its closing words were posted
		w.again()
		w.Corrections, w.corrected = 0, false
	case *event.UnderstandingMade, *event.InformationPlanned, *event.InformationCollected, *event.AssumptionMade, *event.PlanMade, *event.PlanRevised,
		*event.ActionFinished, *event.ReflectionMade, *event.VerificationMade, *event.ReplanDecided:
		w.Reply, w.Failure, w.Corrections = nil, nil, 0 // it became the event
		w.dealtWith(e.Body)
	case *event.CommentsFetched:
		if b.Last {
			w.SinceCheck = 0
		}
	}
}

// withoutRaw leaves out what a fold is not given, see [event.DecodeToFold].
func withoutRaw(b *event.LLMReplied) *event.LLMReplied {
	kept := *b
	kept.Raw, kept.Reasoning = event.Text{}, event.Text{}
	return &kept
}

func (w *Work) failed(e event.Event, b *event.LLMFailed) {
	if b.Kind == event.Interrupted {
		return
	}
	w.Failure, w.FailureSeq, w.FailedAt, w.NotBefore = b, e.Seq, e.Time, b.NotBefore
	w.Attempts++
	w.corrected = false
	if b.Kind == string(llm.ToolsRefused) && w.ToolsRefused == 0 {
		w.ToolsRefused, w.Attempts = e.Seq, 0
	}
}

func (w *Work) count() {
	if !w.corrected {
		w.Corrections++
	}
	w.corrected = true
}

func (w *Work) requested(e event.Event, b *event.ToolRequested) {
	w.SinceCheck++
	w.calling = b
	call := b.Server + "\x00" + b.Tool + "\x00" + b.Args.View()
	if call != w.lastCall || b.Need != "" { // two needs may have the same source
		w.Repeats = 0
	}
	if w.Repeats == 0 || b.Reply != w.lastCaller {
		w.Repeats++
	}
	w.lastCall, w.lastCaller = call, b.Reply
	w.note(e, b)
}

// note adds a fact, whose outcome follows.
func (w *Work) note(e event.Event, b *event.ToolRequested) {
	w.Facts = append(w.Facts, Fact{Seq: e.Seq, Tool: b.Name(), Subject: Subject(b.Args.View()), Command: command(b.Args.View()), Writes: isWrite(b.Tool), Setup: b.Setup})
	if len(w.Facts) > maxFacts {
		w.Facts = w.Facts[1:]
	}
}

func (w *Work) outcome(b *event.ToolReplied) {
	if len(w.Facts) == 0 {
		return
	}
	f := &w.Facts[len(w.Facts)-1]
	f.OK = Succeeded(b)
	if code, ok := exitCode(b); ok {
		f.ExitCode = code
	} else if f.OK && f.Writes {
		w.writesDone++
		w.writes(f.Subject)
	} else {
		w.job(f, b)
	}
}

// Succeeded tells whether a tool did what it was called for. A command that ended
// with another code than 0 did not, although its server calls that no error.
func Succeeded(b *event.ToolReplied) bool {
	if code, ok := exitCode(b); ok {
		return code == "0"
	}
	return !b.IsError
}

func exitCode(b *event.ToolReplied) (string, bool) {
	return strings.CutPrefix(firstLine(b.Content.Inline), "exit code: ")
}

// Killed and Interrupted stand in the place of the exit code of a command that did
// not end by itself.
const (
	Killed      = "killed"
	Interrupted = "interrupted"
)

// interrupted notes a command of which nobody knows how it ended.
func (w *Work) interrupted() {
	if w.calling == nil || len(w.Facts) == 0 || !isCommand(w.calling.Args.View()) {
		return
	}
	w.Facts[len(w.Facts)-1].ExitCode = Interrupted
}

// dealtWith forgets the errors that ended an action or a collection.
func (w *Work) dealtWith(b event.Body) {
	action, _ := b.(*event.ActionFinished)
	need, _ := b.(*event.InformationCollected)
	if action != nil && action.Status == "failed" || need != nil && need.Status != "collected" {
		w.Errors, w.faulty = 0, ""
	}
}

// failure counts the errors of one tool in a row. The latest fact has its full name.
func (w *Work) failure(failed bool) {
	if len(w.Facts) == 0 {
		return
	}
	tool := w.Facts[len(w.Facts)-1].Tool
	switch {
	case failed && tool == w.faulty:
		w.Errors++
	case failed:
		w.Errors, w.faulty = 1, tool
	case tool == w.faulty:
		w.Errors, w.faulty = 0, ""
	}
}

func isWrite(tool string) bool {
	return tool == "apply_patch" || tool == "delete_file" || tool == "move_file" || strings.Contains(tool, "write") || strings.Contains(tool, "edit") || strings.Contains(tool, "create")
}

func (w *Work) wrote(path string) {
	if path != "" && len(w.Files) < maxFacts && !slices.Contains(w.Files, path) {
		w.Files = append(w.Files, path)
	}
}

// refused counts calls that the model should not have made; a dead server or a timeout is not its fault.
func (w *Work) refused(b *event.ToolFailed) {
	switch b.Kind {
	case "unknown_tool", "bad_arguments", "too_large", "not_offered":
		w.count()
		w.Refusal = b.Kind
	}
}

// again lets the model be asked anew, in another way.
func (w *Work) again() { w.Attempts, w.Failure, w.NotBefore = 0, nil, time.Time{} }

// forgive clears what made the context pause, so that a resume tries afresh.
func (w *Work) forgive() {
	w.again()
	w.Repeats, w.lastCall = 0, ""
}
