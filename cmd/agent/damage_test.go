package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agent/eventlog"
	"agent/handlers"
	"agent/internal/exhaustive"
	"agent/llm/llmtest"
)

// begun makes a world whose first issue was begun and killed in its second model call.
func begun(t *testing.T) (w *world, uuid string) {
	t.Helper()
	script := longer()
	w = newWorld(t, func(n int, r llmtest.Request) llmtest.Reply {
		if n == 1 {
			return llmtest.Hang()
		}
		return script(n, r)
	})
	p := w.start("run")
	w.awaitCalls(2)
	p.kill()
	return w, w.only().UUID
}

func (w *world) logPath(place, uuid string) string {
	return w.path("contexts", place, uuid, eventlog.FileName)
}

// lines reads a log as lines without their newlines.
func (w *world) lines(place, uuid string) [][]byte {
	w.t.Helper()
	data, err := os.ReadFile(w.logPath(place, uuid))
	must(w.t, err)
	return bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
}

func (w *world) writeLines(place, uuid string, lines [][]byte) {
	w.t.Helper()
	must(w.t, os.WriteFile(w.logPath(place, uuid), append(bytes.Join(lines, []byte("\n")), '\n'), 0o600))
}

// TestDamage damages the log of a context that was begun, in many ways. That
// context is reported and left alone, the other issue is worked on; after a
// repair the context goes on.
func TestDamage(t *testing.T) {
	t.Parallel()
	for name, damage := range exhaustive.SampleMap(map[string]func(lines [][]byte, at int) [][]byte{
		"bit flipped": func(l [][]byte, at int) [][]byte { l[at][len(l[at])/2] ^= 4; return l },
		"lines swapped": func(l [][]byte, at int) [][]byte {
			l[at], l[at+1] = l[at+1], l[at]
			return l
		},
		"line removed": func(l [][]byte, at int) [][]byte { return append(l[:at:at], l[at+1:]...) },
		"line doubled": func(l [][]byte, at int) [][]byte { return append(append(l[:at+1:at+1], l[at]), l[at+1:]...) },
		"filled with NUL": func(l [][]byte, at int) [][]byte {
			l[at] = make([]byte, len(l[at]))
			return l
		},
	}, 5) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, uuid := begun(t)
			lines := w.lines("running", uuid)
			at := len(lines) - 3
			w.writeLines("running", uuid, damage(lines, at))
			w.issue("Another")

			out, errOut := w.agent(65, "run")
			if !strings.Contains(out+errOut, uuid) || !strings.Contains(out+errOut, "damaged") {
				t.Errorf("run does not name the damaged context:\n%s%s", out, errOut)
			}
			w.wantLabels(2, doneLabel)
			w.wantComment(2, "✅ **Done**")
			w.wantDamaged(uuid, at)
			w.agent(2, "repair", uuid)
			if out, _ := w.agent(0, "repair", uuid, "--accept-loss"); !strings.Contains(out, "repaired") || !strings.Contains(out, "goes on at the next round") {
				t.Errorf("repair says: %s", out)
			}
			w.agent(0, "run")
			w.agent(0, "verify")
			for _, l := range w.list(0) {
				if l.State != "completed" {
					t.Errorf("%s is %s", l.TaskKey, l.State)
				}
			}
			w.wantLabels(1, doneLabel)
			w.wantComment(1, "✅ **Done**")
		})
	}
}

// wantDamaged wants every command to say so, and inspect to show both sides of the damage.
func (w *world) wantDamaged(uuid string, at int) {
	w.t.Helper()
	before, err := os.ReadFile(w.logPath("running", uuid))
	must(w.t, err)
	states := map[string]string{}
	for _, l := range w.list(65) {
		states[l.UUID] = l.State
	}
	if states[uuid] != "damaged" || len(states) != 2 {
		w.t.Errorf("list says %v", states)
	}
	out, errOut := w.agent(65, "inspect", uuid)
	if !strings.Contains(out, "context.created") || !strings.Contains(out, fmt.Sprintf("\n%5d ", at)) || !strings.Contains(errOut, "damaged") {
		w.t.Errorf("inspect does not show what is around the damage:\n%s%s", out, errOut)
	}
	if last := strings.TrimSpace(out[strings.LastIndex(strings.TrimSuffix(out, "\n"), "\n")+1:]); strings.HasPrefix(last, fmt.Sprint(at)) {
		w.t.Errorf("inspect shows nothing behind the damage:\n%s", out)
	}
	w.agent(65, "verify", uuid)
	w.agent(65, "replay", uuid)
	w.agent(65, "run", uuid)
	after, err := os.ReadFile(w.logPath("running", uuid))
	if err != nil || !bytes.Equal(before, after) {
		w.t.Errorf("the damaged log was changed (%v)", err)
	}
}

// TestTornTail cuts the log in the middle of its last line, as a power cut
// does. That is no damage: the next run goes on.
func TestTornTail(t *testing.T) {
	t.Parallel()
	for name, tear := range exhaustive.SampleMap(map[string]func(data []byte) []byte{
		"half a line":  func(d []byte) []byte { return d[:len(d)-20] },
		"NUL at end":   func(d []byte) []byte { return append(d, make([]byte, 4096)...) },
		"half and NUL": func(d []byte) []byte { return append(d[:len(d)-20], make([]byte, 512)...) },
	}, 3) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, uuid := begun(t)
			data, err := os.ReadFile(w.logPath("running", uuid))
			must(t, err)
			must(t, os.WriteFile(w.logPath("running", uuid), tear(data), 0o600))
			if l := w.only(); l.State != "interrupted" {
				t.Errorf("list says %s", l.State)
			}
			w.agent(0, "run")
			w.wantDone(1, w.only())
			w.wantOnce(1)
		})
	}
}

// TestChangedByHand changes a word in a log with an editor. Replay refuses it and says where.
func TestChangedByHand(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	w.agent(0, "run")
	uuid := w.only().UUID
	lines := w.lines("completed", uuid)
	at := -1
	for i, line := range lines {
		if bytes.Contains(line, []byte(`"llm.replied"`)) && bytes.Contains(line, []byte("I wrote")) {
			at = i
		}
	}
	lines[at] = bytes.Replace(lines[at], []byte("I wrote"), []byte("I stole"), 1)
	w.writeLines("completed", uuid, lines)
	if _, errOut := w.agent(65, "replay", uuid); !strings.Contains(errOut, fmt.Sprintf("seq %d ", at+1)) {
		t.Errorf("replay does not say that seq %d was changed:\n%s", at+1, errOut)
	}
}

// rewrite changes events and makes the chain right again, as somebody would who
// knows the format.
func (w *world) rewrite(place, uuid string, change func(d *eventlog.Draft)) {
	w.t.Helper()
	var lines [][]byte
	var prev uint64
	for r, err := range w.store().Records(uuid) {
		must(w.t, err)
		d := eventlog.Draft{Time: r.When(), Type: string(r.Type), V: r.V, Cause: r.Cause, Data: bytes.Clone(r.Data)}
		change(&d)
		line, err := eventlog.AppendLine(nil, r.Seq, prev, d)
		must(w.t, err)
		sum := sha256.Sum256(line)
		prev = binary.BigEndian.Uint64(sum[:])
		lines = append(lines, line)
	}
	w.writeLines(place, uuid, lines)
}

// TestNewerRelease leaves alone what a newer release has begun, or only worked on.
func TestNewerRelease(t *testing.T) {
	t.Parallel()
	raise := func(field string) func(*eventlog.Draft) {
		old := regexp.MustCompile(`"` + field + `":\d+`)
		return func(d *eventlog.Draft) { d.Data = old.ReplaceAll(d.Data, []byte(`"`+field+`":99`)) }
	}
	for _, c := range exhaustive.Sample([]struct {
		kind  string
		write func(*eventlog.Draft)
	}{
		{"llm.requested", func(d *eventlog.Draft) { d.V = 99 }},
		{"context.created", raise("format")},
		{"process.started", raise("decisions")},
	}, 2) {
		t.Run(c.kind, func(t *testing.T) {
			t.Parallel()
			w, uuid := begun(t)
			w.rewrite("running", uuid, func(d *eventlog.Draft) {
				if d.Type == c.kind {
					c.write(d)
				}
			})
			must(t, os.RemoveAll(w.path("contexts", "index"))) // it knows the events as they were
			before := w.lines("running", uuid)
			w.issue("Another")
			out, errOut := w.agent(69, "run")
			if !strings.Contains(out+errOut, "newer release") {
				t.Errorf("run does not say why it leaves the context alone:\n%s%s", out, errOut)
			}
			w.wantLabels(2, doneLabel)
			if out, _ := w.agent(0, "inspect", uuid); !strings.Contains(out, "llm.requested") {
				t.Errorf("inspect shows less than there is:\n%s", out)
			}
			if after := w.lines("running", uuid); !slices.EqualFunc(before, after, bytes.Equal) {
				t.Error("its log was changed")
			}
		})
	}
}

// TestChangedDecision changes a decision of a finished log and makes its chain
// right. Replay shows what is recorded and what it decides now.
func TestChangedDecision(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	w.agent(0, "run")
	uuid := w.only().UUID
	w.rewrite("completed", uuid, func(d *eventlog.Draft) {
		if d.Type == "labels.requested" {
			d.Data = bytes.Replace(d.Data, []byte(`["`+doneLabel+`"]`), []byte(`["another label"]`), 1)
		}
	})
	must(t, os.RemoveAll(w.path("contexts", "index"))) // it remembers the head of the log
	out, _ := w.agent(1, "replay", uuid)
	if !strings.Contains(out, `log: labels.requested`) || !strings.Contains(out, "another label") ||
		!strings.Contains(out, "now: labels.requested") || !strings.Contains(out, doneLabel) {
		t.Errorf("replay does not show both sides:\n%s", out)
	}

	w.rewrite("completed", uuid, func(d *eventlog.Draft) {
		if d.Type == "process.started" {
			d.Data = bytes.Replace(d.Data, fmt.Appendf(nil, `"decisions":%d`, handlers.Decisions), []byte(`"decisions":0`), 1)
		}
	})
	if out, _ := w.agent(0, "replay", uuid); !strings.Contains(out, "decided by v0") {
		t.Errorf("replay does not say who decided:\n%s", out)
	}
}

// TestVerifySeesPlaces: a log that is whole but cannot belong where it lies is damage.
func TestVerifySeesPlaces(t *testing.T) {
	t.Parallel()
	w, uuid := begun(t)
	must(t, os.Rename(w.path("contexts", "running", uuid), w.path("contexts", "completed", uuid)))
	if out, _ := w.agent(65, "verify"); !strings.Contains(out, "has not ended") {
		t.Errorf("moved by hand:\n%s", out)
	}
	other := "00000000-0000-4000-8000-00000000000a"
	must(t, os.Rename(w.path("contexts", "completed", uuid), w.path("contexts", "running", other)))
	if out, _ := w.agent(65, "verify"); !strings.Contains(out, "is damaged") {
		t.Errorf("under another name:\n%s", out)
	}
	must(t, os.WriteFile(w.path("contexts", "running", other, "events.jsonl"), nil, 0o600))
	w.agent(65, "verify")
	w.agent(65, "list")
}
