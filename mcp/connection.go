package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	protocol "github.com/mark3labs/mcp-go/mcp"
)

// protocolVersion is pinned: newer ones begin with a probe on which silent
// servers cost five seconds.
const protocolVersion = "2025-11-25"

// writeGrace is how long a call that has ended may still be stuck in writing
// to the server before the server is killed.
const writeGrace = time.Second

// lateAnswer is how long the built-in server has to answer a cancelled call: it ends the
// command, and says what that had written until then. Others need not answer.
const lateAnswer = 5 * time.Second

// connection is one life of a server.
type connection struct {
	client    *client.Client
	process   *stdio // nil over HTTP
	tools     []Tool
	maxResult int
	since     time.Time
	late      time.Duration
	idle      func()      // closes idle HTTP connections
	lost      atomic.Bool // the HTTP session is gone, the server is not to blame
	called    atomic.Bool
	progress  progress
}

// connect starts a server or opens a session, shakes hands, and lists its tools.
func connect(ctx context.Context, config ServerConfig, o Options) (*connection, error) {
	c := &connection{maxResult: o.MaxResult, since: time.Now()}
	var err error
	if config.URL != "" {
		err = c.dial(config)
	} else {
		err = c.spawn(config, o)
	}
	if err != nil {
		return nil, err
	}
	if err := c.shakeHands(ctx, config, o); err != nil {
		err = c.explain(ctx, err)
		c.abandon()
		return nil, err
	}
	return c, nil
}

func (c *connection) shakeHands(ctx context.Context, config ServerConfig, o Options) error {
	c.client.OnNotification(c.progress.notify)
	// The context of Start is the connection's life, not the handshake's.
	if err := c.client.Start(context.Background()); err != nil {
		return err
	}
	var hello protocol.InitializeRequest
	hello.Params.ProtocolVersion = protocolVersion
	hello.Params.ClientInfo = protocol.Implementation{Name: ownExecutable, Version: o.Version}
	if _, err := c.client.Initialize(ctx, hello); err != nil {
		return err
	}
	if c.client.GetServerCapabilities().Tools == nil {
		return nil
	}
	return c.listTools(ctx, func(note string) { o.Stderr(config.Name, note) })
}

// listTools reads all pages.
func (c *connection) listTools(ctx context.Context, drop func(string)) error {
	var request protocol.ListToolsRequest
	seen := map[string]bool{"": true}
	size := 0
	for range maxPages {
		ctx, answer := withCapture(ctx)
		if _, err := c.client.ListToolsByPage(ctx, request); !answer.answered || answer.refusal != nil {
			return err
		}
		tools, cursor, err := parsePage(answer.result, drop)
		if err != nil {
			return err
		}
		if size += len(answer.result); size > maxList {
			drop(fmt.Sprintf("the list of its tools goes on after %d MiB: the rest is left out", maxList>>20))
			break
		}
		c.tools = append(c.tools, tools...)
		if cursor == "" || seen[cursor] || len(c.tools) > maxTools {
			break
		}
		seen[cursor] = true
		request.Params.Cursor = protocol.Cursor(cursor)
	}
	c.tools = unique(c.tools, drop)
	if len(c.tools) > maxTools {
		drop(fmt.Sprintf("%d tools left out: more than %d", len(c.tools)-maxTools, maxTools))
		c.tools = c.tools[:maxTools]
	}
	return nil
}

// call runs one tool, and waits as long as its server reports progress within the
// timeout. Its errors are *Error, errSessionLost, or the error of ctx.
func (c *connection) call(ctx context.Context, timeout time.Duration, tool string, args json.RawMessage) (Result, error) {
	c.called.Store(true)
	if c.process != nil {
		c.process.stderr.renew()
	}
	limited, token, signs, end := c.progress.begin(ctx, timeout)
	defer end()
	answer, err := c.send(limited, token, tool, args)
	switch {
	case answer.refusal != nil && c.endsSession(answer.refusal):
		return Result{}, errSessionLost
	case answer.refusal != nil:
		return Result{}, refusal(answer.refusal)
	case answer.answered:
		return parseResult(answer.result, c.maxResult), nil
	case ctx.Err() != nil:
		return Result{}, ctx.Err()
	case limited.Err() != nil:
		return Result{}, c.progress.silence(signs, timeout)
	default:
		return Result{}, c.broken(err)
	}
}

// send waits for the answer, but not for a server that does not read its
// input: that one is killed, because the rest of the request is stuck for ever.
func (c *connection) send(ctx context.Context, token int64, tool string, args json.RawMessage) (capture, error) {
	captured, answer := withCapture(ctx)
	var request protocol.CallToolRequest
	request.Params.Name = tool
	request.Params.Arguments = args
	request.Params.Meta = &protocol.Meta{ProgressToken: token}
	done := make(chan error, 1)
	go func() {
		_, err := c.client.CallTool(captured, request)
		done <- err
	}()
	select {
	case err := <-done:
		return *answer, err
	case <-ctx.Done():
	}
	timer := time.NewTimer(c.late + writeGrace)
	defer timer.Stop()
	select {
	case err := <-done:
		return *answer, err
	case <-timer.C:
		c.abandon()
		return capture{}, ctx.Err()
	}
}

func (c *connection) broken(err error) error {
	if c.process == nil {
		return c.httpError(err)
	}
	return &Error{Kind: Died, Message: "the server died in the call: " + c.reason()}
}

// temporaryError is why a server could not be started that may start the next time.
type temporaryError struct{ error }

// explain says why a handshake failed.
func (c *connection) explain(ctx context.Context, err error) error {
	var broken *transport.Error
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return temporaryError{fmt.Errorf("it did not answer within %v", startTimeout)}
	case ctx.Err() != nil:
		return errClosed
	case c.process == nil:
		return errors.New(httpCause(err))
	case errors.As(err, &broken):
		err := errors.New("it ended before it answered: " + c.reason())
		if c.process.wasKilled() {
			return temporaryError{err}
		}
		return err
	default:
		return err
	}
}

func (c *connection) alive() bool {
	return !c.lost.Load() && (c.process == nil || c.process.alive())
}

func (c *connection) reason() string {
	if c.process == nil {
		return "its session ended"
	}
	return c.process.reason()
}

// close ends the server in an orderly way.
func (c *connection) close() {
	if c.process != nil {
		c.process.shutdown()
		c.process.finish()
	}
	c.release()
}

// abandon ends the server at once.
func (c *connection) abandon() {
	if c.process != nil {
		c.process.kill()
		c.process.finish()
	}
	c.release()
}

// release frees what the library holds. Its error is only the exit status.
func (c *connection) release() {
	_ = c.client.Close()
	if c.idle != nil {
		c.idle()
	}
}
