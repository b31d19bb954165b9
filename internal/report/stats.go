package report

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/projections"
)

// Stats is what `stats --json` prints.
type Stats struct {
	By    string     `json:"by"` // one of [StatsBy]
	Since time.Time  `json:"since,omitzero"`
	Rows  []StatsRow `json:"rows"`
	Total StatsRow   `json:"total"`

	Errors []error `json:"-"` // of damaged logs, which count up to their damage
}

// StatsRow is what happened under one repository, task, context, model, day (UTC), phase of
// a plan, or tool. Of a tool, the calls that succeeded and failed count as completed and failed.
type StatsRow struct {
	Key        string  `json:"key"`
	Title      string  `json:"title,omitempty"` // of the task
	Runs       int     `json:"runs"`            // contexts that were begun
	Completed  int     `json:"completed"`
	Stopped    int     `json:"stopped"`
	Failed     int     `json:"failed"`
	Calls      int     `json:"llm_calls"` // turns of the conversation
	Begun      int     `json:"llm_begun"` // all model calls: also summaries, and those without a reply
	Tools      int     `json:"tool_calls"`
	Prompt     int     `json:"prompt_tokens"`
	Cached     int     `json:"cached_tokens"` // of the prompts: read from a cache of the server
	Completion int     `json:"completion_tokens"`
	Estimated  bool    `json:"estimated,omitempty"` // some of the tokens are
	CostUSD    float64 `json:"cost_usd"`
	Unpriced   int     `json:"unpriced_calls"` // replies of a model without a price, which cost_usd lacks
	Active     float64 `json:"active_seconds"`
}

// StatsBy are the ways to group [Source.Stats].
var StatsBy = []string{"repo", "task", "context", "model", "day", "phase", "tool"}

// Stats adds up all logs by one of [StatsBy], without what happened before from.
func (s Source) Stats(by string, from time.Time) *Stats {
	r := &Stats{By: by, Since: from, Rows: []StatsRow{}, Total: StatsRow{Key: "total"}}
	sums := map[string]*StatsRow{}
	entries := s.since(from)
	for n, entry := range entries {
		if s.Progress != nil {
			s.Progress(n, len(entries))
		}
		c := &counter{by: by, from: from, sums: sums, early: &StatsRow{}}
		log := s.fold(entry.UUID, c.count)
		c.close()
		if log.err != nil {
			r.Errors = append(r.Errors, log.err)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		if *sums[key] != (StatsRow{Key: key, Title: sums[key].Title}) { // not all of it is older
			r.Rows = append(r.Rows, *sums[key])
			r.Total.add(sums[key])
		}
	}
	if by == "task" || by == "context" {
		slices.SortStableFunc(r.Rows, func(a, b StatsRow) int { return cmp.Or(cmp.Compare(b.CostUSD, a.CostUSD), b.tokens()-a.tokens()) })
	}
	return r
}

// since gives the contexts that may have events since a time: without those that the index
// knows to have ended before.
func (s Source) since(from time.Time) []contexts.Entry {
	all := s.entries()
	if from.IsZero() {
		return all
	}
	old := map[string]bool{}
	for info, err := range s.Store.Infos(contexts.Query{States: ended, Until: from.Add(-1)}) {
		if err != nil {
			break // what is wrong with the index the logs make up for
		}
		old[info.UUID] = info.Err == nil
	}
	return slices.DeleteFunc(all, func(e contexts.Entry) bool { return old[e.UUID] })
}

// ended are the states in which nothing more happens.
var ended = []string{contexts.StateCompleted, contexts.StateStopped, contexts.StateFailed}

func (l *StatsRow) tokens() int { return l.Prompt + l.Completion }

// counter adds the events of one log to their rows.
type counter struct {
	by    string
	from  time.Time
	sums  map[string]*StatsRow
	early *StatsRow         // before the row is known
	usage projections.Usage // so far
	model string            // of the latest model call
	tool  string            // of the latest tool call
	apart string            // purpose of the open model call, if that is no turn of the conversation
}

func (c *counter) count(ev event.Event, s *projections.State) {
	if c.by == "tool" {
		c.countTool(ev, s)
		return
	}
	line := c.line(ev, s)
	now, before := s.Usage, c.usage
	c.usage = now
	if ev.Time.Before(c.from) {
		return
	}
	line.add(&StatsRow{Calls: now.LLMCalls - before.LLMCalls, Begun: now.LLMBegun - before.LLMBegun, Tools: now.ToolCalls - before.ToolCalls, Prompt: now.Prompt - before.Prompt, Cached: now.Cached - before.Cached,
		Completion: now.Completion - before.Completion, CostUSD: now.CostUSD - before.CostUSD, Unpriced: now.Unpriced - before.Unpriced, Estimated: estimated(ev.Body, now.Tokens()-before.Tokens()), Active: (now.Active - before.Active).Seconds()})
	switch ev.Body.(type) {
	case *event.ContextCreated:
		line.Runs++
	case *event.ContextCompleted:
		line.Completed++
	case *event.ContextStopped:
		line.Stopped++
	case *event.ContextFailed:
		line.Failed++
	}
}

// estimated tells whether the tokens that an event brought are estimated.
func estimated(b event.Body, tokens int) bool {
	switch b := b.(type) {
	case *event.LLMReplied:
		return b.Usage.Estimated
	case *event.LLMFailed:
		return tokens > 0 && b.Kind == event.Interrupted
	}
	return tokens > 0
}

// countTool adds a tool call and its outcome, and nothing else.
func (c *counter) countTool(ev event.Event, s *projections.State) {
	before := c.usage
	c.usage = s.Usage
	switch body := ev.Body.(type) {
	case *event.ToolRequested:
		c.tool = body.Name()
		if !ev.Time.Before(c.from) {
			c.row(c.tool).Tools++
		}
	case *event.ToolReplied, *event.ToolFailed, *event.ToolInterrupted:
		if ev.Time.Before(c.from) || c.tool == "" {
			return
		}
		line := c.row(c.tool)
		line.Active += (s.Usage.Active - before.Active).Seconds()
		if replied, ok := body.(*event.ToolReplied); ok && projections.Succeeded(replied) {
			line.Completed++
		} else {
			line.Failed++
		}
	}
}

// line gives the row of an event. What happens before the repository or the model
// is known is added to the first one.
func (c *counter) line(ev event.Event, s *projections.State) *StatsRow {
	key, title := "", ""
	if asked, ok := ev.Body.(*event.LLMRequested); ok {
		c.model, c.apart = asked.Model, ""
		if asked.OutsideConversation() {
			c.apart = asked.Purpose
		}
	}
	switch {
	case c.by == "day":
		key = contexts.Day(ev.Time)
	case c.by == "phase" && s.Created != nil:
		key = cmp.Or(c.apart, s.Planning.Phase, "work")
	case c.by == "repo" && s.Created != nil:
		key = s.Key.Host + "/" + s.Key.Project
	case c.by == "task" && s.Created != nil:
		key, title = s.Key.String(), s.Created.Title
	case c.by == "context" && s.Created != nil:
		key, title = s.Created.UUID, s.Created.Title
	case c.by == "model" && s.Config != nil:
		key = s.Config.Model
		if c.model != "" {
			key = c.model
		}
	}
	switch ev.Body.(type) {
	case *event.LLMReplied, *event.LLMFailed:
		c.apart = ""
	}
	if key == "" {
		return c.early
	}
	line := c.row(key)
	line.Title = title
	line.add(c.early)
	c.early = &StatsRow{}
	return line
}

func (c *counter) row(key string) *StatsRow {
	if c.sums[key] == nil {
		c.sums[key] = &StatsRow{Key: key}
	}
	return c.sums[key]
}

// close counts events whose row never became known.
func (c *counter) close() {
	if *c.early != (StatsRow{}) {
		c.row("-").add(c.early)
	}
}

func (l *StatsRow) add(m *StatsRow) {
	l.Runs += m.Runs
	l.Completed += m.Completed
	l.Stopped += m.Stopped
	l.Failed += m.Failed
	l.Calls += m.Calls
	l.Begun += m.Begun
	l.Unpriced += m.Unpriced
	l.Tools += m.Tools
	l.Prompt += m.Prompt
	l.Cached += m.Cached
	l.Completion += m.Completion
	l.Estimated = l.Estimated || m.Estimated
	l.CostUSD += m.CostUSD
	l.Active += m.Active
}
