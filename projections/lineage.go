package projections

import (
	"slices"

	"agent/eventlog/event"
)

// How much the people are trusted whose words are in a context, the least first.
const (
	TrustAnybody = "anybody" // public project, and comments of anybody are input
	TrustAuthor  = "author"  // public project: its author, and people who may write
	TrustMembers = "members" // private project: those who can see it
)

var trustOrder = []string{TrustAnybody, TrustAuthor, TrustMembers}

// lowerTrust is the lower one of two; "" says nothing.
func lowerTrust(a, b string) string {
	if a == "" || b != "" && slices.Index(trustOrder, b) < slices.Index(trustOrder, a) {
		return b
	}
	return a
}

// Lineage is where the words in a context come from: which people's, and those
// of which earlier contexts. What is made from them inherits both.
type Lineage struct {
	Trust   string   // lowest of all sources so far; "" before there is one
	Sources []string // uuids of earlier contexts, sorted

	accept  string
	private bool
}

// Apply folds one more event.
func (l *Lineage) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case *event.ConfigPinned:
		l.accept = b.Comments.Accept
	case *event.TaskFetched:
		l.private = b.Private
		l.Trust = lowerTrust(l.Trust, l.people())
	case *event.TaskChanged:
		l.Trust = lowerTrust(l.Trust, l.people())
	case *event.CommentsFetched:
		if slices.ContainsFunc(b.Comments, func(c event.Comment) bool { return c.Verdict == event.NewComment || c.Verdict == event.EditedComment }) {
			l.Trust = lowerTrust(l.Trust, l.people())
		}
	case *event.ContextInherited:
		l.take(b.Sources, b.Trust)
	case *event.ToolReplied:
		l.take(b.Sources, b.Trust)
	}
}

// people is the trust in those whose words are input now.
func (l *Lineage) people() string {
	switch {
	case l.private:
		return TrustMembers
	case l.accept == "any":
		return TrustAnybody
	}
	return TrustAuthor
}

// take adds what an earlier context left. The slice of sources is made anew:
// events hold the old one.
func (l *Lineage) take(sources []string, trust string) {
	if len(sources) == 0 {
		return
	}
	l.Trust = lowerTrust(l.Trust, trust)
	all := slices.Concat(l.Sources, sources)
	slices.Sort(all)
	l.Sources = slices.Compact(all)
}

// Admits reports whether words of that trust may become input here: anybody's
// only where anybody's comments may.
func (l *Lineage) Admits(trust string) bool {
	return trust != TrustAnybody || l.people() != TrustAuthor
}
