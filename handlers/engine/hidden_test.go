package engine_test

import (
	"bytes"
	"strings"
	"testing"

	"agent/llm/llmtest"
	"agent/projections"
)

// quotes are what a request holds that nobody but the server may read, as a server
// would quote it that refuses it.
func quotes(r llmtest.Request) string {
	out := "not taken: " + r.Header.Get("Authorization") + r.Header.Get("x-api-key") + r.Header.Get("api-key")
	for _, canary := range canaries {
		if i := bytes.Index(r.Raw, []byte(canary)); i >= 0 {
			out += " " + string(r.Raw[i:min(i+60, len(r.Raw))])
		}
	}
	return out
}

// A server that refuses a request may quote it. The words of the refusal are told to
// people, what they quote of reasoning, signatures and keys is not.
func TestQuotesAreNotTold(t *testing.T) {
	quoted := 0
	for _, d := range llmtest.Dialects {
		t.Run(d.Name, func(t *testing.T) {
			w := strict(t, d, d.Profile)
			defer w.close()
			w.model.Close()
			refuses := false
			w.model = llmtest.NewStrict(func(n int, r llmtest.Request) llmtest.Reply {
				if refuses = refuses || r.ToolResults() > 1; refuses {
					words := quotes(r)
					quoted += strings.Count(words, "I think of")
					return llmtest.Error(400, "", words)
				}
				return w.playShaped(n, r)
			}, d)
			w.config.Protocol = "tools"
			if err := w.converse1(talk{}); err != nil {
				t.Fatal(err)
			}
			if s := w.state(); s.Status != projections.Paused {
				t.Errorf("it is %s: %s", s.Status, s.LastError)
			}
			told := false
			for _, c := range w.forge.Comments(project, 1) {
				told = told || strings.Contains(c.Body, "Paused")
				for _, canary := range append([]string{modelKey}, canaries...) {
					if strings.Contains(c.Body, canary) {
						t.Errorf("a comment holds %q: %s", canary, c.Body)
					}
				}
			}
			if !told {
				t.Error("nobody was told")
			}
		})
	}
	if quoted == 0 {
		t.Error("no refusal quoted anything")
	}
}
