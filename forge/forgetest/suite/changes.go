package suite

import (
	"slices"
	"testing"

	"agent/forge"
	"agent/forge/forgetest"
)

func permission(t *testing.T, w *world) {
	for _, want := range []forge.Permission{forge.None, forge.Read, forge.Write, forge.Admin} {
		w.Permit("bob", want)
		if got, err := w.Permission(background(), w.Key, "bob"); err != nil || got != want {
			t.Errorf("%v, %v, want %v", got, err, want)
		}
	}
	w.Comment("passer-by", "x")
	if got, err := w.Permission(background(), w.Key, "passer-by"); err != nil || got > forge.Read {
		t.Errorf("a stranger: %v, %v", got, err)
	}
	if got, _ := w.Permission(background(), w.Key, "never-seen"); got != forge.None {
		t.Errorf("nobody: %v", got)
	}
}

func permissionOfNobody(t *testing.T, w *world) {
	for _, login := range []string{"", "a/b", "a b", "..", "a\n"} {
		got, err := w.Permission(background(), w.Key, login)
		if wantKind(t, "login "+login, err, forge.Invalid); got != forge.None {
			t.Errorf("login %q: %v", login, got)
		}
	}
}

func permissionFails(t *testing.T, w *world) {
	w.Permit("bob", forge.Write)
	w.Server.Fault(forgetest.Fault{Path: ".*(permission|members).*", Kind: forgetest.Answer, Status: 500, Body: "{}"})
	got, err := w.Permission(background(), w.Key, "bob")
	if wantKind(t, "500", err, forge.Transient); got != forge.None {
		t.Errorf("with an error: %v", got)
	}
}

func reviewers(all []forgetest.Change, number int) []string {
	for _, c := range all {
		if c.Number == number {
			return c.Reviewers
		}
	}
	return nil
}

func change(t *testing.T, w *world) {
	const branch = "agent/fix-1.2"
	if got, err := w.FindChange(background(), w.Key, branch); err != nil || got != nil {
		t.Fatalf("%+v, %v", got, err)
	}
	spec := forge.ChangeSpec{Branch: branch, Base: "main", Title: "Fix it", Body: "Closes it", Draft: true}
	opened, err := w.OpenChange(background(), w.Key, spec)
	if err != nil || opened.Number == 0 || opened.Branch != branch || opened.URL == "" {
		t.Fatalf("%+v, %v", opened, err)
	}
	if got, err := w.FindChange(background(), w.Key, branch); err != nil || got == nil || *got != opened {
		t.Errorf("%+v, %v, want %+v", got, err, opened)
	}
	if got, err := w.FindChange(background(), w.Key, branch+"0"); err != nil || got != nil {
		t.Errorf("of another branch: %+v, %v", got, err)
	}
	_, err = w.OpenChange(background(), w.Key, spec)
	wantKind(t, "twice", err, forge.Invalid)
	spec.Branch = spec.Base
	_, err = w.OpenChange(background(), w.Key, spec)
	wantKind(t, "of the base", err, forge.Invalid)
	w.CloseMade(opened.Number)
	if got, err := w.FindChange(background(), w.Key, branch); err != nil || got != nil {
		t.Errorf("closed: %+v, %v", got, err)
	}
}

func askReview(t *testing.T, w *world) {
	opened, err := w.OpenChange(background(), w.Key, forge.ChangeSpec{Branch: "agent/fix-1.2", Base: "main", Title: "Fix it", Body: "Closes it"})
	if err != nil {
		t.Fatal(err)
	}
	w.Permit("bob", forge.Write)
	for range 2 {
		if err := w.AskReview(background(), w.Key, opened.Number, "bob"); err != nil {
			t.Errorf("ask for a review: %v", err)
		}
	}
	if got := w.Reviewers(opened.Number); !slices.Equal(got, []string{"bob"}) {
		t.Errorf("reviewers: %q", got)
	}
	if err := w.AskReview(background(), w.Key, opened.Number, "nobody-here"); err == nil {
		t.Error("an account that does not exist was asked")
	}
}
