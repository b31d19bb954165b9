package projections

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"agent/eventlog/event"
	"agent/llm"
)

// Names of the projection files of a context.
const (
	MetadataFile  = "metadata.json"
	TaskStateFile = "task_state.json"
	MessagesFile  = "messages.jsonl"
	CurrentFile   = "current.jsonl"
	SummariesFile = "summaries.jsonl"
	ToolsFile     = "tools.jsonl"
)

// FileNames lists the projection files of a context.
func FileNames(uuid string) []string {
	return []string{MetadataFile, TaskStateFile, MessagesFile, CurrentFile, SummariesFile, ToolsFile, planFile(uuid)}
}

// FileChange is what one event does to one projection file.
type FileChange struct {
	Name    string
	Data    []byte
	Replace bool // Data is the whole new content; otherwise it is appended
}

// Files renders the projection files. Their bytes depend on nothing but the
// events. Field names are those of the documents that the program follows;
// times are ISO-8601 in UTC with an offset.
type Files struct {
	messages, summaries, tools int
	open                       *event.ToolRequested
	plans                      []byte // what the planning history holds: a fork has it under another name
}

// Apply gives the changes that an event makes; s is the state after it.
func (f *Files) Apply(s *State, e event.Event) []FileChange {
	if s.Created == nil {
		return nil // not a context's log
	}
	changes := f.conversation(s, e)
	changes = append(changes, f.tool(e)...)
	changes = append(changes, f.plan(s, e)...)
	switch b := e.Body.(type) {
	case *event.SummaryAdded:
		changes = append(changes, f.summary(e, b))
	case *event.ContextForked:
		changes = append(changes, metadata(s), taskState(s), FileChange{Name: planFile(b.UUID), Data: slices.Clone(f.plans), Replace: true})
	case *event.ConfigPinned, *event.ProcessStarted:
		changes = append(changes, metadata(s), taskState(s))
	case *event.ContextPaused, *event.ContextAwaiting, *event.ContextResumed, *event.ContextCompleted,
		*event.ContextStopped, *event.ContextFailed, *event.CommentsFetched, *event.PhaseEntered:
		changes = append(changes, taskState(s))
	}
	return changes
}

type messageLine struct {
	Seq       int      `json:"seq"`
	Role      llm.Role `json:"role"`
	Content   string   `json:"content"`
	Timestamp string   `json:"timestamp"`
	Tokens    int      `json:"tokens"`
	ToolName  string   `json:"tool_name,omitempty"`
}

type currentLine struct {
	Role     llm.Role `json:"role"`
	Content  string   `json:"content"`
	ToolName string   `json:"tool_name,omitempty"`
}

func (f *Files) conversation(s *State, e event.Event) []FileChange {
	entries := s.Conversation.Entries
	if len(entries) == 0 {
		return nil
	}
	last := entries[len(entries)-1]
	replaced := entries[0].Seq == e.Seq && len(entries) > 1
	if b, ok := e.Body.(*event.SummaryAdded); ok && b.Purpose == event.CompactionSummary {
		return []FileChange{current(s)}
	}
	if replaced {
		last = entries[0]
	}
	if last.Seq != e.Seq {
		return nil
	}
	f.messages++
	role, content, tool := stored(last, s.Protocol())
	line := messageLine{f.messages, role, content, stamp(e.Time), llm.Estimate(content), tool}
	changes := []FileChange{{Name: MessagesFile, Data: jsonLine(line)}}
	if replaced {
		return append(changes, current(s))
	}
	return append(changes, FileChange{Name: CurrentFile, Data: jsonLine(currentLine{role, content, tool})})
}

func current(s *State) FileChange {
	var b bytes.Buffer
	for _, entry := range s.Conversation.Entries {
		role, content, tool := stored(entry, s.Protocol())
		b.Write(jsonLine(currentLine{role, content, tool}))
	}
	return FileChange{Name: CurrentFile, Data: b.Bytes(), Replace: true}
}

// stored is the form of a turn in the files: a turn with native calls is a JSON
// string of the whole message, as the documents have it.
func stored(entry Entry, protocol string) (role llm.Role, content, tool string) {
	m := entry.Message(protocol)
	if len(m.Calls) > 0 {
		return m.Role, string(bytes.TrimRight(jsonLine(m), "\n")), ""
	}
	return m.Role, m.Content, m.Name
}

type summaryLine struct {
	ID             int     `json:"id"`
	StartSeq       int     `json:"start_seq"`
	EndSeq         int     `json:"end_seq"`
	Summary        string  `json:"summary"`
	OriginalTokens int     `json:"original_tokens"`
	SummaryTokens  int     `json:"summary_tokens"`
	Ratio          float64 `json:"ratio"`
	Timestamp      string  `json:"timestamp"`
}

func (f *Files) summary(e event.Event, b *event.SummaryAdded) FileChange {
	f.summaries++
	line := summaryLine{ID: f.summaries, StartSeq: int(b.From), EndSeq: int(b.To), Summary: b.Text.View(),
		OriginalTokens: b.Original, SummaryTokens: b.Tokens, Timestamp: stamp(e.Time)}
	if b.Original > 0 {
		line.Ratio = float64(b.Tokens*1000/b.Original) / 1000
	}
	return FileChange{Name: SummariesFile, Data: jsonLine(line)}
}

type toolLine struct {
	Seq        int     `json:"seq"`
	Tool       string  `json:"tool"`
	Args       any     `json:"args"`
	Status     string  `json:"status"` // success | error
	DurationMS float64 `json:"duration_ms"`
	Timestamp  string  `json:"timestamp"`
	Result     string  `json:"result,omitempty"`
	Error      string  `json:"error,omitempty"`
}

func (f *Files) tool(e event.Event) []FileChange {
	line := toolLine{Seq: f.tools + 1, Timestamp: stamp(e.Time), Status: "error"}
	switch b := e.Body.(type) {
	case *event.ToolRequested:
		f.open = b
		return nil
	case *event.ToolReplied:
		line.DurationMS = float64(b.DurationMS)
		if b.IsError {
			line.Error = b.Content.View()
		} else {
			line.Status, line.Result = "success", b.Content.View()
		}
	case *event.ToolFailed:
		line.DurationMS, line.Error = float64(b.DurationMS), b.Message
	case *event.ToolInterrupted:
		line.Error = "interrupted: " + b.Reason
	default:
		return nil
	}
	if f.open == nil {
		return nil
	}
	f.tools++
	line.Tool, line.Args = f.open.Server+"_"+f.open.Tool, rawOrString(f.open.Args.View())
	f.open = nil
	return []FileChange{{Name: ToolsFile, Data: jsonLine(line)}}
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000+00:00") }

func stampOrNil(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := stamp(t)
	return &s
}

func jsonLine(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // the line types above cannot fail
		panic("projections: " + err.Error())
	}
	return b.Bytes()
}
