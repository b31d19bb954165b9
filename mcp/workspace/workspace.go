// Package workspace is the built-in MCP server over one directory: it reads, edits,
// lists and searches files, runs commands, shows changes and commits them.
//
// File tools reach nothing outside of the root: not by "..", not by absolute
// paths, not by symbolic links. They do not write into .git, where a file is
// a program (hooks, filters) that git would run. Commands run with the environment
// of the server and without input, one at a time; all processes that one has started
// are gone when its call returns. A command in the background lives on, below a
// supervisor that ends all of it: when it is stopped, and when the server ends. A
// server that was started in a sandbox (internal/sandbox) puts each command into one
// more of its own.
//
// A tool that fails answers with isError and one clear line; the protocol's
// errors are left to the protocol. All answers are bounded.
package workspace

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"agent/internal/sandbox"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// workspace is the directory all tools work on.
type workspace struct {
	dir   string // absolute, symbolic links resolved
	given string // absolute, as given
	root  *os.Root
	box   *sandbox.Box // of every command; nil for none

	policy  sandbox.Policy // of the sandbox that the server is in; zero for none
	running chan struct{}  // holds one token while a program runs
	jobs    records        // commands whose output can be read, and those in the background
	ending  <-chan struct{}
}

// Serve answers MCP requests, one JSON object a line, until in ends. The end of ctx ends
// the command that runs: a signal to all processes must not lose its output. A process can
// serve one workspace at a time.
func Serve(ctx context.Context, root string, in io.Reader, out io.Writer) error {
	w, err := open(root)
	if err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	defer w.close()
	w.ending = ctx.Done()
	s := server.NewMCPServer("workspace", "1", server.WithRecovery(), server.WithToolCapabilities(false))
	w.addTools(s)
	stdio := server.NewStdioServer(s)
	stdio.SetErrorLogger(log.New(io.Discard, "", 0)) // it repeats what the answers say
	if err := stdio.Listen(context.WithoutCancel(ctx), in, out); err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	return nil
}

func open(root string) (*workspace, error) {
	given, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.EvalSymlinks(given)
	if err != nil {
		return nil, err
	}
	opened, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	w := &workspace{dir: dir, given: given, root: opened, running: make(chan struct{}, 1)}
	sandbox.BecomeReaper()
	if err := w.enclose(); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// enclose makes a box for commands if the server itself runs in a sandbox. It is
// a second one, out of which a command does not reach the server or other commands.
func (w *workspace) enclose() error {
	text := os.Getenv(sandbox.Variable)
	if text == "" {
		return nil
	}
	var err error
	if w.policy, err = sandbox.Parse(text); err != nil {
		return err
	}
	w.policy.LimitSelf()
	w.box, err = w.policy.Box(os.Getenv("PATH"))
	return err
}

func (w *workspace) close() {
	w.jobs.close()
	if w.box != nil {
		w.box.Close()
	}
	_ = w.root.Close() // nothing was written through it
}

// handler runs a tool on its arguments; its error becomes an isError result.
type handler[A any] func(ctx context.Context, args A) (string, error)

// add registers a tool whose arguments are decoded into A.
func add[A any](s *server.MCPServer, name, description, schema string, hints mcp.ToolAnnotation, run handler[A]) {
	tool := mcp.NewToolWithRawSchema(name, description, []byte(schema))
	tool.Annotations = hints
	s.AddTool(tool, func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ctx = withProgress(ctx, request)
		args, err := decode[A](request.Params.RawArguments)
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		text, err := run(ctx, args)
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		return mcp.NewToolResultText(text), nil
	})
}
