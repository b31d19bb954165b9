package i18n

import "testing"

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
