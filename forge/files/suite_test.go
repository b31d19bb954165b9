package files

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"agent/forge"
	"agent/forge/forgetest/suite"
)

// lacks is what a directory of files has no counterpart for, of what every adapter must do.
var lacks = map[string]string{
	"ProjectGone": "a directory is one project: another one is another host",
	"LabelsMade":  "labels are words, without colours and descriptions",
	"LabelSetter": "a file does not say who put a label there; its author stands for them",
	"LastEdit":    "a file does not say who edited it; its directory is private, where nobody asks",
	"Permission":  "whoever can write the directory is trusted",
	"Reviewers":   "a file notifies nobody of a change; the comment names who is asked",
	"Reactions":   "a file has no reactions", "ReactionsOverPages": "as before", "ReactionsGone": "as before",
}

func TestConformance(t *testing.T) {
	suite.RunLocal(t, func(t *testing.T) *suite.Stage { return newHand(t).stage() }, func(t *testing.T, s *suite.Stage) forge.Client {
		return connect(t, s.URL, func(c *Config) { c.Push = true })
	}, lacks)
}

// clock is what the suite sets; a client of the adapter takes the time from it.
var clock = func() time.Time { return time.Now() }

func connect(t *testing.T, dir string, change func(*Config)) *Client {
	t.Helper()
	cfg := Config{Directory: dir, Name: "inbox", BotName: suite.Login, Operator: "operator", Now: func() time.Time { return clock() }}
	if change != nil {
		change(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// hand is a person with an editor.
type hand struct {
	t    *testing.T
	dir  string
	made int
}

// newHand makes a repository on the branch main with a directory of tasks.
func newHand(t *testing.T) *hand {
	t.Helper()
	clock = time.Now
	top := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", "-b", "main", top).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	h := &hand{t: t, dir: filepath.Join(top, "tasks")}
	if err := os.Mkdir(h.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *hand) path(number int) string { return filepath.Join(h.dir, strconv.Itoa(number)+".md") }

// save writes a file as careful editors do.
func (h *hand) save(path, text string) {
	h.t.Helper()
	if err := os.WriteFile(path+"~", []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
	old := time.Now().Add(-time.Second) // the adapter need not wait for the end of the writing
	if err := os.Chtimes(path+"~", old, old); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Rename(path+"~", path); err != nil {
		h.t.Fatal(err)
	}
}

func (h *hand) read(path string) string {
	h.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		h.t.Fatal(err)
	}
	return string(data)
}

// change edits the first task.
func (h *hand) change(f func(text string) string) { h.save(h.path(1), f(h.read(h.path(1)))) }

// open writes a new task.
func (h *hand) open(title, body, author string, labels ...string) int {
	h.made++
	text := "---\n# a remark\ntitle: " + title + "\nlabels:\n"
	for _, l := range labels {
		text += "  - " + l + "\n"
	}
	if author != "" {
		text += "author: " + author + "\n"
	}
	h.save(h.path(h.made), text+"number: "+strconv.Itoa(h.made)+"\n---\n"+body+"\n")
	return h.made
}

// relabel edits the labels of the first task.
func (h *hand) relabel(f func([]string) []string) {
	h.change(func(text string) string {
		d, err := parse([]byte(text))
		if err != nil {
			h.t.Fatal(err)
		}
		if err := d.setLabels(f(d.head.Labels)); err != nil {
			h.t.Fatal(err)
		}
		return string(d.bytes())
	})
}

// section gives the lines of a comment, from the one that begins it.
func section1(text, id string) (before, it, after string) {
	from := strings.Index(text, " #"+id+" ")
	from = strings.LastIndex(text[:from], "=== @")
	to := strings.Index(text[from+1:], "\n=== @")
	if to < 0 {
		return text[:from], text[from:], ""
	}
	return text[:from], text[from : from+1+to+1], text[from+1+to+1:]
}

func (h *hand) stage() *suite.Stage {
	key := func(n int) forge.TaskKey {
		return forge.TaskKey{Host: "files/inbox", Project: "inbox", Kind: forge.FileTask, Number: n}
	}
	number := h.open("Title", "Body", "ann", "todo")
	comments := 0
	return &suite.Stage{
		URL: h.dir, Project: "inbox", Key: key(number), Web: h.path(number), Clone: filepath.Dir(h.dir), Nobody: "operator",
		NewTask: func(title, body, author string, labels ...string) forge.TaskKey {
			return key(h.open(title, body, author, labels...))
		},
		Close: func(k forge.TaskKey) {
			h.save(h.path(k.Number), strings.Replace(h.read(h.path(k.Number)), "---\n", "---\nstate: closed\n", 1))
		},
		Comment: func(author, body string) string {
			if author == "" {
				author = "operator"
			}
			h.change(func(text string) string {
				for _, word := range strings.Fields(text) { // of the agent's comments, too
					if n, err := strconv.Atoi(strings.TrimPrefix(word, "#")); err == nil && strings.HasPrefix(word, "#") {
						comments = max(comments, n)
					}
				}
				comments++
				return text + "\n=== @" + author + " #" + strconv.Itoa(comments) + " " + clock().UTC().Format(time.RFC3339) + "\n" + body + "\n"
			})
			return strconv.Itoa(comments)
		},
		Edit: func(id, body string) {
			h.change(func(text string) string {
				before, it, after := section1(text, id)
				line, _, _ := strings.Cut(it, "\n")
				return before + line + " edited " + clock().UTC().Format(time.RFC3339) + "\n" + body + "\n" + after
			})
		},
		Delete: func(id string) {
			h.change(func(text string) string { before, _, after := section1(text, id); return before + after })
		},
		Stored: func() (bodies []string) {
			d, err := parse([]byte(h.read(h.path(number))))
			if err != nil {
				h.t.Fatal(err)
			}
			for _, s := range d.sections {
				bodies = append(bodies, s.body)
			}
			return bodies
		},
		Labels: func() []string {
			d, err := parse([]byte(h.read(h.path(number))))
			if err != nil {
				h.t.Fatal(err)
			}
			return d.head.Labels
		},
		Label: func(name string) { h.relabel(func(all []string) []string { return append(all, name) }) },
		Unlabel: func(name string) {
			h.relabel(func(all []string) []string {
				return slices.DeleteFunc(all, func(l string) bool { return l == name })
			})
		},
		CloseMade: func(int) {
			h.change(func(text string) string {
				d, err := parse([]byte(text))
				if err == nil {
					err = d.setChanges(nil)
				}
				if err != nil {
					h.t.Fatal(err)
				}
				return string(d.bytes())
			})
		},
		SetClock: func(now func() time.Time) { clock = now },
	}
}
