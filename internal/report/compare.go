package report

import (
	"time"

	"agent/eventlog/event"
	"agent/internal/sanitize"
	"agent/projections"
)

// Comparison is how two runs differ beside their files.
type Comparison struct {
	Parts *Parting  `json:"parts"` // null: they never do
	Runs  [2]RunEnd `json:"runs"`
}

// Parting is the first thing that was not the same in two runs.
type Parting struct {
	Seqs  [2]uint64 `json:"seqs"`  // 0: that run had ended
	Types [2]string `json:"types"` // of those events
	Texts [2]string `json:"texts"` // what they say, cut
}

// RunEnd is what became of a run, and what it took.
type RunEnd struct {
	UUID      string        `json:"uuid"`
	TaskKey   string        `json:"task_key"`
	Model     string        `json:"model"`
	State     string        `json:"state"`
	Messages  int           `json:"messages"`
	LLMCalls  int           `json:"llm_calls"`
	LLMBegun  int           `json:"llm_begun"`
	ToolCalls int           `json:"tool_calls"`
	Tokens    int           `json:"tokens"`
	CostUSD   float64       `json:"cost_usd"`
	Seconds   float64       `json:"active_seconds"` // in which a process worked on it
	Change    Size          `json:"change"`         // of all files, from the beginning to the end
	Commands  []RunCommand  `json:"commands"`
	Estimated bool          `json:"estimated,omitempty"` // some of the tokens are
	Active    time.Duration `json:"-"`

	Calls projections.ModelCalls `json:"-"`
}

// Size is how large a change is. The caller of [Source.Compare] knows it: files are not in the log.
type Size struct {
	Files   int `json:"files"`
	Added   int `json:"added"` // lines
	Removed int `json:"removed"`
}

// RunCommand is a command that a run executed, and its exit code as the tool told it.
type RunCommand struct {
	Command  string `json:"command"`
	ExitCode string `json:"exit_code,omitempty"`
	OK       bool   `json:"ok"`
}

// Compare reads two logs. What differs in every run, as times and ids, counts for nothing.
func (s Source) Compare(one, other string) (Comparison, error) {
	a, endA, err := s.run(one)
	if err != nil {
		return Comparison{}, err
	}
	b, endB, err := s.run(other)
	return Comparison{Parts: part(a, b), Runs: [2]RunEnd{endA, endB}}, err
}

// turn is one thing that was said or done.
type turn struct {
	seq        uint64
	kind, text string
}

func (s Source) run(uuid string) (turns []turn, end RunEnd, err error) {
	f := s.fold(uuid, func(ev event.Event, _ *projections.State) {
		if text, ok := said(ev.Body); ok {
			turns = append(turns, turn{ev.Seq, ev.Body.Type(), text})
		}
	})
	u := f.state.Usage
	end = RunEnd{UUID: uuid, State: stateOf(s.Store, uuid, string(f.state.Status)), LLMCalls: u.LLMCalls, LLMBegun: u.LLMBegun, Calls: u.Calls(), ToolCalls: u.ToolCalls, Tokens: u.Tokens(), Estimated: u.Estimated, CostUSD: u.CostUSD,
		Seconds: u.Active.Seconds(), Active: u.Active, Messages: len(turns), Commands: []RunCommand{}}
	if f.state.Created != nil {
		end.TaskKey = f.state.Created.TaskKey
	}
	if f.state.Config != nil {
		end.Model = f.state.Config.Provider + " " + f.state.Config.Model
	}
	for _, fact := range f.state.Work.Facts {
		if fact.ExitCode != "" {
			end.Commands = append(end.Commands, RunCommand{sanitize.Line(fact.Command, 200), fact.ExitCode, fact.OK})
		}
	}
	return turns, end, f.err
}

// said is what an event adds to the conversation of a run.
func said(body event.Body) (text string, ok bool) {
	switch b := body.(type) {
	case *event.MessageAdded:
		return b.Role + ": " + b.Content.View(), true
	case *event.LLMReplied:
		text = b.Text.View()
		for _, c := range b.Calls {
			text += "\n→ " + c.Name + " " + c.Args.View()
		}
		return text, true
	case *event.ToolReplied:
		return b.Content.View(), true
	case *event.ToolFailed:
		return b.Kind + ": " + b.Message, true
	case *event.ToolInterrupted:
		return b.Reason, true
	}
	return "", false
}

func part(a, b []turn) *Parting {
	for i := range max(len(a), len(b)) {
		var at [2]turn
		for n, turns := range [][]turn{a, b} {
			if i < len(turns) {
				at[n] = turns[i]
			}
		}
		if at[0].kind != at[1].kind || at[0].text != at[1].text {
			p := &Parting{}
			for n, t := range at {
				p.Seqs[n], p.Types[n], p.Texts[n] = t.seq, t.kind, sanitize.Line(t.text, 300)
			}
			return p
		}
	}
	return nil
}
