// Package page shows a context as a web page: what happened and why, what it took, what
// the model read and wrote, what became of the files, comments and the plan.
//
// [Build] reads the log twice, and [Doc.Write] writes one file of HTML that needs nothing
// else: no network, no other file. A strict policy in it lets one script run, ours, and
// no script holds data. The server of agent ui writes the same parts.
//
// A page is of bounded size. Of a long log it shows the latest rows ([mostRows]); a text that
// is longer than the page has room for is shown with its beginning and its end, and the
// page says how much is missing and which command shows it. Every text of the world is
// redacted, made visible ([sanitize.Terminal]: no control character, nothing invisible)
// and escaped, in this order.
package page

import (
	g "maragu.dev/gomponents"

	"agent/contexts"
	"agent/internal/i18n"
	"agent/internal/timeline"
	"agent/internal/trees"
)

// Source is what a page is made from.
type Source struct {
	Store *contexts.Store
	Info  contexts.Info // with the state that people are told
	Lang  i18n.Lang
	Clean func(string) string // redacts
	Rows  int                 // 0: mostRows; how many rows are shown at most
	Until uint64              // 0: the end; the latest event that is shown
	From  uint64              // only events from here on are read: the totals are then those of the part
	Files *trees.View         // nil: no files are saved
	Links Links
	Whole bool // texts are cut at 1 MiB only
}

// Links says where other things are. In a file they are nowhere.
type Links interface {
	Event(uuid string, seq uint64) string
}

// Bounds of a page.
const (
	mostRows  = 3000
	mostText  = 64 << 10 // bytes of one text
	roomTexts = 1000 << 10
	roomDiffs = 700 << 10
)

// Doc is a page.
type Doc struct {
	Lang                 i18n.Lang
	UUID, Title, Address string
	State, StateText     string
	Because, Waits       string
	URL, Change, Work    string // URL of the task, of its change; where unfinished work is
	Facts                []Fact
	Failures, Marks      []Ref // what failed; pauses, interruptions and their ends
	MoreFailures         int
	MoreChanges          int
	Changes              []Changed // files, in the order in which they were changed
	Phases               []Phase
	Costs                []Cost
	Models               []Cost // if there are several
	Tools                []ToolCost
	Times                []string // where time went, in words
	Charts               []HTML
	Talk                 []Talk
	Comments             []Comment
	Plans                []Plan
	Problems             []string
	Earlier              int // rows that are left out
	First                uint64
	Bound                int // bytes of a text from which on it is cut
	Cut                  bool
	Unpriced             bool
	Partial              bool // some calls have a price
	Estimated            bool
	Live                 bool   // it has not ended
	Events               string // where the server tells of new rows
	Last                 uint64 // the latest event that is shown
	AllOpen              bool   // rows are unfolded
	Single               bool   // one row is shown, see [Doc.Only]
	Nav                  g.Node // leads to the other pages of a server; nil in a file
	Line                 *timeline.Timeline
}

// Fact is a line of the summary.
type Fact struct{ Label, Value string }

// Ref is a link to a row.
type Ref struct {
	Seq         uint64
	Title, Text string
	Kind        string
	Talk        uint64 // a message of the conversation
}

// Phase is a phase of the plan, or all of a context that works without one.
type Phase struct {
	ID    int
	Title string
	Sum   Total
	Steps []Step
}

// Step is a turn of the model with its tool calls.
type Step struct {
	N    int // 0: what came before the first one
	Sum  Total
	Rows []Row
	Open bool
}

// Total is what a phase or a step took, as texts.
type Total struct {
	Tokens, USD, Time string
	Failed            int
	Files             string
}

// Row is one row of the timeline.
type Row struct {
	timeline.Row
	Clock, Took, Used, USD, Changed string
	KindText                        string
	Talk, Comment                   uint64 // where the words are
	Parts                           []Part
	Diffs                           []Diff
	More                            string // the command that shows all of it
	Link                            string // where the server shows it
}

// Changed is a file that a row changed.
type Changed struct {
	Seq  uint64
	Step int
	Diff
}

// Part is a text of a row.
type Part struct {
	Label string
	HTML  HTML
}

// Talk is a message of the conversation, or a mark in it.
type Talk struct {
	Seq          uint64
	Role         string // of the log
	Who, Purpose string // in words
	Failed, Mark bool
	HTML         HTML
	Thought      HTML
	Calls        []Call
	Row          uint64 // of a tool: where its output is
	Text         string // of a tool: its first line
}

// Call is a tool call of a reply.
type Call struct {
	Name string
	Row  uint64 // 0: it was not carried out
}

// Comment is a comment on the task, ours or that of a person.
type Comment struct {
	Seq     uint64
	ID      string // several may have been read in one event
	Ours    bool
	Who     string
	Purpose string
	Time    string
	URL     string
	Edit    bool
	Failed  string
	Note    string
	HTML    HTML
}

// Plan is a plan, or a revision of it.
type Plan struct {
	Seq            uint64
	Revision       int // 0: the plan
	Goal, Reason   string
	Criteria       []string
	Changes        []string
	Actions        []PlanAction
	Trigger, Clock string
}

// PlanAction is an action of a plan.
type PlanAction struct{ ID, Purpose, Tool, Status, StatusText string }

// Cost is a line of the table of costs.
type Cost struct {
	Name                              string
	Indent, Total                     bool
	Calls                             int
	Prompt, Cached, Output, USD, Time string
	Tokens                            int
	Bars                              HTML
}

// ToolCost is what the calls of a tool took.
type ToolCost struct {
	Name          string
	Calls, Failed int
	Time          string
	Bar           HTML
}

// T is a text of the table.
func (d *Doc) T(id i18n.ID, args ...any) string { return i18n.Text(d.Lang, id, args...) }
