// Command agent is a self-hosted coding agent whose every step is an event in
// an append-only log. docs/architecture.md shows how the parts fit together.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"agent/internal/cli"
	"agent/internal/sandbox"
)

func main() {
	sandbox.Undumpable() // tokens are in the memory, and what a tool runs is of the same user
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		s := <-signals
		signal.Stop(signals) // a second signal ends the process at once
		cancel(cli.Signalled{Signal: s})
	}()
	os.Exit(execute(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}
