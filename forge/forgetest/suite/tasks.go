package suite

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent/forge"
	"agent/forge/forgetest"
)

func me(t *testing.T, w *world) {
	for range 3 {
		got, err := w.Me(background())
		if err != nil || got.Login != Login || got.ID == "" || !got.Bot {
			t.Errorf("me: %+v, %v", got, err)
		}
	}
	if n := len(w.Server.Requests()); n != 1 {
		t.Errorf("%d requests: the answer is not cached", n)
	}
}

func task(t *testing.T, w *world) {
	got, err := w.Task(background(), w.Key)
	if err != nil {
		t.Fatal(err)
	}
	if got.Author.ID == "" || got.UpdatedAt.IsZero() || got.UpdatedAt.Location() != time.UTC {
		t.Errorf("author or time are missing: %+v", got)
	}
	want := forge.Task{
		Key: w.Key, Title: "Title", Body: "Body", Author: forge.Account{ID: got.Author.ID, Login: "ann"}, State: "open",
		Labels: []string{"todo"}, URL: "http://" + w.Key.String(), Branch: got.Branch, UpdatedAt: got.UpdatedAt,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	w.Close(w.Key)
	if got, err := w.Task(background(), w.Key); err != nil || got.State != "closed" {
		t.Errorf("closed: %+v, %v", got, err)
	}
	bare := w.NewTask("No words", "", "")
	if got, err := w.Task(background(), bare); err != nil || got.Body != "" || got.Author.Login != "ghost" || len(got.Labels) != 0 {
		t.Errorf("of nobody, without a body: %+v, %v", got, err)
	}
}

func taskGone(t *testing.T, w *world) {
	for name, test := range map[string]struct {
		change     func(*forge.TaskKey)
		read, want forge.ErrorKind
	}{
		"number":  {func(k *forge.TaskKey) { k.Number = 999 }, forge.NotFound, forge.NotFound},
		"project": {func(k *forge.TaskKey) { k.Project = "o/other" }, forge.Hidden, forge.NotFound},
		"host":    {func(k *forge.TaskKey) { k.Host = "elsewhere.example" }, forge.Invalid, forge.Invalid},
		"path":    {func(k *forge.TaskKey) { k.Project = "o/.." }, forge.Invalid, forge.Invalid},
		"kind":    {func(k *forge.TaskKey) { k.Kind = "" }, forge.Invalid, forge.Invalid},
	} {
		key := w.Key
		test.change(&key)
		_, err := w.Task(background(), key)
		wantKind(t, name+": task", err, test.read)
		_, err = w.PostComment(background(), key, "x")
		wantKind(t, name+": post", err, test.want)
		_, err = w.ChangeLabels(background(), key, nil, []string{"todo"})
		wantKind(t, name+": labels", err, test.want)
	}
}

// taskUnseen has the answers 404 that do not mean that an item is gone: a token
// lost a permission, or the forge is in trouble.
func taskUnseen(t *testing.T, w *world) {
	const item = `.*/(issues|merge_requests|pulls)/\d+`
	notFound := func(path string, status int) forgetest.Fault {
		return forgetest.Fault{Path: path, Times: -1, Kind: forgetest.Answer, Status: status, Body: `{"message":"404 Not Found"}`}
	}
	for name, test := range map[string]struct {
		faults []forgetest.Fault
		want   forge.ErrorKind
	}{
		"everything is hidden":        {[]forgetest.Fault{notFound(".*", 404)}, forge.Hidden},
		"lists show the item":         {[]forgetest.Fault{notFound(item, 404)}, forge.Hidden},
		"lists are forbidden":         {[]forgetest.Fault{notFound(item, 404), notFound(".*/(issues|merge_requests)", 403)}, forge.Hidden},
		"lists are gone":              {[]forgetest.Fault{notFound(item, 410), notFound(".*/(issues|merge_requests)", 410)}, forge.Hidden},
		"the project does not answer": {[]forgetest.Fault{notFound(item, 404), notFound(".*", 503)}, forge.Transient},
		"lists do not answer":         {[]forgetest.Fault{notFound(item, 404), notFound(".*/(issues|merge_requests)", 502)}, forge.Transient},
		"the token is refused now":    {[]forgetest.Fault{notFound(item, 404), notFound(".*/(issues|merge_requests)", 401)}, forge.Auth},
	} {
		for _, f := range test.faults {
			w.Server.Fault(f)
		}
		_, err := w.Task(background(), w.Key)
		wantKind(t, name, err, test.want)
		w.Server.ClearFaults()
	}
	if _, err := w.Task(background(), w.Key); err != nil {
		t.Errorf("the item is seen again: %v", err)
	}
}

func listTasks(t *testing.T, w *world) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w.Server.SetClock(func() time.Time { return at })
	want := []forge.TaskKey{}
	for i := range 130 {
		at = at.Add(time.Minute)
		k := w.NewTask(fmt.Sprint(i), "Body", "ann", "mine", "other")
		if i%13 == 0 {
			w.Close(k)
			continue
		}
		want = append(want, k)
		w.NewTask("not labelled", "", "ann", "others")
	}
	got, err := w.ListTasks(background(), "mine")
	if err != nil {
		t.Fatal(err)
	}
	keys := []forge.TaskKey{}
	for _, task := range got {
		keys = append(keys, task.Key)
		if task.State != "open" || task.Author.Login != "ann" || len(task.Labels) != 2 {
			t.Errorf("task %+v", task)
		}
	}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Error(diff)
	}
	for _, label := range []string{"nothing", "mine,other", "min", "none", "any"} {
		if got, err := w.ListTasks(background(), label); err != nil || len(got) != 0 {
			t.Errorf("label %q: %d tasks, %v", label, len(got), err)
		}
	}
}

func repository(t *testing.T, w *world) {
	got, err := w.Repository(background(), w.Key)
	want := forge.Repository{CloneURL: "http://" + w.Key.Host + "/" + w.Project + ".git", DefaultBranch: "main"}
	if err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}

// wantKind checks the kind of an error and that it is one line without the token.
func wantKind(t *testing.T, what string, err error, want forge.ErrorKind) {
	t.Helper()
	var e *forge.Error
	if !errors.As(err, &e) || e.Kind != want || e.Message == "" || e.Op == "" {
		t.Errorf("%s: error %v (%+v), want %s", what, err, e, want)
		return
	}
	clean(t, err)
}
