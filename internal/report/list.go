package report

import (
	"slices"
	"time"

	"agent/contexts"
)

// Listed is one context, as `list --json` prints it.
type Listed struct {
	UUID      string    `json:"uuid"`
	TaskKey   string    `json:"task_key"`
	State     string    `json:"state"`
	Title     string    `json:"title"`
	CreatedAt time.Time `json:"created_at,omitzero"`
	UpdatedAt time.Time `json:"updated_at,omitzero"`
	LLMCalls  int       `json:"llm_calls"`
	LLMBegun  int       `json:"llm_begun"`
	ToolCalls int       `json:"tool_calls"`
	Tokens    int       `json:"tokens"`
	Estimated bool      `json:"estimated,omitempty"` // some of the tokens are
	CostUSD   float64   `json:"cost_usd"`
	Waits     string    `json:"waits_for,omitempty"`
	Partial   bool      `json:"partial,omitempty"`  // it completed without having done everything
	Work      string    `json:"work,omitempty"`     // unfinished work: its branch, or change.patch beside the log
	Change    string    `json:"change,omitempty"`   // URL of the pull or merge request
	ForkOf    string    `json:"fork_of,omitempty"`  // uuid of its origin
	ForkAt    uint64    `json:"fork_seq,omitempty"` // the latest event that it has from there
	Live      bool      `json:"live,omitempty"`     // a fork that works on the task itself
	Error     string    `json:"error,omitempty"`

	Err error `json:"-"` // why the log cannot be read
}

// States are all that a context can be in.
var States = []string{"running", Interrupted, "paused", "awaiting", "completed", "stopped", "failed", "damaged"}

// List gives all contexts. The one with the latest event comes first; those that
// cannot be read come last.
func List(store *contexts.Store) ([]Listed, error) { return ListOf(store, contexts.Query{}) }

// ListOf is [List] of some contexts.
func ListOf(store *contexts.Store, q contexts.Query) ([]Listed, error) {
	var found []*Listed // there may be a hundred thousand, so they are moved once
	for info, err := range store.Infos(q) {
		if err != nil {
			return nil, err
		}
		line := ListedOf(store, info)
		found = append(found, &line)
	}
	slices.SortStableFunc(found, func(a, b *Listed) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	all := make([]Listed, len(found))
	for i, line := range found {
		all[i] = *line
	}
	return all, nil
}

// ListedOf is one context of a list.
func ListedOf(store *contexts.Store, info contexts.Info) Listed {
	info.State = StateOf(store, info)
	return listed(info)
}

// StateOf is the state of a context as people are told it: one that is running by
// its log, but that no process works on, is interrupted.
func StateOf(store *contexts.Store, i contexts.Info) string {
	return stateOf(store, i.UUID, i.State)
}

func stateOf(store *contexts.Store, uuid, state string) string {
	if state != contexts.StateRunning {
		return state
	}
	if held, err := store.Locked(uuid); err == nil && !held {
		return Interrupted
	}
	return state
}

func listed(i contexts.Info) Listed {
	line := Listed{UUID: i.UUID, TaskKey: i.Address(), State: i.State, Title: i.Title, CreatedAt: i.Created, UpdatedAt: i.Updated,
		LLMCalls: i.LLMCalls, LLMBegun: i.Calls().All, ToolCalls: i.ToolCalls, Tokens: i.Tokens, Estimated: i.Estimated, CostUSD: i.CostUSD, Waits: i.Waits, Partial: i.Partial, Work: i.Work, Change: i.Change,
		ForkOf: i.Fork, ForkAt: i.ForkSeq, Live: i.Live, Err: i.Err}
	if line.UpdatedAt.IsZero() {
		line.UpdatedAt = i.Created // what came after it cannot be read
	}
	if i.Err != nil {
		line.Error = i.Err.Error()
	}
	return line
}
