package i18n

import (
	"strings"
	"testing"
)

func TestFromEnv(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want Lang
	}{
		{nil, En},
		{map[string]string{"LANG": "ja_JP.UTF-8"}, Ja},
		{map[string]string{"LANG": "en_US.UTF-8"}, En},
		{map[string]string{"LANG": "en_US.UTF-8", "LC_ALL": "ja_JP.UTF-8"}, Ja},
		{map[string]string{"LANG": "ja_JP.UTF-8", "LC_MESSAGES": "C"}, En},
	} {
		if got := FromEnv(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%v: %s, want %s", c.env, got, c.want)
		}
	}
}

// A reason begins in lower case, so none follows a full stop.
func TestReasonsFollowNoFullStop(t *testing.T) {
	for id := range reasonTexts {
		if !strings.HasPrefix(string(id), "why.") && !strings.HasPrefix(string(id), "end.") && !strings.HasPrefix(string(id), "stop.") {
			continue
		}
		reason, _, _ := strings.Cut(Text(En, id), " ")
		for _, said := range []string{Text(En, "try.failed", "paused", reason), Text(En, "try.goon", "paused", reason, "3f2a")} {
			if strings.Contains(said, ". "+reason) {
				t.Errorf("%s: %q", id, said)
			}
		}
	}
}
