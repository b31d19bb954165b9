package rounds_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agent/eventlog"
	"agent/eventlog/event"
	"agent/forge/forgetest"
	"agent/internal/app"
	"agent/internal/app/rounds"
	"agent/internal/exhaustive"
)

const pausedLabel = "coding agent paused"

// pausedLog is a log of a size that ends with a pause for a person.
func pausedLog(t *testing.T, uuid, host string, number, size int) (log []byte) {
	t.Helper()
	bodies := []event.Body{
		&event.ContextCreated{Format: event.Format, UUID: uuid, TaskKey: fmt.Sprintf("%s/acme/widgets/issues/%d", host, number), Forge: host, Kind: "github_issue",
			User: "ann", Title: "Wait", Trigger: "label"},
		&event.ConfigPinned{Labels: event.Labels{Bot: "coding agent", Processing: "coding agent processing", Paused: pausedLabel}},
	}
	for size > 0 {
		bodies = append(bodies, &event.MessageAdded{Role: "user", Purpose: "comments", Content: event.T(strings.Repeat("word ", 800))})
		size -= 4000
	}
	bodies = append(bodies, &event.ContextPaused{Reason: "requested", Until: event.Until{Kind: "person"}},
		&event.LabelsRequested{Purpose: "paused", Add: []string{pausedLabel}},
		&event.LabelsChanged{Labels: []string{pausedLabel}})
	var head eventlog.Head
	for _, body := range bodies {
		e := event.Event{Time: time.Now().Add(-time.Hour), Body: body}
		if _, ok := body.(*event.LabelsChanged); ok {
			e.Cause = head.Seq
		}
		draft, err := event.Draft(e)
		if err != nil {
			t.Fatal(err)
		}
		line, err := eventlog.AppendLine(nil, head.Seq+1, head.Hash, draft)
		if err != nil {
			t.Fatal(err)
		}
		record, err := eventlog.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		head = eventlog.HeadOf(record)
		log = append(append(log, line...), '\n')
	}
	return log
}

// pausedContexts puts contexts that wait for a person into a store, and their issues on a forge.
func pausedContexts(t *testing.T, n, size int) (a *app.App, s *forgetest.Server, logOf func(i int) string) {
	t.Helper()
	s = forgetest.New()
	t.Cleanup(s.Close)
	s.AddToken("tok-0123456789", "agent-bot")
	s.AddRepository("acme/widgets", forgetest.Repository{Private: true})
	path := configFile(t, fmt.Sprintf("task_source: github\ngithub: {api_url: '%s', personal_access_token: tok-0123456789, bot_name: agent-bot, repositories: [acme/widgets]}\n", s.URL()))
	a = open(t, path)
	t.Cleanup(a.Close)
	logOf = func(i int) string {
		return filepath.Join(a.Config.ContextsDir, "paused", fmt.Sprintf("00000000-0000-4000-8000-%012d", i), eventlog.FileName)
	}
	for i := range n {
		s.AddIssue("acme/widgets", "Wait", "", "ann", pausedLabel)
		dir := filepath.Dir(logOf(i))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(logOf(i), pausedLog(t, filepath.Base(dir), s.Host(), i+1, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return a, s, logOf
}

// A round decoded the log of each paused context before it looked for new issues: 34
// seconds for 301 of 1.5 MB. Now it reads none that has not changed: a log whose middle
// is harmed behind the file system's back goes unnoticed, until the file shows a change.
func TestPausedLogsAreNotRead(t *testing.T) {
	n := exhaustive.Of(20, 300)
	a, _, logOf := pausedContexts(t, n, 1_500_000)
	begin := time.Now()
	idle(t, a) // keeps the notes
	t.Logf("%d paused contexts: the first round takes %v", n, time.Since(begin).Round(time.Millisecond))
	for i := range n {
		harm(t, logOf(i))
	}
	begin = time.Now()
	idle(t, a)
	t.Logf("%d paused contexts: an idle round takes %v", n, time.Since(begin).Round(time.Millisecond))
	if err := os.Chtimes(logOf(1), time.Now(), time.Now()); err != nil {
		t.Fatal(err)
	}
	var troubles []string
	rounds.New(a, rounds.Voice{Say: func(string) {}, Note: func(string) {},
		Trouble: func(what string, err error) { troubles = append(troubles, fmt.Sprint(what, " ", err)) }}).All(t.Context())
	if len(troubles) != 1 || !strings.Contains(troubles[0], filepath.Base(filepath.Dir(logOf(1)))) || !strings.Contains(troubles[0], "damaged") {
		t.Errorf("a log that changed: %q", troubles)
	}
}

// harm changes a byte in the middle of a file, and nothing that the file system tells of it.
func harm(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteAt([]byte{1}, info.Size()/2)
	}
	if err = errors.Join(err, f.Close(), os.Chtimes(path, info.ModTime(), info.ModTime())); err != nil {
		t.Fatal(err)
	}
}
