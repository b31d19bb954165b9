package engine

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"agent/eventlog/event"
	"agent/handlers"
	"agent/internal/lease"
	"agent/mcp"
	"agent/projections"
)

func (e *Engine) session() Tools {
	if e.tools == nil {
		e.tools = e.p.Tools(e.state)
	}
	return e.tools
}

// ServerError is a tool server without which nothing is worked on, and which
// offers nothing. The task is not to blame.
type ServerError struct {
	Server, Reason string
	Temporary      bool // the same may work later
}

func (s *ServerError) Error() string { return "the tool server " + s.Server + ": " + s.Reason }

// imagePatience is how long an image may be missing before people are asked: a registry that is down for a
// moment is nobody's business.
const imagePatience = 10 * time.Minute

// errRecorded says that why something cannot be done is in the log by now, so that Next decides.
var errRecorded = errors.New("recorded")

// lacksImage records once that the image cannot be had, and once that this lasts.
func (e *Engine) lacksImage(message string) error {
	b := imageMissing(e.state.Image, e.p.Now(), message)
	if b != nil {
		if err := e.input(b); err != nil {
			return err
		}
	}
	if b != nil && b.Lasting {
		return errRecorded
	}
	return &Temporary{errors.New(message)}
}

// imageMissing is what is to be recorded of an image that cannot be had; nil if that is known already.
func imageMissing(known *projections.MissingImage, now time.Time, message string) *event.ImageMissing {
	switch {
	case known == nil:
		return &event.ImageMissing{Message: message}
	case now.Sub(known.Since) >= imagePatience:
		return &event.ImageMissing{Message: message, Lasting: true}
	}
	return nil
}

// listTools errors are *ServerError, those of lacksImage where only this context lacks something, or those of ctx.
func (e *Engine) listTools(ctx context.Context) (*event.ToolsListed, error) {
	listed := &event.ToolsListed{Servers: []event.Server{}}
	room := maxTools
	for _, s := range e.session().List(ctx) {
		if s.Required && s.Err != "" && ctx.Err() == nil {
			err := &ServerError{s.Name, clean(s.Err), s.Temporary}
			if s.Local {
				return nil, e.lacksImage(err.Error()) // others go on: it is no fault of the machine
			}
			return nil, err
		}
		server := event.Server{Name: s.Name, Prompt: clean(s.Prompt), Error: clean(s.Err), Tools: []event.Tool{}}
		for _, t := range s.Tools {
			if room -= len(t.Description) + len(t.Schema); room < 0 {
				server.Error = "it offers more than a request can hold; name the tools that are needed in its allow list"
				break
			}
			server.Tools = append(server.Tools, event.Tool{Name: t.Name, Description: clean(t.Description),
				Schema: t.Schema, ReadOnly: t.ReadOnly, Idempotent: t.Idempotent})
		}
		if server.Error != "" {
			e.p.Log.Warn("a tool server cannot be used as configured", "server", server.Name, "error", server.Error)
		}
		listed.Servers = append(listed.Servers, server)
	}
	return listed, ctx.Err()
}

// maxTools is how many bytes of descriptions and schemas are offered in all.
const maxTools = 192 << 10

func sameTools(a, b *event.ToolsListed) bool {
	if b == nil {
		return false
	}
	one, errA := event.Encode(a, false)
	two, errB := event.Encode(b, false)
	return errA == nil && errB == nil && bytes.Equal(one, two)
}

const maybe = "the process ended before the result was recorded."

// callTool performs one call. After a crash only calls that may be repeated are.
func (e *Engine) callTool(ctx context.Context, seq uint64, c *event.ToolRequested, again bool) (event.Body, error) {
	if kind, message := handlers.Refuse(e.state, c); kind != "" {
		return &event.ToolFailed{Kind: kind, Message: message}, nil
	}
	if again && !c.Again {
		return &event.ToolInterrupted{Reason: maybe}, nil
	}
	if f := e.state.Saved; f.Changed != nil || f.Lost != nil {
		return &event.ToolInterrupted{Reason: "the files are not what they were; a person is asked first."}, nil
	}
	args, ok := e.arguments(c)
	if !ok {
		return &event.ToolInterrupted{Reason: "its arguments held a secret that the log does not keep."}, nil
	}
	if err := e.p.Workspace.BeforeCall(ctx, e.state, c); err != nil && ctx.Err() == nil {
		e.p.Log.Warn("the working copy's history could not be fetched", "error", err)
	}
	if err := lease.Check(ctx); err != nil {
		return nil, err
	}
	start := time.Now()
	result, err := e.session().Call(ctx, c.Server, c.Tool, []byte(args))
	var failed *mcp.Error
	if c.Again && errors.As(err, &failed) && failed.Kind == mcp.Died {
		result, err = e.session().Call(ctx, c.Server, c.Tool, []byte(args))
	}
	return e.save(ctx, seq, c, toolOutcome(ctx, c, result, err, time.Since(start).Milliseconds()))
}

func toolOutcome(ctx context.Context, c *event.ToolRequested, r mcp.Result, err error, ms int64) event.Body {
	if err == nil {
		return &event.ToolReplied{Content: event.T(clean(r.Text)), IsError: r.IsError, DurationMS: ms, Sources: r.Sources, Trust: r.Trust}
	}
	var failed *mcp.Error
	if !errors.As(err, &failed) || ctx.Err() != nil {
		return &event.ToolInterrupted{Reason: "the agent was told to end."}
	}
	uncertain := failed.Kind == mcp.TimedOut || failed.Kind == mcp.Died
	if uncertain && !c.Again {
		return &event.ToolInterrupted{Reason: clean(failed.Message) + "."}
	}
	return &event.ToolFailed{Kind: string(failed.Kind), Message: clean(failed.Message), DurationMS: ms}
}

// arguments gives the arguments as the model sent them. The log and the
// conversation hold the redacted form only.
func (e *Engine) arguments(c *event.ToolRequested) (string, bool) {
	if !e.state.Work.Redacted || e.state.Work.ReplySeq != c.Reply {
		return c.Args.Inline, true
	}
	if e.unredacted.reply != c.Reply || c.Index >= len(e.unredacted.calls) {
		return c.Args.Inline, !strings.Contains(c.Args.Inline, "[redacted:")
	}
	return e.unredacted.calls[c.Index].Args, true
}
