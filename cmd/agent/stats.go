package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/config"
	"agent/internal/i18n"
	"agent/internal/sanitize"
	"agent/projections"
)

// statsReport is what `stats --json` prints.
type statsReport struct {
	By    string      `json:"by"` // repo | model | day
	Since time.Time   `json:"since,omitzero"`
	Rows  []statsLine `json:"rows"`
	Total statsLine   `json:"total"`
}

// statsLine is what happened under one repository, model or day (UTC).
type statsLine struct {
	Key        string  `json:"key"`
	Runs       int     `json:"runs"` // contexts that were begun
	Completed  int     `json:"completed"`
	Stopped    int     `json:"stopped"`
	Failed     int     `json:"failed"`
	Calls      int     `json:"llm_calls"`
	Tools      int     `json:"tool_calls"`
	Prompt     int     `json:"prompt_tokens"`
	Completion int     `json:"completion_tokens"`
	CostUSD    float64 `json:"cost_usd"`
	Active     float64 `json:"active_seconds"`
}

func (a *cli) statsCommand() *cobra.Command {
	asJSON, by, since := false, "repo", ""
	cmd := &cobra.Command{
		Use: "stats", Short: "Count runs, outcomes, tokens, money and time", Args: cobra.NoArgs,
		Long: `stats adds up all logs: contexts begun and how they ended, model calls, tokens, money, and
the time in which the agent worked. A damaged log counts up to its damage.`,
		Example: `  agent stats
  agent stats --by day --since 7d
  agent stats --by model --since 2026-11-01 --json`,
		RunE: func(*cobra.Command, []string) error {
			l, err := a.look(config.Offline())
			if err != nil {
				return err
			}
			from, err := sinceTime(since, l.now)
			if err != nil {
				return err
			}
			if !slices.Contains([]string{"repo", "model", "day"}, by) {
				return usageError{errors.New("--by is repo, model or day")}
			}
			report, code := l.stats(by, from)
			if asJSON {
				return errors.Join(l.printJSON(report), quietly(code))
			}
			l.showStats(report)
			return quietly(code)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the numbers as JSON")
	cmd.Flags().StringVar(&by, "by", by, "repo, model or day")
	completeFlag(cmd, "by", []string{"repo", "model", "day"})
	cmd.Flags().StringVar(&since, "since", "", "leave out what is older: 24h, 7d, or a day (UTC) such as 2026-11-27")
	return cmd
}

// sinceTime reads a span before now, or a day.
func sinceTime(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if day, err := time.Parse(time.DateOnly, s); err == nil {
		return day, nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 100_000 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, usageError{fmt.Errorf("--since %q is neither a span such as 7d or 24h nor a day such as 2026-11-27", s)}
}

func (l *looker) stats(by string, from time.Time) (*statsReport, int) {
	sums, code := map[string]*statsLine{}, 0
	for _, entry := range l.entries() {
		c := &counter{by: by, from: from, sums: sums, early: &statsLine{}}
		g := l.glance(entry.UUID, c.count)
		c.close()
		if g.err != nil {
			fmt.Fprintln(l.err, "agent: "+sanitize.Terminal(g.err.Error()))
			code = worse(code, exitCode(g.err))
		}
	}
	r := &statsReport{By: by, Since: from, Rows: []statsLine{}, Total: statsLine{Key: "total"}}
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		if *sums[key] != (statsLine{Key: key}) { // not all of it is older
			r.Rows = append(r.Rows, *sums[key])
			r.Total.add(sums[key])
		}
	}
	return r, code
}

// counter adds the events of one log to the lines they belong to.
type counter struct {
	by    string
	from  time.Time
	sums  map[string]*statsLine
	early *statsLine        // before it is known where it belongs
	usage projections.Usage // so far
}

func (c *counter) count(ev event.Event, s *projections.State) {
	line := c.line(ev, s)
	now, before := s.Usage, c.usage
	c.usage = now
	if ev.Time.Before(c.from) {
		return
	}
	line.add(&statsLine{Calls: now.LLMCalls - before.LLMCalls, Tools: now.ToolCalls - before.ToolCalls, Prompt: now.Prompt - before.Prompt,
		Completion: now.Completion - before.Completion, CostUSD: now.CostUSD - before.CostUSD, Active: (now.Active - before.Active).Seconds()})
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

// line is where an event is counted. What comes before the model is known
// belongs to the first model.
func (c *counter) line(ev event.Event, s *projections.State) *statsLine {
	key := ""
	switch {
	case c.by == "day":
		key = contexts.Day(ev.Time)
	case c.by == "repo" && s.Created != nil:
		key = s.Key.Host + "/" + s.Key.Project
	case c.by == "model" && s.Config != nil:
		key = s.Config.Model
	}
	if key == "" {
		return c.early
	}
	line := c.at(key)
	line.add(c.early)
	c.early = &statsLine{}
	return line
}

func (c *counter) at(key string) *statsLine {
	if c.sums[key] == nil {
		c.sums[key] = &statsLine{Key: key}
	}
	return c.sums[key]
}

// close counts what never found its place.
func (c *counter) close() {
	if *c.early != (statsLine{}) {
		c.at("-").add(c.early)
	}
}

func (l *statsLine) add(m *statsLine) {
	l.Runs += m.Runs
	l.Completed += m.Completed
	l.Stopped += m.Stopped
	l.Failed += m.Failed
	l.Calls += m.Calls
	l.Tools += m.Tools
	l.Prompt += m.Prompt
	l.Completion += m.Completion
	l.CostUSD += m.CostUSD
	l.Active += m.Active
}

const barWidth = 20

func (l *looker) showStats(r *statsReport) {
	var t table
	t.row(l.text(i18n.ID("stats.by."+r.By)), l.text("stats.runs"), l.text("stats.completed"), l.text("stats.stopped"), l.text("stats.failed"),
		l.text("stats.calls"), l.text("stats.tools"), l.text("stats.tokens"), "USD", l.text("stats.active"), "")
	largest := 0
	for _, s := range r.Rows {
		largest = max(largest, s.Prompt+s.Completion)
	}
	for _, s := range r.Rows {
		t.row(append(s.cells(s.Key), bar(float64(s.Prompt+s.Completion), float64(largest), barWidth))...)
	}
	t.row(append(r.Total.cells(l.text("stats.total")), "")...)
	t.print(l.out)
}

func (l statsLine) cells(name string) []string {
	n := strconv.Itoa
	return []string{name, n(l.Runs), n(l.Completed), n(l.Stopped), n(l.Failed), n(l.Calls), n(l.Tools), n(l.Prompt + l.Completion),
		fmt.Sprintf("%.2f", l.CostUSD), age(time.Duration(l.Active * float64(time.Second)))}
}
