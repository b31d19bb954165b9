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

func (a *cli) listCommand() *cobra.Command {
	asJSON, state := false, ""
	cmd := &cobra.Command{
		Use: "list", Short: "Show all contexts, the newest first", Args: cobra.NoArgs,
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
	completeFlag(cmd, "state", listedStates)
	return cmd
}

func (a *cli) list(store *contexts.Store, asJSON bool, state string) error {
	out := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	code := 0
	infos, err := newestFirst(store)
	if err != nil {
		return err
	}
	if !asJSON && isTerminal(a.out) && len(infos) > 0 {
		fmt.Fprintln(out, "CONTEXT\tSTATE\tLAST EVENT\tTASK\tTITLE")
	}
	shown := 0
	for _, info := range infos {
		if info.Err != nil {
			code = worse(code, exitCode(info.Err))
		}
		line := lineOf(info)
		switch {
		case state != "" && line.State != state:
			continue
		case asJSON:
			data, err := json.Marshal(line)
			if err != nil {
				return err
			}
			fmt.Fprintln(a.out, plainJSON(data))
		default:
			printLine(out, line)
		}
		shown++
	}
	if shown == 0 && !asJSON {
		fmt.Fprintln(a.err, "no "+strings.TrimSpace(state+" contexts"))
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return quietly(code)
}

// newestFirst gives all contexts by their latest event; what cannot be read comes last.
func newestFirst(store *contexts.Store) (all []contexts.Info, err error) {
	for info, err := range store.Infos(contexts.Query{}) {
		if err != nil {
			return nil, err
		}
		all = append(all, info)
	}
	slices.SortStableFunc(all, func(a, b contexts.Info) int { return b.Updated.Compare(a.Updated) })
	return all, nil
}

func lineOf(i contexts.Info) listLine {
	line := listLine{UUID: i.UUID, TaskKey: i.TaskKey, State: i.State, Title: i.Title, CreatedAt: i.Created, UpdatedAt: i.Updated,
		LLMCalls: i.LLMCalls, ToolCalls: i.ToolCalls, Tokens: i.Tokens, Waits: i.Waits}
	if i.Err != nil {
		line.Error = i.Err.Error()
	}
	return line
}

func printLine(out io.Writer, l listLine) {
	state := l.State
	if l.Waits != "" {
		state += " (" + l.Waits + ")"
	}
	fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\n", l.UUID[:min(8, len(l.UUID))], state,
		l.UpdatedAt.Local().Format("2006-01-02 15:04"), sanitize.Line(l.TaskKey, 80), sanitize.Line(l.Title, 60))
}
