package suite

import (
	"slices"
	"testing"

	"agent/forge"
	"agent/forge/forgetest"
)

// reactionPath is that of a call about reactions to a comment.
const reactionPath = ".*(reactions|award_emoji)"

func reactions(t *testing.T, w *world) {
	id, other := w.Comment("ann", "/approve"), w.Comment("ann", "more")
	for range 2 { // the answer to the first may have been lost
		if err := w.Client.React(background(), w.Key, id, forge.ThumbsUp); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range []forge.Emoji{forge.Eyes, forge.Confused} {
		if err := w.Client.React(background(), w.Key, other, e); err != nil {
			t.Fatal(err)
		}
	}
	w.Stage.React("ann", id, forge.ThumbsUp)
	w.Stage.React("bob", id, forge.Eyes)
	w.Stage.React("helper[bot]", id, forge.ThumbsUp)
	got, err := w.Reactions(background(), w.Key, id, forge.ThumbsUp)
	if err != nil || len(got) != 3 || got[0].By.Login != Login || got[1].By.Login != "ann" || got[1].By.Bot || got[0].ID == "" || got[0].ID == got[1].ID {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := w.Reactions(background(), w.Key, other, forge.ThumbsUp); err != nil || len(got) != 0 {
		t.Errorf("of another comment: %+v, %v", got, err)
	}
}

// Over several pages nobody is missing.
func reactionsOverPages(t *testing.T, w *world) {
	id := w.Comment("ann", "a plan")
	var want, logins []string
	for n := range 230 {
		login := "user" + string(rune('a'+n/26)) + string(rune('a'+n%26))
		w.Stage.React(login, id, forge.ThumbsUp)
		want = append(want, login)
	}
	got, err := w.Reactions(background(), w.Key, id, forge.ThumbsUp)
	for _, r := range got {
		logins = append(logins, r.By.Login)
	}
	if err != nil || !slices.Equal(logins, want) {
		t.Errorf("%d of %d, %v", len(logins), len(want), err)
	}
}

func reactionsGone(t *testing.T, w *world) {
	gone := w.Comment("ann", "x")
	w.Delete(gone)
	wantKind(t, "deleted", w.Client.React(background(), w.Key, gone, forge.ThumbsUp), forge.NotFound)
	_, err := w.Reactions(background(), w.Key, gone, forge.ThumbsUp)
	wantKind(t, "reading of a deleted one", err, forge.NotFound)
	for _, id := range []string{"", "x", "-1", "0", "1/../2"} {
		wantKind(t, "id "+id, w.Client.React(background(), w.Key, id, forge.ThumbsUp), forge.Invalid)
		_, err := w.Reactions(background(), w.Key, id, forge.ThumbsUp)
		wantKind(t, "reading of id "+id, err, forge.Invalid)
	}
}

// What the forge could not answer is no empty list.
func reactionsFail(t *testing.T, w *world) {
	id := w.Comment("ann", "x")
	w.Server.Fault(forgetest.Fault{Path: reactionPath, Kind: forgetest.Answer, Status: 500, Body: "{}", Times: 2})
	_, err := w.Reactions(background(), w.Key, id, forge.ThumbsUp)
	wantKind(t, "500", err, forge.Transient)
	wantKind(t, "a write and 500", w.Client.React(background(), w.Key, id, forge.ThumbsUp), forge.Ambiguous)
	w.Server.ClearFaults()
	w.Server.Fault(forgetest.Fault{Path: reactionPath, Kind: forgetest.Answer, Status: 200, Body: "null"})
	_, err = w.Reactions(background(), w.Key, id, forge.ThumbsUp)
	wantKind(t, "null", err, forge.Transient)
}
