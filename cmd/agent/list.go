package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/internal/sanitize"
	"agent/projections"
)

// listLine is one context, as `list --json` prints it.
type listLine struct {
	UUID      string    `json:"uuid"`
	TaskKey   string    `json:"task_key"`
	State     string    `json:"state"`
	Title     string    `json:"title"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	LLMCalls  int       `json:"llm_calls"`
	ToolCalls int       `json:"tool_calls"`
	Tokens    int       `json:"tokens"`
	Waits     string    `json:"waits_for,omitempty"`
	Error     string    `json:"error,omitempty"`
}

// listedStates are all that a context can be in.
var listedStates = []string{"running", "paused", "awaiting", "completed", "stopped", "failed", "damaged"}

func (a *app) listCommand() *cobra.Command {
	asJSON, state := false, ""
	cmd := &cobra.Command{
		Use: "list", Short: "Show all contexts", Args: cobra.NoArgs,
		Example: `  agent list
  agent list --state paused
  agent list --json | jq -r 'select(.state=="failed").uuid'`,
		RunE: func(*cobra.Command, []string) error {
			if state != "" && !slices.Contains(listedStates, state) {
				return usageError{fmt.Errorf("no state is called %q: there are %s", state, strings.Join(listedStates, " "))}
			}
			store, err := a.openStore(true)
			if err != nil {
				return err
			}
			return a.list(store, asJSON, state)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	cmd.Flags().StringVar(&state, "state", "", "only contexts in this state: "+strings.Join(listedStates, " "))
	return cmd
}

func (a *app) list(store *contexts.Store, asJSON bool, state string) error {
	out := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	code := 0
	for entry, err := range store.List() {
		if err != nil {
			fmt.Fprintln(a.err, "agent: warning: "+sanitize.Terminal(err.Error()))
			continue
		}
		line, err := summarise(store, entry)
		if err != nil {
			code = worse(code, exitCode(err))
		}
		switch {
		case state != "" && line.State != state:
		case asJSON:
			data, err := json.Marshal(line)
			if err != nil {
				return err
			}
			fmt.Fprintln(a.out, plainJSON(data))
		default:
			printLine(out, line)
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return quietly(code)
}

// summarise folds one log. A damaged one is listed as such.
func summarise(store *contexts.Store, entry contexts.Entry) (listLine, error) {
	s := projections.NewState()
	var failure error
	for ev, err := range store.Events(entry.UUID) {
		if err != nil {
			failure = err
			break
		}
		s.Apply(ev)
	}
	line := listLine{UUID: entry.UUID, State: string(s.Status), CreatedAt: s.Started, UpdatedAt: s.Now,
		LLMCalls: s.Usage.LLMCalls, ToolCalls: s.Usage.ToolCalls, Tokens: s.Usage.Tokens()}
	if s.Created != nil {
		line.TaskKey, line.Title = s.Created.TaskKey, s.Created.Title
	}
	if s.Rest != nil && s.Status == projections.Paused {
		line.Waits = s.Rest.Until.Kind
	}
	if failure != nil && !isTorn(failure) {
		line.State, line.Error = "damaged", failure.Error()
		return line, failure
	}
	return line, nil
}

func printLine(out io.Writer, l listLine) {
	state := l.State
	if l.Waits != "" {
		state += " (" + l.Waits + ")"
	}
	fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\n", l.UUID[:min(8, len(l.UUID))], state,
		l.UpdatedAt.Local().Format("2006-01-02 15:04"), sanitize.Line(l.TaskKey, 80), sanitize.Line(l.Title, 60))
}
