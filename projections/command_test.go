package projections

import "testing"

// TestCommandIsQuoted: a command in a comment is one that can be copied to a shell.
func TestCommandIsQuoted(t *testing.T) {
	for args, want := range map[string]string{
		`{"argv":["go","test","./...","-run=A|B"]}`: `go test ./... '-run=A|B'`,
		`{"argv":["sh","-c","echo 'a' > b"]}`:       `sh -c 'echo '\''a'\'' > b'`,
		`{"argv":["printf","","日本"]}`:               `printf '' '日本'`,
		`{"argv":["rm","-rf","$HOME","a b"]}`:       `rm -rf '$HOME' 'a b'`,
		`{"command":"make | tee log"}`:              `make | tee log`,
		`{"path":"a b"}`:                            `a b`,
		`no object`:                                 ``,
	} {
		if got := command(args); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}
