package main

import (
	"context"
	"flag"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain runs the tests, or, when the test binary is started under the name
// "agent", the program itself: the tests start it as a process of its own, and
// it starts its tool servers from the same file.
func TestMain(m *testing.M) {
	if flag := flag.Lookup("test.parallel"); flag != nil {
		_ = flag.Value.Set("6") // the tests mostly wait: for processes, disks and back-offs
	}
	for _, v := range []string{"TZ=UTC", "LANG=C.UTF-8", "LC_ALL=", "LC_MESSAGES="} { // of commands that run in this process
		name, value, _ := strings.Cut(v, "=")
		_ = os.Setenv(name, value)
	}
	testscript.Main(m, map[string]func(){"agent": main, "huge": hugeServer})
}

// hugeServer is a tool server whose only tool answers with 10 MB. It does not
// end when it should, but takes a minute.
func hugeServer() {
	s := server.NewMCPServer("huge", "1")
	s.AddTool(mcp.NewTool("huge"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(hugeText()), nil
	})
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
	_ = server.NewStdioServer(s).Listen(context.Background(), os.Stdin, os.Stdout)
	time.Sleep(time.Minute)
}

func hugeText() string { return "begin" + strings.Repeat("0123456789", 1<<20) + "end" }
