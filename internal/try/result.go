package try

import (
	"context"
	"errors"
	"io/fs"

	"agent/internal/i18n"
	"agent/internal/report"
	"agent/projections"
)

// Result is what became of a task, for programs.
type Result struct {
	State    string   `json:"state"` // completed, failed, stopped, paused, awaiting, running; "": it did not begin
	Reason   string   `json:"reason,omitempty"`
	Patch    string   `json:"patch"` // for git apply, on the files as they were; empty if nothing changed, or the end is not completed
	Files    []File   `json:"files"`
	Tokens   int      `json:"tokens"`
	CostUSD  float64  `json:"cost_usd"` // 0 for a model without a price
	Evidence Evidence `json:"evidence"`
	UUID     string   `json:"uuid"` // of the context, for agent inspect
	Model    string   `json:"model"`
	Applied  string   `json:"applied,omitempty"` // where to: directory, branch, or patch
	Problem  string   `json:"problem,omitempty"` // why it was not applied

	unfinished bool // a limit ended the work
	title      string
}

// File is one that was changed.
type File struct {
	Path    string `json:"path"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
}

// Evidence is what the log shows, whatever the model says.
type Evidence struct {
	Commands  []Command `json:"commands"`
	LLMCalls  int       `json:"llm_calls"`
	ToolCalls int       `json:"tool_calls"`
	LeftOut   []string  `json:"left_out,omitempty"` // changed, but too large or repositories of their own
}

// Command is one that ran, and how it ended.
type Command struct {
	Command  string `json:"command"`
	ExitCode string `json:"exit_code"`
}

// Completed reports whether the work is done, as the agent sees it.
func (r Result) Completed() bool { return r.State == string(projections.Completed) && !r.unfinished }

func (r Result) ended() bool { return projections.Status(r.State).Ended() }

// Message is that of a commit of the change.
func (r Result) Message() string { return r.title + "\n\nAgent-Context: " + r.UUID + "\n" }

// Result reads what became of the task, and makes the diff of its change.
func (t *Try) Result(ctx context.Context, lang i18n.Lang) (Result, error) {
	r := Result{Files: []File{}, Evidence: Evidence{Commands: []Command{}}, UUID: t.UUID}
	if t.app != nil {
		r.Model = t.app.Config.LLM.Active().Model
	}
	if t.UUID == "" {
		return r, nil
	}
	s, err := t.State()
	if err != nil {
		return r, err
	}
	if t.app == nil && s.Config != nil {
		r.Model = s.Config.Model
	}
	r.State, r.Tokens, r.CostUSD = string(s.Status), s.Usage.Tokens(), s.Usage.CostUSD
	r.unfinished, r.title = s.Publishing.Unfinished(), s.Created.Title
	r.Evidence.LLMCalls, r.Evidence.ToolCalls = s.Usage.LLMCalls, s.Usage.ToolCalls
	for _, f := range s.Work.Facts {
		if f.ExitCode != "" {
			r.Evidence.Commands = append(r.Evidence.Commands, Command{f.Command, f.ExitCode})
		}
	}
	if m := s.Publishing.Measured; m != nil {
		for _, f := range m.Files {
			r.Files = append(r.Files, File{f.Path, f.Added, f.Removed})
		}
		r.Evidence.LeftOut = m.LeftOut
	}
	if !r.Completed() {
		r.Reason = report.Because(s, lang)
		return r, nil
	}
	patch, err := t.store.Patch(t.UUID)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		patch, err = t.diff(ctx, patch)
	}
	r.Patch = string(patch)
	return r, err
}
