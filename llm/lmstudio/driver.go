package lmstudio

import (
	"net/url"
	"strings"

	"agent/llm"
)

// Driver registers LM Studio.
var Driver = llm.Driver{
	Name: "lmstudio", Title: "LM Studio",
	URLKey: "base_url", URL: "http://127.0.0.1:1234/v1", ContextLength: 32_768,
	FixURL: withPath, Path: "/models",
	Hints: llm.Hints{Unreachable: "doctor.todo.model.lmstudio", Absent: "doctor.todo.absent.lmstudio"},
	New: func(o llm.Options) (llm.Provider, error) {
		return New(Config{BaseURL: o.URL, APIKey: o.APIKey, Model: o.Model, Timeout: o.Timeout, AllowHTTP: o.AllowHTTP})
	},
}

// withPath adds /v1 to a bare address: the API has no other root, and people leave it out.
func withPath(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return address
	}
	return strings.TrimSuffix(address, "/") + "/v1"
}
