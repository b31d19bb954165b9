package workspace

import (
	"context"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// progressEvery is the time between two notifications that a call goes on. A client
// that waits without end for each of them still waits at most as long as the tool.
var progressEvery = 5 * time.Second

type progressKey struct{}

// withProgress remembers the token under which the client wants to hear of progress.
func withProgress(ctx context.Context, request mcp.CallToolRequest) context.Context {
	if request.Params.Meta == nil || request.Params.Meta.ProgressToken == nil {
		return ctx
	}
	return context.WithValue(ctx, progressKey{}, request.Params.Meta.ProgressToken)
}

// reportProgress tells the client from time to time that the call goes on, and what
// was written last, until stop is called.
func reportProgress(ctx context.Context, latest func() string) (stop func()) {
	token := ctx.Value(progressKey{})
	s := server.ServerFromContext(ctx)
	if token == nil || s == nil {
		return func() {}
	}
	done := make(chan struct{})
	var sender sync.WaitGroup
	sender.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for n := 1; ; n++ {
			select {
			case <-done:
				return
			case <-tick.C:
				_ = s.SendNotificationToClient(ctx, "notifications/progress", map[string]any{"progressToken": token, "progress": n, "message": latest()}) // the next one says the same
			}
		}
	})
	return func() { close(done); sender.Wait() }
}
