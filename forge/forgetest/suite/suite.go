// Package suite is the conformance suite of [forge.Client]: what every adapter
// must do alike, for each of the four kinds of task, over real HTTP against the
// servers of forgetest.
//
// A [Stage] is a fresh server with one task and hands for a person who works
// beside the agent. The suite knows no adapter: the caller connects one.
package suite

import (
	"context"
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

// Stage is a fresh server with the project [Stage.Project], in which stands an
// open task by ann with title "Title", body "Body" and the label "todo". The
// agent may write. All functions act as a person or look; none is nil.
type Stage struct {
	URL     string // the API's base
	Project string
	Key     forge.TaskKey

	NewTask   func(title, body, author string, labels ...string) forge.TaskKey // an empty author is a deleted account
	Close     func(forge.TaskKey)
	Comment   func(author, body string) (id string)
	Edit      func(id, body string)
	Delete    func(id string)
	Rewrite   func(login, title, body string) // edits the task
	Stored    func() []string                 // the bodies of all comments, oldest first
	Labels    func() []string
	Label     func(name string)
	Unlabel   func(name string)
	LabelMade func(name string) (colour, description string) // as six hex digits; "" if there is none
	Permit    func(login string, p forge.Permission)
	CloseMade func(number int) // closes a change
	Reviewers func(number int) []string

	Server interface {
		Fault(forgetest.Fault)
		ClearFaults()
		Requests() []forgetest.Request
		SetClock(func() time.Time)
	}
}

// Connect makes a client of the adapter under test. The transport must be used
// for all requests, and a request must end after the timeout.
type Connect func(t *testing.T, s *Stage, transport http.RoundTripper, timeout time.Duration) forge.Client

// Run runs the whole suite, each part on a stage of its own.
func Run(t *testing.T, stage func(*testing.T) *Stage, connect Connect) {
	for name, part := range map[string]func(*testing.T, *world){
		"Me": me, "Task": task, "TaskGone": taskGone, "TaskUnseen": taskUnseen, "ListTasks": listTasks, "Repository": repository,
		"CommentsOverPages": commentsOverPages, "CommentFields": commentFields, "CommentsSince": commentsSince,
		"CommentsShift": commentsShift, "PostAndEdit": postAndEdit, "EditGone": editGone,
		"Labels": labels, "LabelsOfAPerson": labelsOfAPerson, "LabelsSettled": labelsSettled, "LabelRace": labelRace, "LabelledBy": labelledBy, "LastEdit": lastEdit,
		"Permission": permission, "Change": change, "Faults": faults, "Cancel": cancel, "ListLag": listLag,
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{Stage: stage(t), connect: connect}
			w.Client = w.dial(t, 10*time.Second)
			part(t, w)
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

// writes counts the requests that were no reads.
func (w *world) writes() (n int) {
	for _, r := range w.Server.Requests() {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			n++
		}
	}
	return n
}

func background() context.Context { return context.Background() }
