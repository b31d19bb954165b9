package llm_test

import (
	"context"
	"fmt"

	"agent/llm"
	"agent/llm/llmtest"
	"agent/llm/openai"
)

// A call knows nothing of earlier ones: the history is in the log.
func ExampleProvider() {
	server := llmtest.New(llmtest.Sequence(llmtest.Text("It is in sum.go.")))
	defer server.Close()
	var model llm.Provider
	model, err := openai.New(openai.Config{BaseURL: server.URL(), APIKey: "test"})
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := model.Complete(context.Background(), llm.Request{
		Model:    llmtest.Model,
		Messages: []llm.Message{{Role: llm.User, Content: "Where is the fault?"}},
	})
	fmt.Println(reply.Text, reply.FinishReason, err)
	// Output: It is in sum.go. stop <nil>
}
