package export

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"agent/eventlog/event"
)

// The structs below are those of the Agent Trajectory Interchange Format, version 1.7
// (Harbor, RFC 0001). testdata/atif-1.7.schema.json is its table of fields as a schema.

const atifVersion = "ATIF-v1.7"

type atifAgent struct {
	Name    string         `json:"name"`
	Version string         `json:"version"`
	Model   string         `json:"model_name,omitempty"`
	Tools   []atifTool     `json:"tool_definitions,omitempty"`
	Extra   map[string]any `json:"extra,omitempty"`
}

type atifTool struct {
	Type     string       `json:"type"`
	Function atifFunction `json:"function"`
}

type atifFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

type atifStep struct {
	ID          int              `json:"step_id"`
	Time        string           `json:"timestamp"`
	Source      string           `json:"source"` // system | user | agent
	Model       string           `json:"model_name,omitempty"`
	Message     string           `json:"message"`
	Reasoning   string           `json:"reasoning_content,omitempty"`
	Calls       []atifCall       `json:"tool_calls,omitempty"`
	Observation *atifObservation `json:"observation,omitempty"`
	Metrics     *atifMetrics     `json:"metrics,omitempty"`
	LLMCalls    *int             `json:"llm_call_count,omitempty"`
	Extra       map[string]any   `json:"extra,omitempty"`
}

type atifCall struct {
	ID    string          `json:"tool_call_id"`
	Name  string          `json:"function_name"`
	Args  json.RawMessage `json:"arguments"`
	Extra map[string]any  `json:"extra,omitempty"`
}

type atifObservation struct {
	Results []atifResult `json:"results"`
}

type atifResult struct {
	Call    string         `json:"source_call_id,omitempty"`
	Content string         `json:"content"`
	Extra   map[string]any `json:"extra,omitempty"`
}

type atifMetrics struct {
	Prompt     int            `json:"prompt_tokens"`
	Completion int            `json:"completion_tokens"`
	Cached     int            `json:"cached_tokens,omitempty"`
	CostUSD    float64        `json:"cost_usd,omitempty"` // absent if no price is known
	Extra      map[string]any `json:"extra,omitempty"`
}

type atifTotal struct {
	Prompt     int            `json:"total_prompt_tokens"`
	Completion int            `json:"total_completion_tokens"`
	Cached     int            `json:"total_cached_tokens"`
	CostUSD    *float64       `json:"total_cost_usd,omitempty"` // absent if the price of a call is not known
	Steps      int            `json:"total_steps"`
	Extra      map[string]any `json:"extra,omitempty"`
}

// trajectory writes a log as one: a step for each message, each reply of the model with
// its tool calls and their results, and each command that the configuration asked for.
type trajectory struct {
	Source
	w       io.Writer
	err     error
	step    *atifStep // the latest, whose results may not be there yet
	reply   uint64    // the event that it comes from
	open    map[uint64]string
	purpose string // of the open model call
	total   atifTotal
	failed  int // model calls without a reply
	unknown int // replies without a price
	spent   float64
}

func (s Source) atif(w io.Writer) (damage error) {
	t := &trajectory{Source: s, w: w, open: map[uint64]string{}}
	agent, extra, err := s.atifHead()
	if err != nil {
		return err
	}
	t.print(`{"schema_version":%s,"session_id":%s,"trajectory_id":%s,"agent":%s,"extra":%s,"steps":[`, atifVersion, s.UUID, s.UUID, agent, extra)
	for ev := range s.events(&damage) {
		t.add(ev)
	}
	t.flush()
	if t.unknown == 0 {
		t.total.CostUSD = new(float64)
		*t.total.CostUSD = t.spent
	}
	t.total.Extra = map[string]any{"failed_llm_calls": t.failed}
	t.print(`],"final_metrics":%s}`+"\n", t.total)
	return cmp.Or(t.err, damage)
}

// atifHead reads what comes first in the file: the agent with its tools, and the task.
// Both can change later in a log; what was there at the beginning counts.
func (s Source) atifHead() (agent atifAgent, extra map[string]any, err error) {
	var damage error // said when the steps are read
	agent, extra = atifAgent{Name: "agent", Version: s.Version}, map[string]any{}
	for ev := range s.events(&damage) {
		switch b := ev.Body.(type) {
		case *event.ContextCreated:
			agent.Version = cmp.Or(b.Version, s.Version)
			extra["task"], extra["title"] = b.TaskKey, b.Title
		case *event.ConfigPinned:
			agent.Model, agent.Extra = b.Model, map[string]any{"provider": b.Provider}
		case *event.ToolsListed:
			for _, server := range b.Servers {
				for _, tool := range server.Tools {
					agent.Tools = append(agent.Tools, atifTool{"function", atifFunction{server.Name + "/" + tool.Name, tool.Description, tool.Schema}})
				}
			}
		}
		if agent.Tools != nil {
			break
		}
	}
	agent.Version = cmp.Or(agent.Version, "unknown")
	return agent, extra, nil
}

// print writes a text in which each %s is a value as JSON.
func (t *trajectory) print(format string, values ...any) {
	var parts []any
	for _, v := range values {
		data, err := t.marshal(v)
		t.err = cmp.Or(t.err, err)
		parts = append(parts, data)
	}
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, parts...)
	}
}

// next ends the latest step and begins another one.
func (t *trajectory) next(ev event.Event, source, text string) *atifStep {
	t.flush()
	t.total.Steps++
	t.step = &atifStep{ID: t.total.Steps, Time: ev.Time.UTC().Format(time.RFC3339Nano), Source: source, Message: text, Extra: map[string]any{"seq": ev.Seq}}
	t.reply = ev.Seq
	return t.step
}

func (t *trajectory) flush() {
	if t.step == nil {
		return
	}
	if t.step.ID > 1 {
		t.print(",")
	}
	t.print("\n%s", t.step)
	t.step = nil
}
