package llm

import (
	"strings"
	"testing"
)

// TestCanonical: recorded hashes stay those of requests that ask for no schema.
func TestCanonical(t *testing.T) {
	r := Request{Model: "m", ContextLength: 1, Messages: []Message{{Role: User, Content: "<a>"}}, JSON: true}
	plain := `{"model":"m","context_length":1,"messages":[{"role":"user","content":"<a>"}],"json":true}`
	if got := string(r.Canonical()); got != plain {
		t.Errorf("%s", got)
	}
	r.Schema = []byte(`{ "type": "object" }`)
	if got := string(r.Canonical()); got != strings.TrimSuffix(plain, "}")+`,"schema":{"type":"object"}}` {
		t.Errorf("%s", got)
	}
}
