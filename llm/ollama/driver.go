package ollama

import "agent/llm"

// Driver registers Ollama with its native API.
var Driver = llm.Driver{
	Name: "ollama", Title: "Ollama",
	URLKey: "endpoint", URL: "http://127.0.0.1:11434", Model: "qwen3-coder", ContextLength: 32_768,
	HostEnv: "OLLAMA_HOST",
	Path:    "/api/tags",
	Hints:   llm.Hints{Unreachable: "doctor.todo.model.ollama", Absent: "doctor.todo.absent.ollama", NotFound: "doctor.todo.notfound.ollama"},
	New: func(o llm.Options) (llm.Provider, error) {
		return New(Config{BaseURL: o.URL, APIKey: o.APIKey, Model: o.Model, Timeout: o.Timeout, AllowHTTP: o.AllowHTTP})
	},
}
