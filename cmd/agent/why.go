package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/forge"
	"agent/internal/app/rounds"
	"agent/internal/config"
	"agent/internal/i18n"
	"agent/internal/sanitize"
	"agent/projections"
)

// whyReport is what `why --json` prints.
type whyReport struct {
	code     int
	TaskKey  string             `json:"task_key"`
	Seen     *contexts.Sighting `json:"seen,omitempty"` // the latest verdict of a round
	Polls    int                `json:"polls,omitempty"`
	Contexts []whyContext       `json:"contexts"` // oldest first
}

// whyContext is what one log says about how things came.
type whyContext struct {
	UUID    string       `json:"uuid"`
	State   string       `json:"state"`
	Begun   time.Time    `json:"begun"`
	Trigger string       `json:"trigger"` // label | command
	User    string       `json:"user"`    // author of the task
	Reason  string       `json:"reason,omitempty"`
	Until   string       `json:"until,omitempty"`   // what ends a pause
	Because string       `json:"because,omitempty"` // the reason in words
	Since   time.Time    `json:"since,omitzero"`    // of the state
	Skipped string       `json:"skipped,omitempty"`
	Limit   *whyLimit    `json:"limit,omitempty"`
	Failure *whyFailure  `json:"last_failure,omitempty"`
	Ignored []whyComment `json:"ignored_comments"`
	Fetch   string       `json:"comments_error,omitempty"` // why the latest fetch failed
	Error   string       `json:"error,omitempty"`          // why the log cannot be read whole
}

type whyLimit struct {
	Limit string  `json:"limit"`
	Max   float64 `json:"max"`
	Used  float64 `json:"used"`
}

type whyFailure struct {
	Seq  uint64    `json:"seq"`
	Time time.Time `json:"time"`
	Type string    `json:"type"`
	Text string    `json:"text"`
	Over bool      `json:"overcome,omitempty"` // the work went on after it
}

// whyComment is a comment that is no input, and why.
type whyComment struct {
	ID      string    `json:"id"`
	Author  string    `json:"author"`
	Created time.Time `json:"created"`
	Verdict string    `json:"verdict"` // own | bot | system | untrusted | older
}

func (a *cli) whyCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "why TASK", Short: "Say why a task was taken, left, paused or ended", Args: cobra.ExactArgs(1),
		Long: `why tells from the logs and from what the rounds saw why a task was picked up, skipped
or ignored, what it waits for, how it ended, what went wrong last, and which comments were
not taken as input. TASK is a URL, or the uuid of a context or the beginning of one.`,
		Example: `  agent why https://github.com/owner/repo/issues/12
  agent why 3f2a --json`,
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := a.look(config.Offline())
			if err != nil {
				return err
			}
			report, err := l.why(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return errors.Join(l.printJSON(report), quietly(report.code))
			}
			return quietly(l.showWhy(report))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return cmd
}

func (l *looker) why(ref string) (*whyReport, error) {
	key, uuids, err := l.resolve(ref)
	if err != nil {
		return nil, err
	}
	r := &whyReport{TaskKey: key, Contexts: []whyContext{}}
	scan, err := l.store.Scan()
	if err != nil {
		return nil, err
	}
	if seen, ok := scan.Of(key); ok {
		r.Seen = &seen
	}
	for _, uuid := range uuids {
		c, err := l.whyOf(uuid)
		r.code = worse(r.code, exitCode(err))
		r.Contexts = append(r.Contexts, c)
		r.Polls += scan.Polls[uuid].Count
	}
	return r, nil
}

// resolve gives the task and its contexts; a uuid means that one context.
func (l *looker) resolve(ref string) (key string, uuids []string, err error) {
	parsed, err := forge.ParseTaskKey(ref, l.hosts...)
	if err != nil {
		uuid, err := l.store.Find(ref)
		if err != nil {
			return "", nil, err
		}
		if first, err := l.store.Creation(uuid); err == nil {
			key = first.TaskKey
		}
		return key, []string{uuid}, nil
	}
	key = parsed.String()
	all, err := l.store.OfTask(key)
	for _, info := range all {
		uuids = append(uuids, info.UUID)
	}
	return key, uuids, err
}

func (l *looker) whyOf(uuid string) (whyContext, error) {
	c := whyContext{UUID: uuid, Ignored: []whyComment{}}
	g := l.glance(uuid, c.see)
	s := g.state
	c.State, c.Begun = string(s.Status), s.Started
	if s.Created != nil {
		c.Trigger, c.User = s.Created.Trigger, s.Created.User
	}
	if reason, until := waitsFor(s); until != "" {
		c.Reason, c.Until = reason, until
	}
	c.Because = rounds.Because(s, l.lang)
	if s.Limit != nil {
		c.Limit = &whyLimit{s.Limit.Limit, s.Limit.Max, s.Limit.Used}
	}
	c.Fetch = s.Comments.Error
	if g.err != nil {
		c.State, c.Error = "damaged", g.err.Error()
	}
	return c, g.err
}

// see notes what an event explains.
func (c *whyContext) see(ev event.Event, s *projections.State) {
	if s.Since == ev.Seq {
		c.Since, c.Reason = ev.Time, ""
	}
	switch b := ev.Body.(type) {
	case *event.ContextCompleted:
		c.Reason = b.Reason
	case *event.ContextStopped:
		c.Reason = b.Reason
	case *event.ContextFailed:
		c.Reason = b.Reason
	case *event.TaskSkipped:
		c.Skipped = b.Reason
	case *event.CommentsFetched:
		for _, comment := range b.Comments {
			if comment.Verdict != "new" && comment.Verdict != "edited" {
				c.Ignored = append(c.Ignored, whyComment{comment.ID, comment.Author, comment.Created, comment.Verdict})
			}
		}
	case *event.LLMFailed, *event.ToolFailed, *event.ToolInterrupted, *event.CommentFailed, *event.LabelsFailed, *event.ChangeFailed:
		c.Failure = &whyFailure{Seq: ev.Seq, Time: ev.Time, Type: b.Type(), Text: projections.Describe(ev)}
	case *event.LLMReplied, *event.ToolReplied, *event.CommentPosted, *event.LabelsChanged, *event.ChangeOpened:
		if c.Failure != nil && family(b.Type()) == family(c.Failure.Type) {
			c.Failure.Over = true
		}
	}
}

// family is what events about the same kind of deed share: "llm", "tool".
func family(eventType string) string {
	name, _, _ := strings.Cut(eventType, ".")
	return name
}

// showWhy gives 1 if there is nothing to tell, and 65 if a log is damaged.
func (l *looker) showWhy(r *whyReport) int {
	fmt.Fprintln(l.out, sanitize.Line(r.TaskKey, 200))
	if r.Seen != nil {
		l.say("why.seen", local(r.Seen.Time), l.text(i18n.OrOther("why.seen.", r.Seen.Outcome)), sanitize.Line(r.Seen.Reason, 300))
	}
	for _, c := range r.Contexts {
		l.showContext(c)
	}
	if r.Polls > 0 {
		l.say("why.polls", r.Polls)
	}
	if r.Seen != nil || len(r.Contexts) > 0 {
		return r.code
	}
	l.say("why.unknown")
	return exitFailed
}

func (l *looker) showContext(c whyContext) {
	l.say("why.context", c.UUID[:8], local(c.Begun), l.text(i18n.OrOther("why.trigger.", c.Trigger)), c.User)
	switch {
	case c.Error != "":
		l.say("why.damaged", sanitize.Line(c.Error, 300))
	case c.Until != "":
		l.say("why.waits", c.State, local(c.Since), sanitize.Line(c.Because, 400))
	case c.Because != "":
		l.say("why.ended", c.State, local(c.Since), sanitize.Line(c.Because, 400))
	default:
		l.say("why.state", c.State, local(c.Since))
	}
	if c.Limit != nil {
		l.say("why.limitreached", c.Limit.Limit, c.Limit.Used, c.Limit.Max)
	}
	if c.Skipped != "" {
		l.say("why.skipped", sanitize.Line(c.Skipped, 300))
	}
	if c.Failure != nil && !c.Failure.Over {
		l.say("why.failure", c.Failure.Seq, local(c.Failure.Time), c.Failure.Type, sanitize.Line(c.Failure.Text, 300))
	}
	if c.Fetch != "" {
		l.say("why.fetch", sanitize.Line(c.Fetch, 300))
	}
	for _, i := range c.Ignored {
		if i.Verdict == "own" {
			continue // nobody asks why the agent does not listen to itself
		}
		l.say("why.ignored", i.ID, sanitize.Line(i.Author, 60), local(i.Created), l.text(i18n.OrOther("why.verdict.", i.Verdict)))
	}
}
