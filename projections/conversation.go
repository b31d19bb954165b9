package projections

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"agent/eventlog/event"
	"agent/internal/lazyregexp"
	"agent/llm"
)

// Conversation is what the model gets to see, independent of the protocol.
type Conversation struct {
	Entries []Entry
	open    *event.ToolRequested
	from    string // which server and model gave the latest reply with something opaque
	shown   shown
}

// Entry is one turn.
type Entry struct {
	Seq     uint64 // of the event that it comes from
	Time    time.Time
	Role    llm.Role
	Purpose event.MessagePurpose // as of message.added, or a summary
	Stale   bool                 // a later phase or action took its place
	Text    string
	Calls   []llm.ToolCall
	CallID  string // of a tool entry; empty if the call was written as text
	Tool    string // server/tool of a tool entry
	Args    string // JSON of a tool entry
	Weight  llm.Weight

	Opaque    *llm.Opaque // what goes back with a reply
	Reasoning int         // tokens of that
}

func (c *Conversation) apply(e event.Event) {
	switch b := e.Body.(type) {
	case *event.MessageAdded:
		c.message(e, b)
	case *event.SummaryAdded:
		if b.Purpose == event.CompactionSummary {
			c.compact(e, b)
		}
	case *event.LLMReplied:
		c.reply(e, b)
	case *event.ToolRequested:
		c.open = b
	case *event.ToolReplied:
		text := b.Content.View()
		if b.IsError {
			text = "error: " + text
		}
		c.result(e, text)
	case *event.ToolFailed:
		c.result(e, "error: "+b.Message)
	case *event.ToolInterrupted:
		c.result(e, "interrupted: "+b.Reason+" The call may or may not have taken effect: look before you repeat it.")
	}
}

// reply adds a turn of the model. What was opaque and then changed by redaction is of no use.
func (c *Conversation) reply(e event.Event, b *event.LLMReplied) {
	entry := Entry{Role: llm.Assistant, Text: b.Text.View(), Calls: Calls(b)}
	if data := b.Opaque.View(); b.From != "" && !e.Redacted && json.Valid([]byte(data)) {
		entry.Opaque = &llm.Opaque{From: b.From, Data: json.RawMessage(data)}
		entry.Reasoning = cmp.Or(b.Usage.Reasoning, llm.Estimate(b.Reasoning.View()))
		c.from = b.From
	}
	c.add(e, entry)
}

func (c *Conversation) add(e event.Event, entry Entry) {
	entry.Seq, entry.Time = e.Seq, e.Time
	c.Entries = append(c.Entries, entry.weighed())
}

// message adds a turn; a new system message takes the place of the old one.
func (c *Conversation) message(e event.Event, b *event.MessageAdded) {
	entry := Entry{Seq: e.Seq, Time: e.Time, Role: llm.Role(b.Role), Purpose: b.Purpose, Text: b.Content.View()}
	if b.Purpose == event.SystemMessage && len(c.Entries) > 0 && c.Entries[0].Purpose == event.SystemMessage {
		c.Entries[0] = entry.weighed()
		c.shown = shown{}
		return
	}
	if entry.step() {
		for i := range c.Entries {
			c.Entries[i].Stale = c.Entries[i].step()
		}
	}
	c.Entries = append(c.Entries, entry.weighed())
}

// step is true for the message that says what a phase or an action is about.
func (e Entry) step() bool {
	return e.Purpose == event.PhaseMessage || e.Purpose == event.ActionMessage
}

func (c *Conversation) result(e event.Event, text string) {
	if c.open == nil {
		return
	}
	if text == "" {
		text = "(no output)" // some servers refuse an empty tool message
	}
	c.add(e, Entry{Role: llm.ToolRole, Text: text, CallID: c.open.CallID,
		Tool: c.open.Name(), Args: c.open.Args.View()})
	c.open = nil
}

// compact puts a summary in the place of the entries that it covers.
func (c *Conversation) compact(e event.Event, b *event.SummaryAdded) {
	kept := make([]Entry, 0, len(c.Entries))
	placed := false
	for _, entry := range c.Entries {
		if entry.Seq < b.From || entry.Seq > b.To || entry.Pinned() {
			kept = append(kept, entry)
			continue
		}
		if !placed {
			// It stands where the turns stood, so that the order stays that of seqs.
			summary := Entry{Seq: b.To, Time: e.Time, Role: llm.Assistant, Purpose: event.SummaryMessage, Text: b.Text.View()}
			kept = append(kept, summary.weighed())
			placed = true
		}
	}
	c.Entries, c.shown = kept, shown{}
}

// Pinned entries stay whole in every compaction: what the system, the task and
// people said is never left to a summary alone, nor is the plan: the latest
// message about a step holds all of it.
func (e Entry) Pinned() bool {
	return !e.Stale && e.pinned()
}

func (e Entry) pinned() bool {
	return e.Role == llm.System || (e.Role == llm.User && e.Purpose != event.CorrectionMessage) || e.Purpose == event.InheritedMessage
}

// Calls gives the native calls of a reply. Ids that are missing or given twice
// are made unique, because every result must name its call.
func Calls(b *event.LLMReplied) []llm.ToolCall {
	var out []llm.ToolCall
	used := map[string]bool{}
	for i, c := range b.Calls {
		id := c.ID
		for n := i; id == "" || used[id]; n++ {
			id = fmt.Sprintf("%s_%d", cmp.Or(c.ID, "call"), n)
		}
		used[id] = true
		out = append(out, llm.ToolCall{ID: id, Name: c.Name, Arguments: c.Args.View()})
	}
	return out
}

// share is how many bytes of an entry are shown, 0 for all. One tool result, the
// task with its comments, and later comments get most, inherited words half of it,
// so that they leave room to work beside the rules and the files of the project.
func (e Entry) share(most int) int {
	switch {
	case e.Role == llm.ToolRole:
		return most
	case e.Purpose == event.InheritedMessage:
		return e.bytesOf(most / 2)
	case e.Purpose == event.TaskMessage, e.Purpose == event.CommentsMessage, e.Purpose == event.EditedMessage:
		return e.bytesOf(most)
	}
	return 0
}

// SentWhole reports whether a message is sent as it is, not by its head and tail.
func SentWhole(b *event.MessageAdded, most int) bool {
	entry := Entry{Role: llm.Role(b.Role), Purpose: b.Purpose, Text: b.Content.View()}.weighed()
	share := entry.share(most)
	return share == 0 || len(entry.Text) <= share
}

// bytesOf is most, or less where the text has more tokens than bytes/4.
func (e Entry) bytesOf(most int) int {
	if allowed := most / 4 * 100; e.Weight.Estimate > allowed {
		return min(most, len(e.Text)*allowed/e.Weight.Estimate)
	}
	return most
}

// weighed is the entry with its weight, which is asked for at every request.
func (e Entry) weighed() Entry {
	e.Weight = llm.WeighMessage(e.Text, e.Calls)
	return e
}

// Message renders one entry. In the JSON protocol, and for calls that were
// written as text, a result goes back as a user message with previous_output.
func (e Entry) Message(protocol string) llm.Message {
	switch {
	case e.Role == llm.ToolRole && (protocol == "json" || e.CallID == ""):
		return llm.Message{Role: llm.User, Content: previousOutput(e)}
	case e.Role == llm.ToolRole:
		return llm.Message{Role: e.Role, Content: e.Text, CallID: e.CallID, Name: e.Tool}
	case protocol == "json" && len(e.Calls) > 0:
		return llm.Message{Role: e.Role, Content: strings.TrimSpace(e.Text + "\n" + callsAsText(e.Calls)), Reasoning: e.Opaque}
	}
	return llm.Message{Role: e.Role, Content: e.Text, Calls: e.Calls, Reasoning: e.Opaque}
}

func previousOutput(e Entry) string {
	command, _ := json.Marshal(map[string]any{"tool": e.Tool, "args": rawOrString(e.Args)})
	return "previous_command: " + string(command) + "\nprevious_output:\n" + e.Text
}

func callsAsText(calls []llm.ToolCall) string {
	data, _ := json.Marshal(map[string]any{"tool_calls": calls})
	return string(data)
}

// rawOrString keeps JSON as JSON and quotes everything else.
func rawOrString(s string) any {
	if json.Valid([]byte(s)) {
		return json.RawMessage(s)
	}
	return s
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// Subject is what a call is about, in few words: its command or its path.
func Subject(args string) string {
	var a struct {
		Argv    []string `json:"argv"`
		Command any      `json:"command"`
		Path    string   `json:"path"`
		File    string   `json:"file_path"`
		Pattern string   `json:"pattern"`
		Patch   string   `json:"patch"`
	}
	if json.Unmarshal([]byte(args), &a) != nil {
		return ""
	}
	command, _ := a.Command.(string)
	for _, s := range []string{strings.Join(a.Argv, " "), command, a.Path, a.File, a.Pattern, strings.Join(pathsOfPatch(a.Patch), ", ")} {
		if s != "" {
			return s
		}
	}
	return ""
}

// command is the command of a call as a shell takes it, else what the call is about.
func command(args string) string {
	var a struct {
		Argv []string `json:"argv"`
	}
	if json.Unmarshal([]byte(args), &a) != nil || len(a.Argv) == 0 {
		return Subject(args)
	}
	quoted := make([]string, len(a.Argv))
	for i, arg := range a.Argv {
		if quoted[i] = arg; !plainWord.MatchString(arg) {
			quoted[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// plainWord is a word that means itself to a shell.
var plainWord = lazyregexp.New(`^[A-Za-z0-9_@%+=:,./-]+$`)
