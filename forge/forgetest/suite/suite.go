// Package suite is the conformance suite of [forge.Client]: what every adapter
// must do alike. [Run] is for adapters that speak HTTP, against the servers of
// forgetest, for each of the four kinds of task there; it also tries what goes wrong
// on the way. [RunLocal] is for adapters without a server.
//
// A [Stage] is a fresh forge with one task and hands for a person who works
// beside the agent. The suite knows no adapter: the caller connects one.
package suite

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"sync"
	"testing"
	"time"

	"agent/forge"
	"agent/forge/forgetest"
)

// Token is the token of the agent's account, whose login is [Login].
const (
	Token = "token-0123456789-abcdefghij"
	Login = "agent-bot"
)

// Stage is a fresh forge with the project [Stage.Project], in which stands an
// open task by ann with title "Title", body "Body" and the label "todo". The
// agent may write. All functions act as a person or look; none is nil, but for those
// of parts that the forge has no counterpart for.
type Stage struct {
	URL     string // the API's base
	Project string
	Key     forge.TaskKey
	Web     string // address of the task, without scheme; "": that of its key
	Clone   string // address of its repository
	Nobody  string // author of what has none

	NewTask   func(title, body, author string, labels ...string) forge.TaskKey // an empty author is a deleted account
	Close     func(forge.TaskKey)
	Comment   func(author, body string) (id string)
	Edit      func(id, body string)
	Delete    func(id string)
	Rewrite   func(login, title, body string) // edits the task
	React     func(login, id string, e forge.Emoji)
	Stored    func() []string // the bodies of all comments, oldest first
	Labels    func() []string
	Label     func(name string)
	Unlabel   func(name string)
	LabelMade func(name string) (colour, description string) // as six hex digits; "" if there is none
	Permit    func(login string, p forge.Permission)
	CloseMade func(number int) // closes a change
	Reviewers func(number int) []string

	SetClock func(func() time.Time)
	Server   interface {
		Fault(forgetest.Fault)
		ClearFaults()
		Requests() []forgetest.Request
	}
}

// Connect makes a client of the adapter under test. The transport must be used
// for all requests, and a request must end after the timeout.
type Connect func(t *testing.T, s *Stage, transport http.RoundTripper, timeout time.Duration) forge.Client

// part is one thing that an adapter must do.
type part func(*testing.T, *world)

// alike are the parts that need no server.
var alike = map[string]part{
	"Me": me, "Task": task, "TaskGone": taskGone, "ProjectGone": projectGone, "ListTasks": listTasks, "Repository": repository,
	"CommentsOverPages": commentsOverPages, "CommentFields": commentFields, "CommentsSince": commentsSince,
	"PostAndEdit": postAndEdit, "EditGone": editGone, "Reactions": reactions, "ReactionsOverPages": reactionsOverPages, "ReactionsGone": reactionsGone,
	"Labels": labels, "LabelsMade": labelsMade, "LabelsSettled": labelsSettled, "LabelledBy": labelledBy, "LabelSetter": labelSetter, "LastEdit": lastEdit,
	"Permission": permission, "PermissionOfNobody": permissionOfNobody, "Change": change, "Reviewers": askReview,
}

// overHTTP are those about requests, and what happens between two of them.
var overHTTP = map[string]part{
	"MeIsCached": meIsCached, "TaskUnseen": taskUnseen, "CommentsShift": commentsShift, "LabelsOfAPerson": labelsOfAPerson, "LabelRace": labelRace,
	"PermissionFails": permissionFails, "Faults": faults, "Cancel": cancel, "ListLag": listLag,
	"ReactionsFail": reactionsFail,
}

// Run runs the whole suite, each part on a stage of its own.
func Run(t *testing.T, stage func(*testing.T) *Stage, connect Connect) {
	run(t, alike, stage, connect)
	run(t, overHTTP, stage, connect)
}

// RunLocal runs the parts that need no server, but for those in lacks: what the forge
// has no counterpart for, and why.
func RunLocal(t *testing.T, stage func(*testing.T) *Stage, connect func(*testing.T, *Stage) forge.Client, lacks map[string]string) {
	parts := maps.Clone(alike)
	for name := range lacks {
		if parts[name] == nil {
			t.Errorf("the suite has no part %s", name)
		}
		delete(parts, name)
	}
	run(t, parts, stage, func(t *testing.T, s *Stage, _ http.RoundTripper, _ time.Duration) forge.Client { return connect(t, s) })
}

func run(t *testing.T, parts map[string]part, stage func(*testing.T) *Stage, connect Connect) {
	for name, try := range parts {
		t.Run(name, func(t *testing.T) {
			w := &world{Stage: stage(t), connect: connect}
			w.Client = w.dial(t, 10*time.Second)
			try(t, w)
		})
	}
}

// world is a stage with the client that is tried on it.
type world struct {
	*Stage
	forge.Client
	connect Connect

	mu     sync.Mutex
	before func(*http.Request) // runs before each request
}

func (w *world) dial(t *testing.T, timeout time.Duration) forge.Client {
	own := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(own.CloseIdleConnections)
	return w.connect(t, w.Stage, &tap{world: w, next: own}, timeout)
}

// on sets what happens before each request.
func (w *world) on(f func(*http.Request)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.before = f
}

// tap lets the suite act between two requests of the client.
type tap struct {
	world *world
	next  http.RoundTripper
}

func (t *tap) RoundTrip(r *http.Request) (*http.Response, error) {
	t.world.mu.Lock()
	f := t.world.before
	t.world.mu.Unlock()
	if f != nil {
		f(r)
	}
	return t.next.RoundTrip(r)
}

// web is the address of the task, without scheme.
func (w *world) web() string { return cmp.Or(w.Web, w.Key.String()) }

// wantWrites counts the requests that were no reads, where there are any.
func (w *world) wantWrites(t *testing.T, want int) {
	t.Helper()
	if n := w.writes(); w.Server != nil && n != want {
		t.Errorf("%d writes, want %d", n, want)
	}
}

func (w *world) writes() (n int) {
	if w.Server == nil {
		return 0
	}
	for _, r := range w.Server.Requests() {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			n++
		}
	}
	return n
}

func background() context.Context { return context.Background() }
