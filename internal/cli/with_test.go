package cli

import "testing"

func TestWith(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]Env{
		"":                                      {},
		" --config /tmp/config.yaml":            {ConfigPath: "/tmp/config.yaml"},
		` --config 'it'\''s a $x' --contexts c`: {ConfigPath: "it's a $x", ContextsDir: "c"},
	} {
		if got := e.With(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
