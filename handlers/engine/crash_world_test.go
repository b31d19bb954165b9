package engine_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/forge/forgetest"
	"agent/handlers/engine"
	"agent/internal/fsx"
	"agent/llm/llmtest"
	"agent/projections"
)

const (
	project  = "owner/notes"
	token    = "token-of-the-bot"
	bot      = "helper"
	botLabel = "coding agent"
)

// world is everything that outlives the agent: the disk, the forge, the model's
// server, the files that tools work on, and what was published.
type world struct {
	t         testing.TB
	disk      *fsx.Mem
	forge     *forgetest.Server
	model     *llmtest.Server
	wire      *http.Transport
	dir       string
	config    event.ConfigPinned
	published map[string]map[string]string // branch to files
	raised    atomic.Bool                  // the pause signal stands
	once      atomic.Bool                  // it was raised

	mu    sync.Mutex
	runs  map[string]int // executions of tools that must not be repeated, by file
	slept []time.Duration
	acked uint64 // seq of the latest event that was acknowledged
	dark  bool   // the power was cut: what is not synced, as the ledger, may be old

	dialect llmtest.Dialect // of the model's server, if it is a strict one
	atCall  func(n int)     // what happens before the n-th answer of a strict server, from 0 on
	atTouch func()          // what happens after each contact, if set
	profile string          // of requests to it
	down    *llmtest.Server // asked before it, if set
	forgets bool            // the model goes by the files alone
	inherit func(*projections.State) event.ContextInherited
	renamed atomic.Bool // the project has another name now
}

const newName = "owner/renamed"

// place is the name of the project now.
func (w *world) place() string {
	if w.renamed.Load() {
		return newName
	}
	return project
}

// scenario is what is to be done.
type scenario struct {
	script llmtest.Script // nil: the world's own
	notes  string         // content of notes.txt
}

var (
	correction = scenario{playGoals, "the answer is wrong\n"}
	endless    = scenario{playForever, ""}
	large      = scenario{playOneRead, strings.Repeat("0123456789abcde\n", event.MaxResult/15)}
)

func newWorld(t testing.TB, sc scenario) *world {
	t.Helper()
	w := &world{t: t, disk: fsx.NewMem(), forge: forgetest.New(), wire: &http.Transport{},
		config: pinned(), published: map[string]map[string]string{}, runs: map[string]int{}}
	if sc.script == nil {
		sc.script = w.playWishes
	}
	w.model = llmtest.New(sc.script)
	var err error
	if w.dir, err = os.MkdirTemp(t.TempDir(), ""); err != nil {
		t.Fatal(err)
	}
	w.write("notes.txt", sc.notes)
	w.forge.AddToken(token, bot)
	w.forge.AddRepository(project, forgetest.Repository{Private: true})
	w.forge.AddIssue(project, "Correct the notes", "The answer in notes.txt is wrong.", "alice", botLabel)
	w.forge.AddComment(project, 1, "alice", "Please keep a journal, too.")
	return w
}

func (w *world) close() {
	w.wire.CloseIdleConnections()
	w.forge.Close()
	w.model.Close()
}

func (w *world) write(name, text string) {
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// files gives the content of all files that the tools work on.
func (w *world) files() map[string]string {
	files := map[string]string{}
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(w.dir, e.Name()))
		if err != nil {
			w.t.Fatal(err)
		}
		files[e.Name()] = string(data)
	}
	return files
}

func pinned() event.ConfigPinned {
	return event.ConfigPinned{
		Provider: "openai", Model: llmtest.Model, ContextLength: 100_000, Protocol: "tools", Language: "en", Bot: bot,
		Labels: event.Labels{Bot: botLabel, Processing: "working", Done: "done", Paused: "paused", Stopped: "stopped",
			Failed: "failed", Awaiting: "awaiting"},
		Limits:   event.Limits{MaxCalls: 100},
		Project:  event.ProjectRule{Rules: true, MaxFile: 1000, MaxTotal: 1000, Files: true, MaxDepth: -1},
		Change:   event.ChangeRule{Enabled: true, Prefix: "agent/"},
		Comments: event.CommentRule{Enabled: true, Accept: "auto", Max: 20, Detail: "full"},
	}
}

var errDead = errors.New("the process is dead")

// life is one process of the agent. It ends by itself, or at the contact with
// the outside world (a request, a tool call, preparing or publishing the files)
// whose number is last.
type life struct {
	*world
	ctx    context.Context
	cancel context.CancelFunc
	last   int64 // 0: none
	after  bool  // the outside world has done its part, and the process never learns of it
	failAt int   // operation of the disk that fails, 0: none

	worker  contexts.Options                              // of a cluster
	carries func(r *http.Request) (*http.Response, error) // instead of the wire
	ended   func(*engine.Engine, engine.Ports)            // sees each engine that was closed

	contacts   int64
	posthumous int // contacts of a process that was dead
	late       int // effects after the disk's failure
}

func (w *world) born() *life {
	l := &life{world: w}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

func (l *life) dead() bool {
	_, _, err := l.disk.Free()
	return err != nil
}

func (l *life) die() error {
	l.disk.Kill()
	l.cancel()
	return errDead
}

// touch is one contact. effect tells it from one that only reads.
func (l *life) touch(effect bool, do func()) error {
	if l.dead() {
		l.posthumous++
		return errDead
	}
	l.contacts++
	if effect && l.failAt > 0 && l.disk.Ops() >= l.failAt {
		l.late++
	}
	if l.contacts == l.last && !l.after {
		return l.die()
	}
	do()
	if l.atTouch != nil {
		l.atTouch()
	}
	if l.contacts == l.last {
		return l.die()
	}
	return nil
}

// RoundTrip carries the requests of the forge's and the model's clients.
func (l *life) RoundTrip(r *http.Request) (*http.Response, error) {
	var response *http.Response
	var err error
	if dead := l.touch(r.Method != http.MethodGet, func() { response, err = l.carry(r) }); dead != nil {
		if response != nil {
			_ = response.Body.Close()
		}
		return nil, dead
	}
	return response, err
}

func (l *life) carry(r *http.Request) (*http.Response, error) {
	if l.carries != nil {
		return l.carries(r)
	}
	return l.wire.RoundTrip(r)
}

// Sleep lets no time pass.
func (l *life) sleep(ctx context.Context, d time.Duration) error {
	if l.dead() {
		return errDead
	}
	l.mu.Lock()
	l.slept = append(l.slept, d)
	l.mu.Unlock()
	return ctx.Err()
}
