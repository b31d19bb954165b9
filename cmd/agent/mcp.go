package main

import (
	"os"

	"github.com/spf13/cobra"

	"agent/mcp/workspace"
)

func (a *commands) mcpCommand() *cobra.Command {
	group := &cobra.Command{Use: "mcp", Short: "The built-in tool server", Example: "  agent mcp workspace --root ~/src/project"}
	root := ""
	serve := &cobra.Command{
		Use: "workspace --root DIR", Short: "Serve file and command tools for one directory over stdio (MCP)", Args: cobra.NoArgs,
		Example: "  agent mcp workspace --root ~/src/project",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return workspace.Serve(cmd.Context(), root, os.Stdin, os.Stdout)
		},
	}
	serve.Flags().StringVar(&root, "root", "", "the directory that the tools work in")
	_ = serve.MarkFlagRequired("root")
	group.AddCommand(serve)
	return group
}
