package suite

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent/forge"
)

var (
	working = forge.Label{Name: "coding agent: processing ⚙", Color: "fbca04", Description: "The agent works on it"}
	done    = forge.Label{Name: "coding agent/done?", Color: "0e8a16"}
)

func (w *world) change(t *testing.T, add []forge.Label, remove ...string) []string {
	t.Helper()
	got, err := w.ChangeLabels(background(), w.Key, add, remove)
	if err != nil {
		t.Fatal(err)
	}
	return sorted(got)
}

func sorted(names []string) []string { return slices.Sorted(slices.Values(names)) }

func labels(t *testing.T, w *world) {
	got := w.change(t, []forge.Label{working, working}, "todo", "never there")
	if diff := cmp.Diff([]string{working.Name}, got); diff != "" {
		t.Error(diff)
	}
	got = w.change(t, []forge.Label{done}, working.Name)
	if diff := cmp.Diff([]string{done.Name}, got); diff != "" {
		t.Error(diff)
	}
	if got := w.change(t, nil, done.Name); len(got) != 0 || len(w.Labels()) != 0 {
		t.Errorf("left: %q", got)
	}
}

func labelsMade(t *testing.T, w *world) {
	w.change(t, []forge.Label{working})
	if colour, description := w.LabelMade(working.Name); colour != working.Color || description != working.Description {
		t.Errorf("the label was made with %q, %q", colour, description)
	}
}

// labelSetter names the person who put a label there.
func labelSetter(t *testing.T, w *world) {
	if by, err := w.LabelledBy(background(), w.Key, "todo"); err != nil || by.By.Login != "ann" {
		t.Errorf("%+v, %v", by, err)
	}
}

// labelledBy says when a label was put there the last time, whatever came later, and
// by the agent if it was.
func labelledBy(t *testing.T, w *world) {
	for i := range 120 { // more than a page of them
		w.Label(fmt.Sprint("label ", i))
	}
	for label, want := range map[string]string{"todo": "", "never there": "", "label 3": "", working.Name: Login} {
		if want == Login {
			w.change(t, []forge.Label{working}, "todo")
		}
		by, err := w.LabelledBy(background(), w.Key, label)
		there := by.Event > 0 && !by.At.IsZero() && by.Latest >= by.Event
		if err != nil || want != "" && by.By.Login != want || there != (label != "never there") {
			t.Errorf("%s: %+v, %v; want %s", label, by, err, want)
		}
	}
	before, _ := w.LabelledBy(background(), w.Key, "todo")
	w.Unlabel("label 3")
	between, err := w.LabelledBy(background(), w.Key, "todo")
	w.Label("todo")
	after, _ := w.LabelledBy(background(), w.Key, "todo")
	if err != nil || between.Event != before.Event || between.Latest <= before.Latest || after.Event <= between.Latest {
		t.Errorf("events %+v, %+v after another label went, %+v after this one came again; %v", before, between, after, err)
	}
}

// lastEdit names who edited the text last, and when. Labels and comments are no edits.
func lastEdit(t *testing.T, w *world) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for i, do := range []struct {
		by   string // who the latest edit is by then
		last int    // and which step it was
		do   func()
	}{
		{"", 0, func() { w.Comment("ann", "changed the description"); w.Label("urgent") }},
		{"eve", 1, func() { w.Rewrite("eve", "Title", "Another body") }},
		{"eve", 1, func() { w.Comment("bob", "changed title from **a** to **b**"); w.Unlabel("urgent") }},
		{"bob", 3, func() { w.Rewrite("bob", "Another title", "Another body") }},
		{"eve", 4, func() { w.Rewrite("eve", "Another title", "Body") }},
	} {
		w.SetClock(func() time.Time { return at.Add(time.Duration(i) * time.Hour) })
		do.do()
		got, err := w.LastEdit(background(), w.Key)
		want := time.Time{}
		if do.by != "" {
			want = at.Add(time.Duration(do.last) * time.Hour)
		}
		if err != nil || !got.Known || got.By.Login != do.by || !got.At.Equal(want) {
			t.Errorf("step %d: %+v, %v; want %s at %v", i, got, err, do.by, want)
		}
	}
}

// labelsOfAPerson are changed between the agent's read and its write.
func labelsOfAPerson(t *testing.T, w *world) {
	w.Label("kept")
	w.Label("taken off")
	acted := false
	w.on(func(r *http.Request) {
		if r.Method != http.MethodGet && !acted {
			acted = true
			w.Label("urgent")
			w.Unlabel("taken off")
			w.Unlabel("todo") // what the agent is about to remove, too
		}
	})
	got := w.change(t, []forge.Label{working}, "todo")
	want := []string{working.Name, "kept", "urgent"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, sorted(w.Labels())); diff != "" {
		t.Error(diff)
	}
	if !acted {
		t.Error("nothing was written")
	}
}

// labelsSettled: what is as wished already is no write.
func labelsSettled(t *testing.T, w *world) {
	todo := forge.Label{Name: "todo", Color: "ffffff"}
	for _, test := range []struct {
		add    []forge.Label
		remove []string
	}{{nil, nil}, {[]forge.Label{todo}, nil}, {nil, []string{"absent"}}, {[]forge.Label{todo}, []string{"absent"}}} {
		if got := w.change(t, test.add, test.remove...); !slices.Equal(got, []string{"todo"}) {
			t.Errorf("%v: %q", test, got)
		}
	}
	w.wantWrites(t, 0)
}

// labelRace: a person creates the label while the agent is about to.
func labelRace(t *testing.T, w *world) {
	acted := false
	w.on(func(r *http.Request) {
		if r.Method == http.MethodPost && !acted {
			acted = true
			w.Label(working.Name)
		}
	})
	if got := w.change(t, []forge.Label{working}); !slices.Contains(got, working.Name) || !acted {
		t.Errorf("labels %q, raced: %v", got, acted)
	}
}
