package jetstream

import "testing"

// Names of the port must stay apart as subjects, and come back.
func TestNames(t *testing.T) {
	seen := map[string]string{}
	for _, s := range []string{"a", "a.b", "a/b", "a/.b", "a./b", "a/b.", "a..b", "A", "a_b", "a-b", ".", "..", "sessions/X0.9_-"} {
		subject, err := tokens(s)
		if err != nil || name(subject) != s || seen[subject] != "" {
			t.Errorf("%q: %q, %v; also of %q", s, subject, err, seen[subject])
		}
		seen[subject] = s
	}
	for _, s := range []string{"", "/", "a/", "/a", "a//b", "a b", "a*", "a>", "a=b", "a\n", "é", "a\x00"} {
		if subject, err := tokens(s); err == nil {
			t.Errorf("%q: %q", s, subject)
		}
	}
	for prefix, want := range map[string]string{"a/": "a.>", "a": "a", "a.b/c/": "a=b.c.>"} {
		if got, err := filter(prefix); err != nil || got != want {
			t.Errorf("%q: %q, %v", prefix, got, err)
		}
	}
	for _, uuid := range []string{"a/b", "a.b", "", "a*"} {
		if contextName(uuid) == nil {
			t.Errorf("%q is the name of a context", uuid)
		}
	}
}

func TestOptions(t *testing.T) {
	for what, o := range map[string]Options{
		"no address":           {Name: "x"},
		"a name of a subject":  {Name: "x.y", URLs: []string{"nats://h"}},
		"no name":              {URLs: []string{"nats://h"}},
		"two identities":       {Name: "x", URLs: []string{"nats://h"}, CredsFile: "a", NKeyFile: "b"},
		"a key alone":          {Name: "x", URLs: []string{"nats://h"}, KeyFile: "a"},
		"an address of no URL": {Name: "x", URLs: []string{"nats://\x00"}},
	} {
		if o.complete() == nil {
			t.Error(what, "is accepted")
		}
	}
	o := Options{Name: "x", URLs: []string{"nats://h"}}
	if err := o.complete(); err != nil || o.Replicas != 1 || o.AckWait == 0 || o.Timeout == 0 || o.Log == nil {
		t.Errorf("%+v, %v", o, err)
	}
}
