package main

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"time"

	"agent/eventlog"
	"agent/eventlog/event"
)

// realStore makes a store without an index, whose contexts have logs like those
// of runs of 15 tool calls, and tells their size. It is made once.
func (b *bench) realStore() (dir string, size int64, err error) {
	dir = filepath.Join(b.dir, "real")
	if _, err := os.Stat(dir); err == nil {
		return dir, b.realSize, nil
	}
	text := prose(4 << 20)
	_, done := openStore(dir)
	defer done()
	for i := range realLogs {
		log, err := runLog(i, text)
		if err != nil {
			return "", 0, err
		}
		into := filepath.Join(dir, "completed", uuid(i))
		must(os.Mkdir(into, 0o700))
		must(os.WriteFile(filepath.Join(into, eventlog.FileName), log, 0o600))
		b.realSize += int64(len(log))
	}
	return dir, b.realSize, nil
}

// needle stands in every 500th log.
const needle = "connection to the gateway was refused"

// runLog gives the log of one context.
func runLog(i int, text string) ([]byte, error) {
	const steps = 15
	rng := rand.New(rand.NewSource(int64(i)))
	some := func(n int) event.Text {
		at := rng.Intn(len(text) - n)
		return event.T(text[at : at+n])
	}
	bodies := []event.Body{
		&event.ContextCreated{Format: event.Format, UUID: uuid(i), TaskKey: taskKey(i), Forge: "github.com", Kind: "github_issue", Title: "Read the notes", Trigger: "label"},
		&event.MessageAdded{Role: "user", Purpose: event.TaskMessage, Content: some(1500)},
	}
	if i%500 == 0 {
		bodies = append(bodies, &event.MessageAdded{Role: "user", Purpose: event.CommentsMessage, Content: event.T("It said: " + needle)})
	}
	for n := range steps {
		call := event.ToolCall{ID: fmt.Sprint(n), Name: "workspace__read_file", Args: event.T(`{"path":"notes.txt"}`)}
		bodies = append(bodies,
			&event.LLMRequested{Purpose: "work", Model: "scripted", Estimated: 900 * n},
			&event.LLMReplied{Text: some(200 + rng.Intn(400)), Calls: []event.ToolCall{call}, Usage: event.Usage{Prompt: 900 * n, Completion: 100}, Finish: "tool_calls"},
			&event.ToolRequested{Tool: "workspace/read_file", Args: call.Args},
			&event.ToolReplied{Content: some(500 + rng.Intn(3000))})
	}
	return encode(append(bodies, &event.ContextCompleted{Reason: "done"}))
}

func encode(bodies []event.Body) (log []byte, err error) {
	var prev uint64
	var line []byte
	for n, body := range bodies {
		draft, err := event.Draft(event.Event{Time: longAgo.Add(time.Duration(n) * time.Second), Body: body})
		if err != nil {
			return nil, err
		}
		if line, err = eventlog.AppendLine(line[:0], uint64(n+1), prev, draft); err != nil {
			return nil, err
		}
		log = append(append(log, line...), '\n')
		prev = hash(line)
	}
	return log, nil
}

// Letters, as often as they come in English.
const (
	consonants = "tttttttttnnnnnnnsssssshhhhhhrrrrrrddddllllcccmmmwwffggyyppbbvk"
	vowels     = "eeeeeeeeeeeeaaaaaaaaoooooooiiiiiiiuuu"
)

// prose gives text of words that come as often as words do, in lines.
func prose(size int) string {
	rng := rand.New(rand.NewSource(1))
	words := make([]string, 3000)
	for i := range words {
		var w strings.Builder
		for range 2 + rng.Intn(4) {
			w.WriteByte(consonants[rng.Intn(len(consonants))])
			w.WriteByte(vowels[rng.Intn(len(vowels))])
		}
		words[i] = w.String()
	}
	often := rand.NewZipf(rng, 1.1, 5, uint64(len(words)-1))
	var text strings.Builder
	for text.Len() < size {
		text.WriteString(words[often.Uint64()])
		text.WriteByte("          \n.(=;"[rng.Intn(15)])
	}
	return text.String()
}
