package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/handlers/engine"
	"agent/internal/exhaustive"
	"agent/llm"
	"agent/llm/anthropic"
	"agent/llm/llmtest"
	"agent/llm/lmstudio"
	"agent/llm/ollama"
	"agent/llm/openai"
	"agent/projections"
)

const modelKey = "key-of-the-model"

// canaries begin what strict servers give as reasoning and as signatures.
var canaries = []string{"I think of", "c2lnbmVk"}

// providerFor is the client that a configuration for such a server makes.
func providerFor(d llmtest.Dialect, base, profile string, wire http.RoundTripper) (llm.Provider, error) {
	const key = modelKey
	switch {
	case d.Mode == llmtest.Anthropic:
		return anthropic.New(anthropic.Config{BaseURL: base, APIKey: key, Thinking: d.Thinks, Transport: wire})
	case d.Mode == llmtest.Ollama:
		return ollama.New(ollama.Config{BaseURL: base, Transport: wire})
	case d.Mode == llmtest.LMStudio && profile != "openai":
		return lmstudio.New(lmstudio.Config{BaseURL: base, Transport: wire})
	case d.Azure:
		return openai.New(openai.Config{BaseURL: base, APIKey: key, APIVersion: "2024-10-21", Auth: openai.AuthKey, Profile: profile, Transport: wire})
	}
	auth := ""
	if d.Base != "" {
		auth = openai.AuthKey
	}
	return openai.New(openai.Config{BaseURL: base, APIKey: key, Auth: auth, Profile: profile, Transport: wire})
}

// shaped is a way to work that a dialect must stand.
type shaped struct {
	name  string
	work  func(w *world) error
	check func(w *world, log []event.Event) error
}

// sessions are the ways: the columns of the matrix.
var sessions = []shaped{
	{"five calls", func(w *world) error { return w.converse1(talk{}) }, nil},
	{"resume with a comment", func(w *world) error { return w.converse1(talks[0]) }, nil},
	{"comment in mid-run", func(w *world) error {
		w.config.Comments.Interval = 1
		w.atCall = func(n int) {
			if n == 1 {
				w.forge.AddComment(project, 1, "alice", "WISH one.txt")
			}
		}
		return w.converse1(talk{})
	}, func(w *world, _ []event.Event) error {
		if !strings.Contains(w.files()["one.txt"], "wished") {
			return fmt.Errorf("the comment was not heard: %v", w.files())
		}
		return nil
	}},
	{"edited task", func(w *world) error {
		edited := talks[0]
		edited.people = []func(*world) error{func(w *world) error {
			w.raised.Store(false)
			w.forge.EditIssueAs(project, 1, "alice", "Correct the notes", "The answer in notes.txt is wrong.\nWISH one.txt")
			return nil
		}}
		return w.converse1(edited)
	}, func(_ *world, log []event.Event) error {
		for _, ev := range log {
			if _, ok := ev.Body.(*event.TaskChanged); ok {
				return nil
			}
		}
		return errors.New("the edit was not seen")
	}},
	{"second run", secondRun, func(w *world, _ []event.Event) error {
		for _, r := range w.model.Requests() {
			if r.Contains(summed) {
				return nil
			}
		}
		return errors.New("nothing was inherited")
	}},
	{"planning", func(w *world) error { return w.converse1(planned) }, nil},
	{"compaction", func(w *world) error {
		w.config.ContextLength, w.config.Storage = 2000, event.Storage{Threshold: 0.35, Keep: 1}
		w.forgets = true
		return w.converse1(talks[0])
	}, func(_ *world, log []event.Event) error {
		for _, ev := range log {
			if b, ok := ev.Body.(*event.SummaryAdded); ok && b.Purpose == event.CompactionSummary {
				return nil
			}
		}
		return errors.New("nothing was summarised")
	}},
	{"json protocol", func(w *world) error {
		w.config.Protocol = "json"
		return w.converse1(talks[0])
	}, nil},
}

func (w *world) converse1(t talk) error {
	if t.config == nil {
		t.config = func(*event.ConfigPinned) {}
		w.once.Store(true) // no pause
	}
	_, err := w.converse(t, point{})
	return err
}

// secondRun is done, gets its label anew, and begins with what the first one left.
func secondRun(w *world) error {
	w.config.Inherit = event.Inherit{Enabled: true, ExpiryDays: 90, MaxTokens: 1000}
	w.inherit = func(s *projections.State) event.ContextInherited {
		return event.ContextInherited{From: "0192f0c0-0000-7000-8000-000000000001", At: time.Unix(1, 0).UTC(), Trust: projections.TrustAuthor, Summary: event.T(summed)}
	}
	return w.converse1(talks[0])
}

// strict makes a world whose model server speaks a dialect.
func strict(t testing.TB, d llmtest.Dialect, profile string) *world {
	w := newWorld(t, scenario{nil, correction.notes})
	w.model.Close()
	w.model = llmtest.NewStrict(func(n int, r llmtest.Request) llmtest.Reply {
		if w.atCall != nil {
			w.atCall(n)
		}
		return w.playShaped(n, r)
	}, d)
	w.dialect, w.profile = d, profile
	w.config.Model, w.config.Profile, w.config.Protocol = d.Model, profile, "auto"
	return w
}

// playShaped is playWishes for requests with or without tools, whatever lines an
// adapter has put between the turns.
func (w *world) playShaped(n int, r llmtest.Request) llmtest.Reply {
	r.Messages = apart(r.Messages)
	if w.forgets && len(r.Tools) > 0 {
		return w.playFiles()
	} else if w.forgets && !r.Contains("previous_output") && !strings.Contains(r.System(), "previous_output") {
		return llmtest.Text(summed)
	}
	if !strings.Contains(r.System(), "previous_output") {
		return w.playWishes(n, r)
	}
	reply := w.playWishes(n, asTools(r))
	if w.forgets {
		reply = w.playFiles()
	}
	if len(reply.Calls) == 0 {
		if json.Valid([]byte(reply.Text)) {
			return reply // of a phase
		}
		return llmtest.Done(reply.Text)
	}
	c := reply.Calls[len(reply.Calls)-1] // a reply has one command
	return llmtest.JSONCommand(strings.Replace(c.Name, "__", "/", 1), c.Arguments, reply.Text)
}

// playFiles does what playGoals does, and looks at the files instead of the
// conversation, which may have been summarised.
func (w *world) playFiles() llmtest.Reply {
	files := w.files()
	if w.once.CompareAndSwap(false, true) {
		w.raised.Store(true)
	}
	for i, name := range []string{"one.txt", "two.txt", "three.txt", "journal.txt"} {
		if files[name] == "" {
			reply := llmtest.ToolCall("files__append", toolArgs{Path: name, Text: "began"})
			reply.Text = fmt.Sprintf("I open file %d: %s", i, strings.Repeat("word ", 60))
			return reply
		}
	}
	switch {
	case strings.Contains(files["notes.txt"], "wrong"):
		return llmtest.ToolCall("files__edit", goals[2].args)
	case files["signature.txt"] == "":
		return llmtest.ToolCall("files__append", goals[3].args)
	}
	return llmtest.Text(closing)
}

// apart splits turns that an adapter has joined.
func apart(in []llm.Message) (out []llm.Message) {
	for _, m := range in {
		text := m.Content
		for m.Role == llm.User {
			at := max(strings.LastIndex(text, "\n\nPhase: "), strings.LastIndex(text, "\n\nprevious_command: "))
			if at < 0 {
				break
			}
			text = text[:at] + "\x00" + text[at+2:]
		}
		for _, part := range strings.Split(text, "\x00") {
			m.Content = part
			out = append(out, m)
			m.Calls = nil
		}
	}
	return out
}

// asTools reads a conversation of the JSON protocol as one with native calls.
func asTools(r llmtest.Request) llmtest.Request {
	r.Tools = []string{"files__read", "files__append", "files__edit"}
	var out []llm.Message
	for _, m := range r.Messages {
		rest := m.Content
		_, after, found := strings.Cut(rest, "previous_command: ")
		if m.Role != llm.User || !found {
			out = append(out, m)
			continue
		}
		line, result, _ := strings.Cut(after, "\nprevious_output:\n")
		var command struct {
			Tool string
			Args json.RawMessage
		}
		_ = json.Unmarshal([]byte(line), &command) // our own words
		id := fmt.Sprintf("call_%d", len(out))
		out = append(out, llm.Message{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: id, Name: strings.Replace(command.Tool, "/", "__", 1), Arguments: string(command.Args)}}},
			llm.Message{Role: llm.ToolRole, CallID: id, Content: result}, llm.Message{Role: llm.User, Content: result})
	}
	r.Messages = out
	return r
}

// ended wants the task done with the files right, the replay exact, and nothing in a
// comment that only a model server may read.
func (w *world) ended() ([]event.Event, error) {
	store, err := contexts.Open(w.disk, contexts.Options{})
	if err != nil {
		return nil, err
	}
	id, err := only(store)
	if err != nil {
		return w.log(store), err
	}
	var log []event.Event
	report, err := engine.Replay(func(yield func(event.Event, error) bool) {
		for ev, err := range store.Events(id) {
			log = append(log, ev)
			if !yield(ev, err) {
				return
			}
		}
	})
	if err != nil {
		return log, err
	}
	for _, d := range report.Differences {
		err = errors.Join(err, fmt.Errorf("seq %d was %s, today %s", d.Seq, d.Recorded, d.Decided))
	}
	if report.State.Status != projections.Completed {
		err = errors.Join(err, fmt.Errorf("it is %s: %s", report.State.Status, report.State.LastError))
	}
	if files := w.files(); !strings.Contains(files["notes.txt"], "right") || !strings.Contains(files["signature.txt"], "signed") {
		err = errors.Join(err, fmt.Errorf("the files are %v", files))
	}
	for _, c := range w.forge.Comments(project, 1) {
		for _, canary := range append([]string{modelKey}, canaries...) {
			if strings.Contains(c.Body, canary) {
				err = errors.Join(err, fmt.Errorf("a comment holds %q: %s", canary, c.Body))
			}
		}
	}
	return log, err
}

// log is that of the only context, wherever it lies.
func (w *world) log(store *contexts.Store) (log []event.Event) {
	for entry := range store.List() {
		for ev, err := range store.Events(entry.UUID) {
			if err == nil {
				log = append(log, ev)
			}
		}
	}
	return log
}

// TestEveryDialect works in every way with every strict server, in the shape of its
// profile: each task ends done, and nothing is refused on the way.
func TestEveryDialect(t *testing.T) {
	exhaustive.Slow(t)
	if len(llmtest.Dialects) < 16 {
		t.Fatalf("%d dialects", len(llmtest.Dialects))
	}
	for _, d := range llmtest.Dialects {
		t.Run(d.Name, func(t *testing.T) {
			for _, s := range sessions {
				t.Run(s.name, func(t *testing.T) { tryShaped(t, d, d.Profile, s) })
			}
		})
	}
}

// onceRefused is what no profile knows of a model beforehand. One refusal tells.
var onceRefused = []string{"Function Calling", "max_tokens: ", "thinking.type.enabled", "bound to a different conversation"}

func tryShaped(t *testing.T, d llmtest.Dialect, profile string, s shaped) {
	w := strict(t, d, profile)
	defer w.close()
	err := s.work(w)
	log, problem := w.ended()
	if err = errors.Join(err, problem); err == nil && s.check != nil {
		err = s.check(w, log)
	}
	refused := w.model.Refused()
	for _, words := range refused {
		if profile == d.Profile && !slices.ContainsFunc(onceRefused, func(part string) bool { return strings.Contains(words, part) }) {
			err = errors.Join(err, errors.New("refused: "+words))
		}
	}
	if profile == d.Profile {
		err = errors.Join(err, w.checkPrefix())
	}
	if err == nil {
		return
	}
	t.Error(err)
	t.Log(refused)
	for _, ev := range log {
		t.Logf("%d %s %s", ev.Seq, ev.Body.Type(), projections.Describe(ev))
	}
}

// Without its profile each of them is learned from refusals.
func TestEveryDialectIsLearned(t *testing.T) {
	for _, d := range exhaustive.Sample(llmtest.Dialects, 2) {
		t.Run(d.Name, func(t *testing.T) {
			tryShaped(t, d, "openai", sessions[1])
			d.Mute = true // by the ladder then
			tryShaped(t, d, "openai", sessions[1])
		})
	}
}
