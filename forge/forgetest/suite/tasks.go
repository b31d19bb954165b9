package suite

import (
	"errors"
	"fmt"
	"strings"
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
}

func meIsCached(t *testing.T, w *world) {
	me(t, w)
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
		Labels: []string{"todo"}, Branch: got.Branch, UpdatedAt: got.UpdatedAt, ID: got.ID, Project: got.Project,
		URL: got.URL, Private: got.Private, NoPush: got.NoPush, // of which the kind of forge decides
	}
	if _, where, _ := strings.Cut(got.URL, "://"); where != w.web() {
		t.Errorf("address %s", got.URL)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	w.Close(w.Key)
	if got, err := w.Task(background(), w.Key); err != nil || got.State != "closed" {
		t.Errorf("closed: %+v, %v", got, err)
	}
	bare := w.NewTask("No words", "", "")
	if got, err := w.Task(background(), bare); err != nil || got.Body != "" || got.Author.Login != w.Nobody || len(got.Labels) != 0 {
		t.Errorf("of nobody, without a body: %+v, %v", got, err)
	}
}

func taskGone(t *testing.T, w *world) {
	w.change(t, nil, "never there") // where the agent never was, nobody can tell what is gone
	for name, test := range map[string]struct {
		change func(*forge.TaskKey)
		want   forge.ErrorKind
	}{
		"number": {func(k *forge.TaskKey) { k.Number = 999 }, forge.NotFound},
		"host":   {func(k *forge.TaskKey) { k.Host = "elsewhere.example" }, forge.Invalid},
		"path":   {func(k *forge.TaskKey) { k.Project = "o/.." }, forge.Invalid},
		"kind":   {func(k *forge.TaskKey) { k.Kind = "" }, forge.Invalid},
	} {
		key := w.Key
		test.change(&key)
		w.wantGone(t, name, key, test.want, test.want)
	}
}

func projectGone(t *testing.T, w *world) {
	key := w.Key
	key.Project = "o/other"
	w.wantGone(t, "project", key, forge.Hidden, forge.NotFound)
}

func (w *world) wantGone(t *testing.T, name string, key forge.TaskKey, read, write forge.ErrorKind) {
	t.Helper()
	_, err := w.Task(background(), key)
	wantKind(t, name+": task", err, read)
	_, err = w.PostComment(background(), key, "x")
	wantKind(t, name+": post", err, write)
	_, err = w.ChangeLabels(background(), key, nil, []string{"todo"})
	wantKind(t, name+": labels", err, write)
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
	w.SetClock(func() time.Time { return at })
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
	want := forge.Repository{CloneURL: w.Clone, DefaultBranch: "main", Private: got.Private, ID: got.ID}
	if t, taskErr := w.Task(background(), w.Key); taskErr != nil || t.Project != got.ID {
		err = errors.Join(taskErr, fmt.Errorf("the project of the task is %q", t.Project))
	}
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
