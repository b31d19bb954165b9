package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"

	"agent/mcp"
)

// A session is what one context sees of the servers. This one is started when it is needed.
func ExampleSession() {
	pool := mcp.NewPool([]mcp.ServerConfig{{Name: "notes", Command: []string{"agent", "fake", "normal"}, Allow: []string{"echo"}}}, mcp.Options{})
	defer pool.Close()
	session := pool.Session("")
	ctx := context.Background()
	for _, server := range session.List(ctx) {
		for _, tool := range server.Tools {
			fmt.Println(server.Name, tool.Name)
		}
	}
	result, err := session.Call(ctx, "notes", "echo", json.RawMessage(`{"text":"good morning"}`))
	fmt.Println(result.Text, err)
	// Output:
	// notes echo
	// {"text":"good morning"} <nil>
}
