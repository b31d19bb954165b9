package forge_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"agent/forge"
	"agent/forge/files"
)

// A directory of Markdown files is the simplest forge.
func ExampleClient() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	task := "---\ntitle: Fix the sum\nlabels: [agent]\nnumber: 1\n---\nIt adds one too much.\n"
	if err := os.WriteFile(filepath.Join(dir, "sum.md"), []byte(task), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	var client forge.Client
	if client, err = files.New(files.Config{Directory: dir, Name: "inbox", BotName: "bot", Operator: "maintainer"}); err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	tasks, err := client.ListTasks(ctx, "agent")
	for _, t := range tasks {
		fmt.Println(t.Key, t.Title)
		_, _ = client.PostComment(ctx, t.Key, "I have begun.")
		comments, _ := client.Comments(ctx, t.Key, time.Time{})
		fmt.Println(comments[0].Author.Login+":", comments[0].Body)
	}
	fmt.Println(err)
	// Output:
	// files/inbox/tasks/1 Fix the sum
	// bot: I have begun.
	// <nil>
}
