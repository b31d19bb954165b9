package tui

import (
	"slices"
	"strings"

	"agent/internal/i18n"
	"agent/internal/timeline"
)

// landmark is a kind of rows that a key leads to.
type landmark struct {
	key  string
	kind i18n.ID // for texts
	is   func(*timeline.Row) bool
}

// landmarks are in the order in which their keys are named.
var landmarks = []landmark{
	{"n", "failed", func(r *timeline.Row) bool { return r.Status == timeline.Failed }},
	{"d", "diff", func(r *timeline.Row) bool { return r.Files > 0 }},
	{"c", "message", func(r *timeline.Row) bool {
		return r.Kind == timeline.Message || r.Type == "comments.fetched" && !r.Minor
	}},
	{"w", "pause", func(r *timeline.Row) bool {
		return r.Kind == timeline.Pause || r.Kind == timeline.Await || r.Kind == timeline.Resume
	}},
	{"t", "told", func(r *timeline.Row) bool { return r.Kind == timeline.Model && r.Purpose == "" }},
	{"p", "plan", func(r *timeline.Row) bool { return r.Kind == timeline.Plan }},
}

// jump goes to the next row of the kind of a key, and wraps around at the end; with a capital
// letter, and for the latest plan, backwards. It says which one of how many it is, as far as
// they are shown.
func (m *Model) jump(name string) {
	v, key := m.open, strings.ToLower(name)
	j := landmarks[slices.IndexFunc(landmarks, func(l landmark) bool { return l.key == key })]
	var found []int
	for i, it := range v.items {
		if !it.head() && j.is(&v.tl.Rows[it.row]) {
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		m.say(true, "tui.none."+j.kind)
		return
	}
	at, again := 0, i18n.ID("tui.again.first")
	if name != key || key == "p" {
		at, again = previous(found, v.at)
	} else if next := slices.IndexFunc(found, func(i int) bool { return i > v.at }); next >= 0 {
		at, again = next, ""
	}
	ended := v.follow
	v.at, v.follow = found[at], false
	m.say(false, "tui.at."+j.kind, at+1, len(found))
	if again != "" && key != "p" && !ended { // the latest plan is where p begins, and the end where a context opens
		m.note += " " + m.text(again)
	}
}

// previous is the latest one of some lines before another, or else the last one.
func previous(found []int, at int) (i int, again i18n.ID) {
	i = len(found) - 1
	if found[0] >= at {
		return i, "tui.again.last"
	}
	for found[i] >= at {
		i--
	}
	return i, ""
}
