package redact

import "testing"

// A file is kept out of the store for a configured value, however it is spelled, and not
// for what only looks like a token: fixtures of tests do.
func TestHolds(t *testing.T) {
	r := New([]string{"s3cr3t-Value-0815-long"})
	for text, want := range map[string]bool{
		"x=s3cr3t-Value-0815-long\n": true, "czNjcjN0LVZhbHVlLTA4MTUtbG9uZw==": true, "s 3 c r 3 t - V a l u e - 0 8 1 5 - l o n g": true,
		"s3cr3t-Value-0815": true, "token=ghp_0123456789abcdefghijABCDEFGHIJ012345": false, "nothing": false, "": false, "s": false,
	} {
		if got := r.Holds(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if (*Redactor)(nil).Holds("anything") {
		t.Error("nothing is configured")
	}
}
