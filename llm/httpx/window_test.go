package httpx

import "testing"

func TestWindowNamed(t *testing.T) {
	for message, want := range map[string]int{
		"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.": 8192,
		"prompt is too long: 208310 tokens > 200000 maximum":                                                  200000,
		"The input token count (1,100,000) exceeds the maximum number of tokens allowed (1,048,576).":         1048576,
		"the request exceeds the available context size (4096 tokens), try increasing it":                     4096,
		"Limit 6000, Requested 8000, please reduce your message size":                                         6000,
		"Input is too long for requested model.":                                                              0,
		"error 400: prompt too long":                                                                          0,
		"gpt-4-1106-preview takes 128000 tokens, n_ctx=130000":                                                128000,
		"": 0,
	} {
		if got := windowNamed(message); got != want {
			t.Errorf("%q: %d, want %d", message, got, want)
		}
	}
}
