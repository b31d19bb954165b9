package rest

import (
	"testing"

	"agent/forge"
)

func TestLabelsEnsure(t *testing.T) {
	fails := func(k forge.ErrorKind) error { return &forge.Error{Kind: k, Op: "test"} }
	for _, c := range []struct {
		name         string
		get, create  error
		want         error
		asks, writes int // in two calls
	}{
		{"it is there", nil, nil, nil, 1, 0},
		{"created", fails(forge.NotFound), nil, nil, 1, 1},
		{"may not be created", fails(forge.NotFound), fails(forge.Forbidden), nil, 2, 2},
		{"cannot be a label", fails(forge.NotFound), fails(forge.Invalid), nil, 2, 2},
		{"may not be read", fails(forge.Forbidden), nil, nil, 2, 0},
		{"no answer to the question", fails(forge.Transient), nil, fails(forge.Transient), 2, 0},
		{"no answer to the write", fails(forge.NotFound), fails(forge.Ambiguous), fails(forge.Ambiguous), 2, 2},
	} {
		var labels Labels
		asks, writes := 0, 0
		get := func() error { asks++; return c.get }
		create := func() error { writes++; return c.create }
		for range 2 {
			if err := labels.Ensure("a", get, create); Kind(err) != Kind(c.want) || (err == nil) != (c.want == nil) {
				t.Errorf("%s: %v, want %v", c.name, err, c.want)
			}
		}
		if asks != c.asks || writes != c.writes {
			t.Errorf("%s: asked %d times and wrote %d times, want %d and %d", c.name, asks, writes, c.asks, c.writes)
		}
	}
}
