package projections

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent/eventlog/event"
)

func lineage(bodies ...event.Body) *Lineage {
	l := &Lineage{}
	for _, b := range bodies {
		l.Apply(event.Event{Body: b})
	}
	return l
}

// TestLineage: the lowest trust of all sources stays, whatever comes after it.
func TestLineage(t *testing.T) {
	rule := func(accept string) event.Body {
		return &event.ConfigPinned{Comments: event.CommentRule{Accept: accept}}
	}
	said := func(verdict string) event.Body {
		return &event.CommentsFetched{Comments: []event.Comment{{Verdict: verdict}}}
	}
	public, private := &event.TaskFetched{}, &event.TaskFetched{Private: true}
	took := func(trust string, sources ...string) event.Body {
		return &event.ContextInherited{From: sources[0], Sources: sources, Trust: trust}
	}
	for name, c := range map[string]struct {
		l       *Lineage
		trust   string
		sources []string
	}{
		"nothing":                {lineage(rule("auto")), "", nil},
		"private":                {lineage(rule("auto"), private, said("new")), TrustMembers, nil},
		"public":                 {lineage(rule("auto"), public, said("new")), TrustAuthor, nil},
		"anybody":                {lineage(rule("any"), public), TrustAnybody, nil},
		"anybody, for a while":   {lineage(rule("auto"), public, rule("any"), said("edited"), rule("auto"), said("new")), TrustAnybody, nil},
		"anybody, but was quiet": {lineage(rule("auto"), public, rule("any"), said("own"), rule("auto"), said("new")), TrustAuthor, nil},
		"inherited":              {lineage(rule("auto"), private, took(TrustAuthor, "b", "a")), TrustAuthor, []string{"a", "b"}},
		"inherited, twice": {lineage(rule("auto"), private, took(TrustMembers, "b"),
			&event.ToolReplied{Sources: []string{"c"}, Trust: TrustAnybody}), TrustAnybody, []string{"b", "c"}},
		"a higher one raises nothing": {lineage(rule("any"), public, took(TrustMembers, "b")), TrustAnybody, []string{"b"}},
	} {
		if c.l.Trust != c.trust || cmp.Diff(c.sources, c.l.Sources) != "" {
			t.Errorf("%s: %q, %v; want %q, %v", name, c.l.Trust, c.l.Sources, c.trust, c.sources)
		}
	}
	for _, c := range []struct {
		l     *Lineage
		trust string
		want  bool
	}{
		{lineage(rule("auto"), public), TrustAnybody, false},
		{lineage(rule("trusted"), public), TrustAnybody, false},
		{lineage(rule("auto"), public), TrustAuthor, true},
		{lineage(rule("any"), public), TrustAnybody, true},
		{lineage(rule("auto"), private), TrustAnybody, true},
		{lineage(rule("auto"), public), "", true},
	} {
		if c.l.Admits(c.trust) != c.want {
			t.Errorf("%+v admits %q: %v", c.l, c.trust, !c.want)
		}
	}
}
