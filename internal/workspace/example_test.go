package workspace_test

import (
	"context"
	"fmt"
	"os"

	"agent/handlers/engine"
	"agent/internal/workspace"
	"agent/projections"
)

// In place nothing is cloned: the directory is a person's, and its state is only read.
func ExampleCopy() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	var files engine.Workspace = workspace.New(workspace.Config{InPlace: dir})
	copied, err := files.Prepare(context.Background(), &projections.State{})
	fmt.Println(copied.Dir == dir, copied.InPlace, err)
	// Output: true true <nil>
}
