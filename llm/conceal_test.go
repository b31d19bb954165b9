package llm

import "testing"

// A refusal may quote a value whole, in part, or cut off. What is no quote stays.
func TestConceal(t *testing.T) {
	r := Request{Messages: []Message{{Role: User, Content: "What the person wrote may be quoted."}, {Role: Assistant, Reasoning: &Opaque{Data: []byte(
		`{"reasoning_content":"First I look at the password, then 日本語で考えます。","calls":{"c1":{"google":{"thought_signature":"c2lnbmVkIGJ5IHRoZSBtb2RlbA=="}}},"type":"short"}`)}}}}
	for words, want := range map[string]string{
		`input "First I look at the password, then 日本語で考えます。"`:  `input "[reasoning]"`,
		`input "…k at the password, then 日…"`:                   `input "…[reasoning]…"`,
		`bad signature c2lnbmVkIGJ5IHRoZSBtb2Rlb`:               `bad signature [reasoning]`,
		`What the person wrote may be quoted. short, I look`:    `What the person wrote may be quoted. short, I look`,
		`messages[3].reasoning_content: Extra inputs: password`: `messages[3].reasoning_content: Extra inputs: password`,
		``: ``,
	} {
		if got := r.Conceal(words); got != want {
			t.Errorf("%q became %q", words, got)
		}
	}
}
