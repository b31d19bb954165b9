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
	said := func(class event.CommentClass) event.Body {
		return &event.CommentsFetched{Comments: []event.Comment{{Verdict: class}}}
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

// TestNoCopy: what a plan collects from an earlier go is not copied from the
// answer of the tool, which can be forgotten.
func TestNoCopy(t *testing.T) {
	s := NewState()
	for i, b := range []event.Body{
		&event.ToolRequested{Server: "history", Tool: "read", Need: "n"}, &event.ToolReplied{Content: event.T("words"), Sources: []string{"a"}},
		&event.ToolRequested{Server: "workspace", Tool: "read", Need: "m"}, &event.ToolReplied{Content: event.T("words")},
	} {
		s.Apply(event.Event{Seq: uint64(i + 1), Body: b})
	}
	if n, m := s.Planning.Found["n"], s.Planning.Found["m"]; !n.OK || n.Summary == "words" || m.Summary != "words" {
		t.Errorf("%+v, %+v", n, m)
	}
	if last := s.Conversation.Entries; len(last) != 2 || last[0].Text != "words" {
		t.Errorf("%+v", last)
	}
}
